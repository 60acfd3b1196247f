/**
 * What autoscaling is trained, tried and judged on in simulation: one ⟨application, environment⟩ pair with its load and its SLO.
 * Owns: drawing scenes from a seed, before any controller is tried; the limits that all controllers keep.
 * Not here: the worlds (sim), who drives them, running and scoring (studies/aware).
 */
import type { Allocation, GuardLimits } from "../act/index.ts";
import type { Ms, WorkloadId } from "../base/index.ts";
import {
  bytes,
  mebibytes,
  millicores,
  milliseconds,
  parseWorkloadId,
  perSecond,
  seededRng,
  unwrap,
} from "../base/index.ts";
import type { AutoscaleOptions, AutoscaleTask, PodBounds } from "../control/tasks/pods/index.ts";
import { autoscaleTask, profileLimits } from "../control/tasks/pods/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";
import type { Application, ClusterWorld, Load, NodeSpec, ProcessorName } from "../sim/index.ts";
import {
  eventWorld,
  fluidWorld,
  generateLoad,
  isolatedLatency,
  meanRate,
  meanWork,
  processors,
  studyLoad,
  varyDays,
} from "../sim/index.ts";
import { applicationPool } from "./pools.ts";

export interface Scene {
  readonly workload: WorkloadId;
  readonly application: Application;
  readonly load: Load;
  readonly processor: ProcessorName;
  readonly slo: Slo;
  readonly initial: Allocation;
  /**
   * So many of the load's last days were before the world began: what an operator has seen and may tune on. Absent: the load
   * is a day, or a week, that comes again, and the past was as the future is.
   */
  readonly pastDays?: number;
}

export interface SceneChoice {
  readonly seed: number;
  /** Which of the seed's scenes: they differ in application, environment, load and kind of SLO. */
  readonly slot: number;
  /** Loads to draw from, at rates for studies; the generator's own where none are given. */
  readonly recorded?: Readonly<Record<Load["level"], readonly Load[]>>;
  /** This one; of those that nothing was trained on, any, where nothing is said. */
  readonly application?: Application;
  /**
   * "repeated": a recorded load is one day that comes again, and rules are tuned on it, as in the reproductions of the
   * paper. "varied": no day is like another, and rules are tuned on the week before. Default "repeated".
   */
  readonly days?: "repeated" | "varied";
}

const LOAD_DAYS = 7;
/** Of a varied load: two weeks to live in, and the week before them. */
const VARIED_DAYS = 21;
const PAST_DAYS = 7;
const processorNames = Object.keys(processors) as ProcessorName[];

export function drawScene({ seed, slot, recorded, application: given, days = "repeated" }: SceneChoice): Scene {
  const rng = seededRng(seed).fork("aware scene").fork(slot);
  const { unseen } = applicationPool("split");
  const application = given ?? (unseen[rng.fork("application").int(unseen.length)] as Application);
  const level = slot % 2 === 0 ? "high" : "low";
  const candidates = recorded?.[level] ?? [];
  const loadSeed = rng.fork("load").int(1 << 30);
  const drawn = candidates[loadSeed % Math.max(1, candidates.length)];
  const base = drawn ?? generateLoad({ seed: loadSeed, level, days: LOAD_DAYS });
  const isVaried = days === "varied";
  const load = studyLoad(isVaried ? varyDays(base, { seed: loadSeed, days: VARIED_DAYS }) : base, application);
  const processor = processorNames[rng.fork("processor").int(processorNames.length)] as ProcessorName;
  const parts = { name: `scene-${seed}-${slot}`, application, load, processor, isThroughput: slot % 4 === 3 };
  return isVaried ? { ...sceneOf(parts), pastDays: PAST_DAYS } : sceneOf(parts);
}

export interface SceneParts extends Pick<Scene, "application" | "load" | "processor"> {
  readonly name: string;
  readonly isThroughput: boolean;
}

/** What follows from the parts: the SLO and the allocation that somebody would have begun with. */
export function sceneOf({ name, application, load, processor, isThroughput }: SceneParts): Scene {
  return {
    workload: unwrap(parseWorkloadId(name)),
    application,
    load,
    processor,
    slo: sloOf(application, { load, processor, isThroughput }),
    initial: startOf(application, load),
  };
}

/** One scene in four is to serve four fifths of its mean load, or all of what is offered where that is less. */
function sloOf(
  application: Application,
  { load, processor, isThroughput }: { load: Load; processor: ProcessorName; isThroughput: boolean },
): Slo {
  if (isThroughput) return { kind: "throughput", target: perSecond(0.8 * meanRate(load)) };
  return latencySlo(application, processor);
}

/**
 * 1.2 × the p99 of an isolated pod, of one that is slower than 19 of 20 of its kind: a target that is met or missed by
 * the luck of where a pod was put would compare luck.
 */
export function latencySlo(application: Application, processor: ProcessorName): Slo & { readonly kind: "latency" } {
  const { speed, sigma } = processors[processor];
  const p99 = isolatedLatency(application, 0.99, { speed: speed * Math.exp(-1.645 * sigma) });
  return { kind: "latency", quantile: 0.99, target: milliseconds(1.2 * p99) };
}

export const bounds: PodBounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};

/** What a careful person would have asked for: a core per pod, twice the mean need, memory for a full pod. */
function startOf(application: Application, load: Load): Allocation {
  const cores = (meanRate(load) * meanWork(application).cpu) / 1_000;
  const { base, perRequest, cache } = application.memory;
  const memory = base + cache + perRequest * application.threads;
  return {
    replicas: Math.min(Math.max(Math.ceil(2 * cores), 2), bounds.replicas.max),
    cpu: millicores(1_000),
    memory: bytes(Math.min(Math.max(Math.ceil(memory), bounds.memory.min), bounds.memory.max)),
  };
}

/** Room for three times the largest deployment, on machines of one kind. */
export function nodesOf({ processor }: Pick<Scene, "processor">): readonly NodeSpec[] {
  return Array.from({ length: 9 }, (_, i) => ({
    name: `node-${i}`,
    cpu: millicores(16_000),
    memory: mebibytes(64 * 1_024),
    processor,
  }));
}

const DAY_MINUTES = 1_440;

/** The minutes that an operator knows before the world begins, and where they begin in the load. */
export function pastOf({ load, pastDays }: Pick<Scene, "load" | "pastDays">): {
  readonly perMinute: Float64Array;
  readonly from: number;
} {
  const from = pastDays === undefined ? 0 : load.perMinute.length - pastDays * DAY_MINUTES;
  return { perMinute: load.perMinute.subarray(from), from };
}

/** Worlds begin at midnight of the load's first day, so that every method meets the same hours. */
export const WORLD_START: Ms = milliseconds(0);

export interface WorldChoice {
  readonly seed: number;
  readonly rung: "event" | "fluid";
  readonly start?: Ms;
  readonly initial?: Allocation;
}

export function openWorld(scene: Scene, { seed, rung, start = WORLD_START, initial }: WorldChoice): ClusterWorld {
  const { workload: id, application, load, slo } = scene;
  const open = rung === "event" ? eventWorld : fluidWorld;
  return open({
    seed,
    start,
    nodes: nodesOf(scene),
    workloads: [{ id, application, load, slo, initial: initial ?? scene.initial, resize: "in-place" }],
  });
}

export function taskOf({ slo, load }: Scene, options: Partial<AutoscaleOptions> = {}): AutoscaleTask {
  return unwrap(autoscaleTask({ slo, bounds, usualLoad: perSecond(Math.max(0.1, meanRate(load))), ...options }));
}

/** The same for rules and learners, and the same as in production: what a profile without a `guard` section gets. */
export const guardLimits: GuardLimits = unwrap(profileLimits({ bounds }));
