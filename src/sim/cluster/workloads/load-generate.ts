/**
 * Loads without a data set: a generator fitted to the recorded ones.
 * Owns: drawing which shape a load has, its mean and its burstiness. Not here: the shapes (load-shapes.ts), the fitted
 * numbers (load-calibration.ts), keeping a load within what a cluster serves (study-load.ts).
 */
import { type Rng, seededRng } from "../../../base/index.ts";
import { studyCapacity } from "./calibration.ts";
import { type Load, scaleLoad } from "./load.ts";
import { dispersionRange, type LoadShape, shapeShares } from "./load-calibration.ts";
import { drawShape, withinLog } from "./load-shapes.ts";

export interface GenerateLoadOptions {
  readonly seed: number;
  readonly level: Load["level"];
  /** Default 1. */
  readonly days?: number;
  /** Requests per second; default: drawn from the level's range for studies. */
  readonly mean?: number;
  /** Default: drawn as often as the recorded loads of this level have it. */
  readonly shape?: LoadShape;
}

/** As wild as the recorded loads are, silences and spikes of many times the mean included. */
export function generateLoad({ seed, level, days = 1, mean, shape }: GenerateLoadOptions): Load {
  const rng = seededRng(seed).fork("load").fork(level);
  const drawn = shape ?? oneOf(rng.fork("shape"), shapeShares[level]);
  const load: Load = {
    id: `${level}-${drawn}-${seed}`,
    level,
    perMinute: drawShape(drawn, rng.fork(drawn), { minutes: Math.round(days * 1_440), level }),
    dispersion: withinLog(rng.fork("dispersion"), dispersionRange),
  };
  return scaleLoad(load, mean ?? withinLog(rng.fork("mean"), studyCapacity[level]));
}

function oneOf(rng: Rng, shares: Readonly<Record<LoadShape, number>>): LoadShape {
  let left = rng.next() * Object.values(shares).reduce((sum, share) => sum + share, 0);
  for (const [shape, share] of Object.entries(shares) as [LoadShape, number][]) {
    left -= share;
    if (left < 0) return shape;
  }
  return "bursty";
}
