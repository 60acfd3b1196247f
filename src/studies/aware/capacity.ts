/**
 * How much load pods of a size bear: measured in the simulator itself, which only the bound may ask.
 * Owns: the largest constant rate at which a number of pods keeps a scene's SLO, for sizes over the whole range; the size
 * that a rate needs. Not here: what is made of it (bound.ts).
 */
import type { Allocation } from "../../act/index.ts";
import type { Bytes, Millicores } from "../../base/index.ts";
import { millicores, milliseconds } from "../../base/index.ts";
import type { Scene, WorldChoice } from "../../pretraining/index.ts";
import { bounds, openWorld, WORLD_START } from "../../pretraining/index.ts";
import type { Load } from "../../sim/index.ts";
import { meanWork, processors } from "../../sim/index.ts";
import { isViolated } from "./drive.ts";

const MINUTE = 60_000;
const STEP = 15_000;
/** Per rate that is tried: the first minutes settle, the rest count. */
const SETTLE_MINUTES = 1;
const COUNT_MINUTES = 6;
/** Share of steps that may miss the SLO, which is none of these few; and of requests, where they are counted. */
const FORGIVEN = 0.02;
const SIZES: readonly number[] = [100, 150, 200, 300, 400, 600, 800, 1_000, 1_500, 2_000, 3_000, 4_000];
/** A rate is found to within this factor. */
const PRECISION = 1.08;
/** Below this share of what its CPU could do, a size is taken to bear nothing. */
const LEAST_SHARE = 0.03;

export interface CapacityOptions extends Pick<WorldChoice, "rung"> {
  /** Of the world in which the result is used: pods are as fast there as here. */
  readonly seed: number;
  readonly replicas: number;
  /** Higher rates are of no interest. */
  readonly mostRate: number;
  /** The highest that will come: working sets at higher rates are of no interest either. */
  readonly peakRate: number;
}

export interface CapacityTable {
  readonly replicas: number;
  /** By size, growing: the largest rate that is kept, 0 where none is. */
  readonly kept: readonly { readonly cpu: number; readonly rate: number }[];
  /** The largest working set of a pod that a sample showed while the SLO was kept, in bytes; 0 where it never was. */
  readonly workingSet: number;
}

export function measureCapacity(scene: Scene, options: CapacityOptions): CapacityTable {
  const { replicas, mostRate, peakRate } = options;
  const perRequest = meanWork(scene.application).cpu / processors[scene.processor].speed;
  const kept: { cpu: number; rate: number }[] = [];
  let workingSet = 0;
  let rate = 0;
  for (const cpu of SIZES) {
    const keeps = (tried: number): boolean => {
      const seen = tryRate(scene, { ...options, cpu: millicores(cpu), rate: tried });
      if (seen !== undefined && tried <= peakRate) workingSet = Math.max(workingSet, seen);
      return seen !== undefined;
    };
    // A larger pod bears no less than a smaller one, and none more than its CPU can do.
    rate = highest(keeps, { from: rate, to: Math.min(mostRate, (replicas * cpu) / perRequest) });
    kept.push({ cpu, rate });
    if (rate >= mostRate) break;
  }
  return { replicas, kept, workingSet };
}

/** The highest rate that is kept between one that is known to be and one that may be; 0 is always kept. */
function highest(
  keeps: (rate: number) => boolean,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  if (to <= from) return from;
  if (keeps(to)) return to;
  let low = from;
  if (low === 0) {
    if (!keeps(LEAST_SHARE * to)) return 0;
    low = LEAST_SHARE * to;
  }
  let high = to;
  while (high / low > PRECISION) {
    const middle = Math.sqrt(low * high);
    if (keeps(middle)) low = middle;
    else high = middle;
  }
  return low;
}

interface Tried extends CapacityOptions {
  readonly cpu: Millicores;
  readonly rate: number;
}

/** The largest working set that was seen where the SLO was kept; undefined where it was not. */
function tryRate(scene: Scene, { seed, rung, replicas, cpu, rate }: Tried): number | undefined {
  const { workload, slo } = scene;
  const load: Load = { ...scene.load, id: "constant", perMinute: Float64Array.of(rate) };
  const initial: Allocation = { replicas, cpu, memory: bounds.memory.max };
  const world = openWorld({ ...scene, load }, { seed, rung, initial });
  world.advance(milliseconds(WORLD_START + SETTLE_MINUTES * MINUTE));
  world.truth(workload);
  const steps = (COUNT_MINUTES * MINUTE) / STEP;
  let missed = 0;
  let arrived = 0;
  let completed = 0;
  let workingSet = 0;
  for (let step = 0; step < steps; step++) {
    world.advance(milliseconds(world.now + STEP));
    const truth = world.truth(workload);
    arrived += truth.arrived;
    completed += truth.completed;
    if (slo.kind === "latency" && isViolated(slo, truth)) missed += 1;
    if (missed > FORGIVEN * steps) return undefined;
    for (const { memory } of world.read(workload).pods) workingSet = Math.max(workingSet, memory ?? 0);
  }
  // Where less comes than is to be served, what is on its way at the end of a step counts as missed: so over all steps.
  const owed = slo.kind === "throughput" ? Math.min(slo.target * COUNT_MINUTES * 60, arrived) : 0;
  return completed >= (1 - FORGIVEN) * owed ? workingSet : undefined;
}

/** The smallest size that bears the rate, between measured ones in proportion; the largest where none does. */
export function cpuFor({ kept }: CapacityTable, rate: number): Millicores {
  if (rate <= 0) return bounds.cpu.min;
  let below: { readonly cpu: number; readonly rate: number } | undefined;
  for (const point of kept) {
    if (point.rate >= rate) {
      // A size that bears no rate at all says nothing about sizes between it and the next.
      if (below === undefined || below.rate === 0) return millicores(point.cpu);
      const part = (rate - below.rate) / (point.rate - below.rate);
      return millicores(Math.ceil(below.cpu + part * (point.cpu - below.cpu)));
    }
    below = point;
  }
  return millicores(kept.at(-1)?.cpu ?? bounds.cpu.max);
}

/** Over what samples showed: they are 15 s apart, and a burst is shorter. */
const MEMORY_MARGIN = 1.15;
const MEBIBYTE = 1_024 * 1_024;

export const memoryFor = (workingSet: number, times = 1): Bytes => {
  const wanted = Math.ceil((MEMORY_MARGIN * times * workingSet) / MEBIBYTE) * MEBIBYTE;
  return Math.min(Math.max(wanted, bounds.memory.min), bounds.memory.max) as Bytes;
};
