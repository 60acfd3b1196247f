/**
 * Loads without a data set: a generator fitted to the recorded ones.
 * Owns: drawing the minutes of a load. Not here: the fitted numbers and where they come from (load-calibration.ts).
 */
import { type Rng, seededRng } from "../../../base/index.ts";
import { studyCapacity } from "./calibration.ts";
import { type Load, scaleLoad } from "./load.ts";

export interface GenerateLoadOptions {
  readonly seed: number;
  readonly level: Load["level"];
  /** Default 1. */
  readonly days?: number;
  /** Requests per second; default: drawn from the level's range for studies. */
  readonly mean?: number;
}

export function generateLoad({ seed, level, days = 1, mean }: GenerateLoadOptions): Load {
  const rng = seededRng(seed).fork("load").fork(level);
  const shape = diurnal(rng, Math.round(days * 1_440));
  const { low, high } = studyCapacity[level];
  const rate = mean ?? low * (high / low) ** rng.fork("mean").next();
  const load: Load = {
    id: `${level}-${seed}`,
    level,
    perMinute: shape,
    dispersion: 1 + 2 * rng.fork("dispersion").next(),
  };
  return scaleLoad(load, rate);
}

function diurnal(rng: Rng, minutes: number): Float64Array {
  const amplitude = 0.2 + 0.6 * rng.next();
  const phase = 2 * Math.PI * rng.next();
  const perMinute = new Float64Array(minutes);
  let noise = 0;
  for (let minute = 0; minute < minutes; minute++) {
    noise = 0.9 * noise + 0.1 * rng.normal();
    perMinute[minute] = (1 + amplitude * Math.sin((2 * Math.PI * minute) / 1_440 + phase)) * Math.exp(noise);
  }
  return perMinute;
}
