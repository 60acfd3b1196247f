/**
 * What is known of services from traces and telemetry at a moment.
 * Owns: who is shown every span and every trace (the windows, the localizer, triage), and learning from anomalies that
 * people let happen, whose culprits are known.
 * Not here: critical paths (observe/tracing), blame (control/localize), who needs help (control/tasks/mitigation),
 * documents (answers.ts).
 */
import type { Ms, WorkloadId } from "../../../base/index.ts";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../../../base/index.ts";
import type { Localizer, Suspect } from "../../../control/localize/index.ts";
import { Triage, type TriageStatus, type TriageView } from "../../../control/tasks/mitigation/index.ts";
import type { RequestReading, SpanColumns } from "../../../observe/telemetry/index.ts";
import { type CollectedTraces, defaultAssemblerLimits, PathWindows } from "../../../observe/tracing/index.ts";

/** Truth about the simulated application: who has an anomaly, of those that can be blamed for it. */
export interface InjectedTruth {
  /** Instances with an anomaly of their own. */
  readonly culprits: readonly string[];
  /** Nothing else is wrong, such as a node or the load, for which no instance is to blame. */
  readonly isWhole: boolean;
}

/** The simulated application, by the wall's clock. */
export interface Told {
  readonly view: TriageView;
  readonly truth: InjectedTruth;
}

/** Traces of others are complete so long after their requests; what is asked about now is known as of then. */
const BEHIND: Ms = milliseconds(defaultAssemblerLimits.settle + 1_500);
/** Five minutes of five seconds, which is all that the page shows; each with a bounded number of paths and instances. */
const WINDOWS = { most: 61, mostEntries: 200 } as const;
/** How far back the present reaches, and how often it is learned from. */
const WINDOW: Ms = seconds(10);

export interface KnowledgeOptions {
  readonly localizer: Localizer;
  /** The id of a service as a managed workload; the service's own name where nothing is said. */
  readonly idOf?: (service: string) => WorkloadId;
}

export class ServiceKnowledge {
  readonly windows = new PathWindows(WINDOWS);
  readonly triage: Triage;
  #localizer: Localizer;
  /** The truth of each second, for the moment that traces speak about. */
  #truths: { readonly at: number; readonly truth: InjectedTruth }[] = [];
  #learnedAt = Number.NEGATIVE_INFINITY;

  constructor({ localizer, idOf = (service) => unwrap(parseWorkloadId(service)) }: KnowledgeOptions) {
    this.#localizer = localizer;
    this.triage = new Triage({ localizer, idOf });
  }

  get localizer(): Localizer {
    return this.#localizer;
  }

  /** From now on another one is asked, which has learned more. */
  use(localizer: Localizer): void {
    this.#localizer = localizer;
    this.triage.use(localizer);
  }

  setSlos(slos: ReadonlyMap<string, Ms>): void {
    this.triage.setSlos(slos);
  }

  seeSpans(spans: SpanColumns, now: Ms): void {
    this.triage.see(spans, now);
  }

  seeTraces(traces: CollectedTraces, now: Ms): void {
    this.windows.observe(traces, now);
    this.#localizer.observe(traces);
  }

  /** Once a second. Of an application that is simulated here traces come at once; others are known later. */
  turn(now: Ms, told: Told | null): void {
    const { requests } = this.triage.turn(told?.view ?? nothingAt(milliseconds(now - BEHIND)));
    if (told === null) return;
    this.#truths = [...this.#truths.filter((one) => one.at > now - 2 * WINDOW), { at: now, truth: told.truth }];
    this.#learn(now, requests);
  }

  /** As of the last turn. */
  get status(): TriageStatus {
    return this.triage.status ?? { at: 0 as Ms, requests: [], broken: new Map() };
  }

  /** As of the last turn, likeliest first. */
  get suspects(): { readonly at: Ms; readonly list: readonly Suspect[] } {
    return this.triage.suspects;
  }

  /** How likely somebody of a service is to blame, and an instance by itself; by name. */
  blame(of: "services" | "instances"): ReadonlyMap<string, number> {
    const blame = new Map<string, number>();
    for (const { service, instance, score } of this.suspects.list) {
      const name = of === "services" ? service : instance;
      blame.set(name, Math.max(score, blame.get(name) ?? 0));
    }
    return blame;
  }

  /** From a window in which the truth stood still: the same anomalies from its beginning to its end, seen by requests. */
  #learn(at: Ms, requests: readonly RequestReading[]): void {
    if (at - this.#learnedAt < WINDOW) return;
    const during = this.#truths.filter((one) => one.at > at - WINDOW && one.at <= at);
    const [first] = during;
    if (first === undefined || first.at > at - WINDOW + 2_000) return;
    const isSteady = during.every(
      ({ truth }) => truth.isWhole && truth.culprits.join() === first.truth.culprits.join(),
    );
    if (!isSteady) return;
    // An anomaly that harms nobody makes nobody a culprit.
    const isHarmful = requests.some(({ p99, slo }) => p99 !== null && p99 > slo);
    if (isHarmful !== first.truth.culprits.length > 0) return;
    this.#localizer.learn({ culprits: first.truth.culprits }, at);
    this.#learnedAt = at;
  }
}

/** Where only spans tell of services. */
const nothingAt = (now: Ms): TriageView => ({
  now,
  readInstances: () => [],
  readRequests: () => [],
  readNodes: () => [],
  readService: (service) => {
    throw new RangeError(`nothing but spans tells of ${service}`);
  },
});
