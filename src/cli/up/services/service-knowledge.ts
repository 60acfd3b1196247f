/**
 * What is known of services from traces and telemetry at a moment.
 * Owns: who is shown every trace (the windows, the localizer), the moment that answers are about, and learning from
 * anomalies that people let happen, whose culprits are known.
 * Not here: critical paths (observe/tracing), blame (control/localize), documents (answers.ts).
 */
import type { Ms } from "../../../base/index.ts";
import { milliseconds, seconds } from "../../../base/index.ts";
import type { Localizer, Suspect } from "../../../control/localize/index.ts";
import type { InstanceReading, RequestReading } from "../../../observe/telemetry/index.ts";
import { type CollectedTraces, defaultAssemblerLimits, PathWindows } from "../../../observe/tracing/index.ts";

/** Truth about the simulated application: who has an anomaly, of those that can be blamed for it. */
export interface InjectedTruth {
  /** Instances with an anomaly of their own. */
  readonly culprits: readonly string[];
  /** Nothing else is wrong, such as a node or the load, for which no instance is to blame. */
  readonly isWhole: boolean;
}

export interface Told {
  readonly instances: readonly InstanceReading[];
  readonly requests: readonly RequestReading[];
  readonly truth: InjectedTruth;
}

/** Traces are complete so long after their requests; what is asked about now is known as of then. */
const BEHIND: Ms = milliseconds(defaultAssemblerLimits.settle + 1_500);
/** Five minutes of five seconds, which is all that the page shows; each with a bounded number of paths and instances. */
const WINDOWS = { most: 61, mostEntries: 200 } as const;
/** How far back the present reaches, and how often it is learned from. */
const WINDOW: Ms = seconds(10);

export class ServiceKnowledge {
  readonly windows = new PathWindows(WINDOWS);
  #localizer: Localizer;
  /** The truth of each second, for the moment that traces speak about. */
  #truths: { readonly at: number; readonly truth: InjectedTruth }[] = [];
  #learnedAt = Number.NEGATIVE_INFINITY;
  #suspects: { readonly at: Ms; readonly list: readonly Suspect[] } = { at: 0 as Ms, list: [] };

  constructor(localizer: Localizer) {
    this.#localizer = localizer;
  }

  get localizer(): Localizer {
    return this.#localizer;
  }

  /** From now on another one is asked, which has learned more. */
  use(localizer: Localizer): void {
    this.#localizer = localizer;
  }

  seeTraces(traces: CollectedTraces, now: Ms): void {
    this.windows.observe(traces, now);
    this.#localizer.observe(traces);
  }

  /** Once a second or so. */
  turn(now: Ms, told: Told | null): void {
    const at = milliseconds(now - BEHIND);
    if (told !== null) {
      this.#localizer.read(told);
      this.#truths = [...this.#truths.filter((one) => one.at > at - 2 * WINDOW), { at: now, truth: told.truth }];
      this.#learn(at, told.requests);
    }
    this.#suspects = { at, list: this.#localizer.suspects(at) };
  }

  /** As of the last turn, likeliest first. */
  get suspects(): { readonly at: Ms; readonly list: readonly Suspect[] } {
    return this.#suspects;
  }

  /** How likely somebody of a service is to blame, and an instance by itself; by name. */
  blame(of: "services" | "instances"): ReadonlyMap<string, number> {
    const blame = new Map<string, number>();
    for (const { service, instance, score } of this.#suspects.list) {
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
