/**
 * How long a call takes when nothing is in its way, and the SLO made of that.
 * Owns: SLOs, which are set once, before any controller is tried: the isolated 99th percentile and 15 % more (SIMPPO, 4).
 */
import type { Ms } from "../../base/index.ts";
import { milliseconds, seededRng } from "../../base/index.ts";
import { quantileOf } from "../cluster/metrics/select.ts";
import { overhead as usualOverhead } from "./calibration.ts";
import type { FunctionProfile } from "./functions.ts";
import { type Drawn, drawActivation, drawOptions } from "./work.ts";

/** Enough for a 99th percentile of a narrow lognormal to within a per cent. */
const CALLS = 4_000;
const SEED = 20_221_107;
const RELAXATION = 1.15;

/** Warm, with all the memory it is comfortable with, on the reference processor. */
export function isolatedQuantile(profile: FunctionProfile, quantile: number): Ms {
  const rng = seededRng(SEED);
  const options = drawOptions(profile, usualOverhead, "profile");
  const drawn: Drawn = { overhead: 0, io: 0, compute: 0, peak: 0 };
  const times = new Float64Array(CALLS);
  for (let i = 0; i < CALLS; i++) {
    drawActivation(options, rng.uint32() | 0, drawn);
    times[i] = drawn.overhead + drawn.io + drawn.compute;
  }
  return milliseconds(quantileOf(times, CALLS, quantile) as number);
}

/** Worlds are made anew for every episode, of the same few functions. */
const slos = new WeakMap<FunctionProfile, Ms>();

export function isolatedSlo(profile: FunctionProfile): Ms {
  const known = slos.get(profile);
  if (known !== undefined) return known;
  const slo = milliseconds(RELAXATION * isolatedQuantile(profile, 0.99));
  slos.set(profile, slo);
  return slo;
}
