/**
 * What one activation has to do, and what its container's memory makes of it.
 * Owns: draws that depend on the activation only, never on what else happens; the memory limit's effect.
 * Not here: how long it takes beside others (contention.ts).
 */
import { normalFrom, PURPOSE, sigmaOf, uniform, type WorkSpread, workFactor } from "../draws.ts";
import { memoryPressure } from "./calibration.ts";
import type { FunctionProfile } from "./functions.ts";

export interface DrawOptions {
  readonly profile: FunctionProfile;
  readonly spread: WorkSpread;
  /** Mean on the platform's way, ms; sigmas of the lognormals of work and way. */
  readonly way: number;
  readonly workSigma: number;
  readonly waySigma: number;
}

export const drawOptions = (
  profile: FunctionProfile,
  overhead: { readonly mean: number; readonly variation: number },
  spread: WorkSpread,
): DrawOptions => ({
  profile,
  spread,
  way: overhead.mean,
  workSigma: sigmaOf(profile.variation),
  waySigma: sigmaOf(overhead.variation),
});

export interface Drawn {
  /** ms: on the platform's way, on input and output, on a core of the reference processor. */
  overhead: number;
  io: number;
  compute: number;
  /** MiB at its peak. */
  peak: number;
}

/** Numbers of the draws of one activation, as draws.ts has them for calls. */
const WORK = 0;
const WAY = 1;
const MEMORY = 2;
const KILL = 3;

export function drawActivation(
  { profile, spread, way, workSigma, waySigma }: DrawOptions,
  seed: number,
  into: Drawn,
): void {
  const factor = workFactor({ seed, call: WORK, sigma: workSigma }, spread);
  into.io = profile.io.time * factor;
  into.compute = profile.compute.time * factor;
  into.overhead = way > 0 ? way * workFactor({ seed, call: WAY, sigma: waySigma }, "profile") : 0;
  const normal = normalFrom(uniform(seed, MEMORY, PURPOSE.workA), uniform(seed, MEMORY, PURPOSE.workB));
  into.peak = profile.memory.peak * Math.max(0, 1 + memoryPressure.spread * normal);
}

/** How much more work a limit makes: 1 with all that is comfortable, the most at the usual peak and below. */
export function pressureOf({ memory: { peak, comfortable } }: FunctionProfile, limit: number): number {
  if (limit >= comfortable) return 1;
  const short = limit <= peak ? 1 : (comfortable - limit) / (comfortable - peak);
  return 1 + (memoryPressure.most - 1) * short;
}

/** Of the work of an activation that is killed, how much is done before. */
export const doneBeforeKill = (seed: number): number => 0.2 + 0.8 * uniform(seed, KILL, PURPOSE.chance);
