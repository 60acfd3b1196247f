/**
 * What a workload needs to keep its SLO, learned from what was given and how near it came: a Bayesian capacity model.
 * Owns: the belief, learning from a step. Pure. Not here: asking it (points.ts), what was given in a step (conditions.ts),
 * which setting follows (sizing.ts).
 *
 * Strain (strain.ts) is flat while there is plenty of everything and rises once one of three things falls short. Each has a
 * knee, and beyond it a slope that is physics and not learned:
 *
 *   size   a request alone in a pod with fewer cores than it uses at once takes longer by that ratio:   slope 1
 *   free   cores of a pod that other requests leave over; fewer of them, and requests wait:             slope 0.9
 *   rate   requests per second and pod beyond what its threads take pile up, whatever its cores:        slope 3
 *
 *   strain = base + h(ln(size knee / size)) + 0.9 h(ln(free knee / free)) + 3 h(ln(rate / rate knee)) + noise
 *
 * with h(x) = 0 far below 0, x far above it and a parabola between: queues grow before all is in use.
 *
 * The belief is a weight for each triple of knees on a grid, and for each of them the base that fits what was measured, if
 * these were the knees. So all of them agree about what there is now, and differ in what more or less of it would do: a
 * belief cannot explain a lack away, and where it no longer knows whether more would help, some of it says so. The base
 * follows over hours and weights are moved by every change, so that changes tell knees apart. Nothing can be learned of a
 * knee from above it: the belief stays wide below what was tried, and its risk there is what keeps a controller from
 * jumping. The slopes were read off the event world (a grid of sizes and utilisations, four applications, one to three
 * pods): 0.9 to 1.0, 0.8 to 0.95, and a cliff.
 */
import type { Cells, Likelihood } from "./grid.ts";
import { freshCells, isWhole, kneesOf, leaningTo, OUTLIER, pointsAmong, weigh } from "./grid.ts";
import type { Conditions, Points } from "./points.ts";
import { strainAt, varianceAt } from "./points.ts";
import { MOST_STRAIN } from "./strain.ts";

/** Plain data: it is saved. A weight for each triple of knees, and the base that would fit. */
export interface Belief extends Cells {
  /** What a base rests on: one over its variance, the same for all. */
  readonly precision: number;
  /** Times the usual variance. */
  readonly noise: number;
  /** How much more steps were off lately than noise explains: a sum that noise keeps near 0. */
  readonly surprise: number;
  /** Steps that were learned from. */
  readonly steps: number;
}

export interface CapacityModel {
  readonly fresh: Belief;
  after(belief: Belief, strain: number, conditions: Conditions): Belief;
  pointsOf(belief: Belief): Points;
  /** The belief that also knows what workloads like this one needed. */
  leaning(belief: Belief, likelihood: Likelihood): Belief;
}

export interface CapacityModelOptions {
  /** Of a pod, millicores. */
  readonly cpu: { readonly min: number; readonly max: number };
  /** Share of what is known that is forgotten in a step. */
  readonly forgetting?: number;
}

/** Half is forgotten in eight hours of steps of 15 s. What contradicts the belief is learned much faster than that. */
const FORGETTING = 0.000_35;
/** Done once in so many steps, or it would be lost in rounding. */
const FORGETS_EVERY = 64;

/** Minutes overlap and what disturbs one disturbs the next: so many steps say about as much as one that stands alone. */
const OVERLAP = 6;
/** The grid learns from every second step, which counts twice: minutes that overlap by three quarters say nearly the same. */
const LEARNS_EVERY = 2;
/** Before anything was measured: four fifths of the target, give or take a tenth. It never rests on more than two hours. */
const BASE = { start: -0.22, deviation: 0.1, steps: 480 } as const;
/**
 * A change (a release, other nodes) is seen when steps are off by more than `beyond` deviations so often that the sum passes
 * `limit`, which noise seldom does. Bases then rest on ten minutes, and half of what weights say is forgotten.
 */
const CHANGE = { beyond: 1.5, limit: 12, steps: 40, forgotten: 0.5 } as const;
const NOISE_STEP = 0.01;
const NOISE_RANGE = { least: 0.15, most: 4 } as const;

export function capacityModel({ cpu, forgetting = FORGETTING }: CapacityModelOptions): CapacityModel {
  const knees = kneesOf(cpu);
  const fresh: Belief = {
    ...freshCells(BASE.start),
    precision: 1 / BASE.deviation ** 2,
    noise: 1,
    surprise: 0,
    steps: 0,
  };
  // The belief of a step is asked when it decides and again when the next one is learned.
  let asked: { readonly of: Belief; readonly points: Points } | undefined;

  function after(before: Belief, strain: number, conditions: Conditions): Belief {
    const belief = isWhole(before) ? before : fresh;
    const points = pointsOf(belief);
    const usual = varianceAt(points, conditions);
    const off = strain - strainAt(points, conditions);
    const isCounted = strain < MOST_STRAIN;
    const deviations = Math.abs(off) / Math.sqrt(belief.noise * usual);
    const piled = Math.max(0, belief.surprise + Math.min(deviations, OUTLIER) - CHANGE.beyond);
    // What has piled up in front of pods is no news of what they can do.
    const surprise = isCounted ? piled : belief.surprise;
    const isChanged = surprise > CHANGE.limit;
    const noise = isCounted ? noiseAfter(belief.noise, off ** 2 / usual) : belief.noise;
    const steps = belief.steps + 1;
    if (!isChanged && belief.steps % LEARNS_EVERY !== 0) {
      const { weights, bases, precision } = belief;
      return { weights, bases, precision, noise, surprise, steps };
    }
    const step = LEARNS_EVERY / (belief.noise * usual * OVERLAP);
    const known = isChanged ? Math.min(belief.precision, (CHANGE.steps / LEARNS_EVERY) * step) : belief.precision;
    const precision = Math.min(known + step, (BASE.steps / LEARNS_EVERY) * step);
    const forgets = belief.steps % FORGETS_EVERY === 0 ? 1 - (1 - forgetting) ** FORGETS_EVERY : 0;
    const { weights, bases } = weigh(knees, belief, {
      strain,
      conditions,
      variance: 1 / known + 1 / step,
      gain: isCounted ? step / precision : 0,
      forgotten: isChanged ? CHANGE.forgotten : forgets,
    });
    return { weights, bases, precision, noise, surprise: isChanged ? 0 : surprise, steps };
  }

  function pointsOf(belief: Belief): Points {
    if (asked?.of === belief) return asked.points;
    const known = isWhole(belief) ? belief : fresh;
    // Often only the noise has changed since.
    const isSame = asked !== undefined && asked.of.weights === belief.weights && asked.of.bases === belief.bases;
    const points = { each: isSame && asked ? asked.points.each : pointsAmong(knees, known), noise: known.noise };
    asked = { of: belief, points };
    return points;
  }

  const leaning = (belief: Belief, likelihood: Likelihood): Belief => ({
    ...belief,
    weights: leaningTo(knees, belief, likelihood),
  });

  return { fresh, after, pointsOf, leaning };
}

function noiseAfter(noise: number, squared: number): number {
  const moved = noise + NOISE_STEP * (Math.min(squared, OUTLIER ** 2) - noise);
  return Math.min(Math.max(moved, NOISE_RANGE.least), NOISE_RANGE.most);
}
