/**
 * A world, its traces and a localizer that watches: one anomaly, or several at once, and who is to blame for what.
 * Owns: the run and the ground truth. Not here: drawing anomalies (localization-cases.ts), the figures made of it
 * (localization-figures.ts).
 *
 * An injection into a container is to blame when it alone breaks an SLO. A load anomaly is done to no container; to blame
 * are those that it fills and that alone break an SLO then: in a world of the same seed with this anomaly only, where every
 * other container has its upper limits. Where an SLO is broken even if all have, every container that is full is to blame.
 */
import { faultLimits, type Injection, labelOf } from "../../act/faults/index.ts";
import { type Limits, type Ms, milliseconds, type Resource, seconds } from "../../base/index.ts";
import type { Localizer } from "../../control/localize/index.ts";
import { NameTable, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { TracingCoordinator } from "../../observe/tracing/index.ts";
import { breaksSlo, type MicroserviceWorld, type RequestTruth, runCampaign } from "../../sim/index.ts";
import { type SceneOptions, sceneWorld } from "./localization-cases.ts";

/** Before anything is injected: what is normal is learned. */
export const CALM: Ms = seconds(10);
/** What the localizers look back on. */
export const WINDOW: Ms = seconds(10);
/** From a root's end until its trace is taken as whole. */
export const SETTLE: Ms = seconds(1);
/** From this part of a limit on a container is full. */
const FULL = 0.8;
/** Long enough for a container that is too small to fall behind. */
const BRIEF: Ms = seconds(5);
/** Resources that flow; a cache is always full. */
const flowing: readonly Resource[] = ["cpu", "memory", "io", "network"];

export class LocalizationScene {
  readonly world: MicroserviceWorld;
  readonly #localizers: readonly Localizer[];
  readonly #names = new NameTable();
  readonly #coordinator = new TracingCoordinator(this.#names, { limits: { settle: SETTLE } });

  constructor(options: SceneOptions, localizers: readonly Localizer[]) {
    this.world = sceneWorld(options);
    this.#localizers = localizers;
    for (const localizer of localizers) localizer.forget();
  }

  /** Runs on with these injections, each guarded; whether an SLO was broken meanwhile. */
  run(injections: readonly Injection[], until: Ms): boolean {
    const sums = new Map<string, RequestTruth>();
    runCampaign({
      world: this.world,
      injections,
      until,
      limits: faultLimits,
      onStep: ({ requests }) => {
        this.#watch();
        for (const truth of requests) sums.set(truth.request, added(truth, sums.get(truth.request)));
      },
    });
    return [...sums.values()].some(breaksSlo);
  }

  /** All that was seen so far is normal. */
  settleNormal(): void {
    for (const localizer of this.#localizers) localizer.settleNormal();
  }

  #watch(): void {
    const { now } = this.world;
    this.#coordinator.admit(spanColumnsOf(this.world.takeSpans(), this.#names), now);
    const collected = this.#coordinator.collect(now);
    const telemetry = { instances: this.world.readInstances(), requests: this.world.readRequests() };
    for (const localizer of this.#localizers) {
      if (collected !== null) localizer.observe(collected);
      localizer.read(telemetry);
    }
    if (collected !== null) this.#coordinator.release(collected);
  }
}

const added = (truth: RequestTruth, before: RequestTruth | undefined): RequestTruth =>
  before === undefined
    ? truth
    : {
        ...truth,
        completed: before.completed + truth.completed,
        timedOut: before.timedOut + truth.timedOut,
        dropped: before.dropped + truth.dropped,
        late: before.late + truth.late,
      };

type SameWorld = Omit<SceneOptions, "sampling" | "isExact" | "limits">;

/** Instances that are to blame for what one injection does all by itself; none where it breaks nothing. */
export function culpritsOf(options: SameWorld, injection: Injection): readonly string[] {
  const { world, isBroken } = runAlone(options, { injection, span: WINDOW });
  const label = labelOf(injection, isBroken ? injection.intensity : null);
  if (!label.isCulprit) return [];
  return injection.target.on === "requests" ? filledBy(options, injection, world) : [label.target];
}

interface AloneOptions {
  readonly injection: Injection;
  readonly span: Ms;
  readonly limits?: Readonly<Record<string, Limits>>;
}

function runAlone(options: SameWorld, { injection, span, limits = {} }: AloneOptions) {
  const world = sceneWorld({ ...options, sampling: 0, isExact: true, limits });
  const start = seconds(1);
  world.advance(start);
  world.truth();
  world.inject({ ...injection, start, duration: seconds(60) });
  world.advance(milliseconds(start + span));
  return { world, isBroken: world.truth().requests.some(breaksSlo) };
}

function filledBy(options: SameWorld, injection: Injection, world: MicroserviceWorld): readonly string[] {
  const readings = world.readInstances();
  const full = readings.filter(({ use }) => use !== null && flowing.some((resource) => use[resource] >= FULL));
  const raised = Object.fromEntries(readings.map(({ service, upper }) => [service, upper]));
  const breaksWith = (limits: Readonly<Record<string, Limits>>): boolean =>
    runAlone(options, { injection, span: BRIEF, limits }).isBroken;
  const alone = breaksWith(raised)
    ? full
    : full.filter(({ service }) => {
        const { [service]: _, ...others } = raised;
        return breaksWith(others);
      });
  return alone.map(({ instance }) => instance);
}
