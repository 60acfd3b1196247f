/**
 * What the pods of a workload had and did while its strain was measured.
 * Owns: CPU per request, the most memory of a pod, what was given over the last minutes. Pure.
 * Not here: what follows from it (knees.ts, sizing.ts).
 */
import type { Ms } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { Conditions } from "./points.ts";

/** Plain data: it is saved. */
export interface ConditionsMemory {
  /** Millicores used, and requests answered per second: sums that fade. */
  readonly work: { readonly cpu: number; readonly requests: number };
  /** Bytes: the most that a pod used or was killed for, fading over days. */
  readonly memoryPeak: number;
  /** The newest steps, oldest first. */
  readonly given: readonly Given[];
}

interface Given {
  /** When it was looked at: this is what there had been since the step before. */
  readonly now: Ms;
  readonly size: number;
  readonly pods: number;
  /**
   * false where strain says little of what was given: a pod that has just become ready is slow, whatever it is given, and where
   * requests fail for want of it they are repeated, pile up and use CPU for nobody.
   */
  readonly isTelling: boolean;
  /** Requests per second up to `at`, which is earlier. */
  readonly at: Ms;
  readonly load: number | null;
}

export const noConditions: ConditionsMemory = Object.freeze({
  work: { cpu: 0, requests: 0 },
  memoryPeak: 0,
  given: [],
});

/** Half is forgotten in nine minutes: a release changes it at once. */
const WORK_FADES = 0.98;
/** Half in three days of steps of 15 s, as the demand of a policy's actions (demand.ts). */
const PEAK_FADES = 0.5 ** (1 / 17_280);
const AFTER_KILL = 1.2;
/** Fewer requests per second than this say too little about the CPU of one. */
const LEAST_REQUESTS = 0.2;
/** Of the requests that were answered. */
const MOST_FAILED = 0.03;
/** The minute of a percentile, and as long again until it is known. */
const KEPT = 150_000;
const STRAIN_WINDOW = 60_000;
/** Rates of this many milliseconds before they were measured. */
const RATE_WINDOW = 30_000;
/** A pod's first minute is slow: code is compiled, caches are empty. */
const WARM_AFTER = 60_000;
/** And so are the means that are measured until then and known later. */
const WORK_WARM_AFTER = 120_000;
/** A percentile does not see a part of its minute in which fewer than one in a hundred requests came: four parts, so 0.05. */
const SEEN = 0.05;
/** Millicore-seconds per request before any was measured. */
const UNKNOWN_WORK = 20;

export function conditionsAfter(memory: ConditionsMemory, reading: WorkloadReading, now: Ms): ConditionsMemory {
  let peak = PEAK_FADES * memory.memoryPeak;
  let used = 0;
  let measured = 0;
  let ready = 0;
  let size = 0;
  let isWarm = true;
  let isSteady = true;
  for (const pod of reading.pods) {
    if (pod.memory !== null && pod.memory > peak) peak = pod.memory;
    if (pod.readyAt === null) continue;
    ready += 1;
    if (pod.readyAt > now - WARM_AFTER) isWarm = false;
    if (pod.readyAt > now - WORK_WARM_AFTER) isSteady = false;
    size += pod.cpuLimit;
    if (pod.cpu === null) continue;
    used += pod.cpu;
    measured += 1;
  }
  for (const { memoryLimit } of reading.ooms) peak = Math.max(peak, AFTER_KILL * memoryLimit);
  const { completed, failed } = reading;
  const hasFailed = (failed ?? 0) > MOST_FAILED * (completed ?? 0);
  const work =
    isSteady && !hasFailed && measured > 0 && completed !== null && completed > LEAST_REQUESTS
      ? {
          // Pods whose sample is missing worked as hard as the others.
          cpu: WORK_FADES * memory.work.cpu + (used * ready) / measured,
          requests: WORK_FADES * memory.work.requests + completed,
        }
      : memory.work;
  const step: Given = {
    now,
    size: ready > 0 ? size / ready : reading.spec.cpu,
    pods: Math.max(1, ready),
    isTelling: isWarm && !hasFailed,
    at: reading.at,
    load: loadOf(reading),
  };
  const given: Given[] = [];
  // A clock that went back: what was kept is of other minutes.
  for (const one of memory.given) if (one.now > now - KEPT && one.now < now) given.push(one);
  given.push(step);
  return { work, memoryPeak: peak, given };
}

/** Of what was known of the CPU of a request, so much still counts after a change: about five steps. */
const AFTER_CHANGE = 0.1;

/** With what is known of the CPU of a request counting little, for it may be another by now. */
export function withWorkInDoubt(memory: ConditionsMemory): ConditionsMemory {
  const { cpu, requests } = memory.work;
  return { ...memory, work: { cpu: AFTER_CHANGE * cpu, requests: AFTER_CHANGE * requests } };
}

/** Requests per second; those who were refused or gave up ask again, and are not more requests. */
export function loadOf({ offered, completed, failed }: WorkloadReading): number | null {
  if (offered === null || failed === null || failed <= 0) return offered;
  return Math.max(completed ?? 0, offered - failed);
}

/** Millicore-seconds that a request takes. */
export const workPerRequest = ({ work }: ConditionsMemory): number =>
  work.requests > 0 ? work.cpu / work.requests : UNKNOWN_WORK;

/**
 * The worst that there was in the minute that a strain at this time is of, for the slowest hundredth of its requests came
 * from there; undefined where that is not known. A mean over a minute in which something changed would be of neither part.
 */
export function conditionsAt(memory: ConditionsMemory, at: Ms): Conditions | undefined {
  const { given } = memory;
  const work = workPerRequest(memory);
  let mostLoad = 0;
  let loads = 0;
  let steps = 0;
  for (const one of given) {
    if (one.at <= at - STRAIN_WINDOW || one.at > at || one.load === null) continue;
    mostLoad = Math.max(mostLoad, one.load);
    loads += one.load;
    steps += 1;
  }
  if (steps === 0 || mostLoad === 0) return undefined;
  let size = Number.POSITIVE_INFINITY;
  let free = Number.POSITIVE_INFINITY;
  let rate = 0;
  for (const one of given) {
    if (one.now <= at - STRAIN_WINDOW || one.now > at) continue;
    const load = loadWhile(given, one.now);
    if (load === null || load < SEEN * mostLoad) continue;
    if (!one.isTelling) return undefined;
    size = Math.min(size, one.size);
    free = Math.min(free, one.size - (load * work) / one.pods);
    rate = Math.max(rate, load / one.pods);
  }
  return size < Number.POSITIVE_INFINITY ? { size, free, rate, load: loads / steps } : undefined;
}

/** The smallest that pods were in the minute up to then. */
export function leastSizeAt({ given }: ConditionsMemory, at: Ms): number | undefined {
  let least: number | undefined;
  for (const { now, size } of given) if (now > at - STRAIN_WINDOW && now <= at) least = Math.min(least ?? size, size);
  return least;
}

/** The most load of the step that ended then, of what was measured while it lasted and just after: a mean over its edge is less. */
function loadWhile(given: readonly Given[], now: Ms): number | null {
  let most: number | null = null;
  for (const one of given)
    if (one.load !== null && one.at >= now && one.at < now + RATE_WINDOW) most = Math.max(most ?? 0, one.load);
  return most;
}

export function conditionsOf(given: {
  readonly size: number;
  readonly pods: number;
  readonly load: number;
  readonly work: number;
}): Conditions {
  const { size, pods, load, work } = given;
  return { size, free: size - (load * work) / pods, rate: load / pods, load };
}
