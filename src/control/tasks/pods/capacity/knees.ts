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
import type { Conditions, Points } from "./points.ts";
import { bend, logFree, logRate, logSize, SLOPE, strainAt, varianceAt } from "./points.ts";
import { MOST_STRAIN } from "./strain.ts";

/** Plain data: it is saved. */
export interface Belief {
  /** Logarithms in hundredths, the largest 0; by size, then free, then rate. */
  readonly weights: readonly number[];
  /** Strain where there is plenty, for each of them, in hundred-thousandths. */
  readonly bases: readonly number[];
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
}

export interface CapacityModelOptions {
  /** Of a pod, millicores. */
  readonly cpu: { readonly min: number; readonly max: number };
  /** Share of what is known that is forgotten in a step. */
  readonly forgetting?: number;
}

const GRID = { size: 11, free: 8, rate: 10 } as const;
/** Half is forgotten in eight hours of steps of 15 s. What contradicts the belief is learned much faster than that. */
const FORGETTING = 0.000_35;
/** Done once in so many steps, or it would be lost in rounding. */
const FORGETS_EVERY = 64;
/** A limit of threads that binds is seldom: one in eight, all together. */
const LIMITED = -4.3;
const FREE_LEAST = 60;
const RATES = { least: 3, most: 150 } as const;
const POINTS = 32;
/** Nothing is so unlikely that a few steps that say otherwise could not bring it back. */
const LEAST_WEIGHT = -15;
/** Weights and bases are kept as whole numbers of so many to one: a saved belief is a third as long. */
const PER_ONE = { weight: 100, base: 100_000 } as const;
const MOST_UNLIKELY = LEAST_WEIGHT * PER_ONE.weight;
/** How likely a weight is, by its negative. */
const LIKELIHOODS = Float64Array.from({ length: 1 - MOST_UNLIKELY }, (_, i) =>
  i === -MOST_UNLIKELY ? 0 : Math.exp(-i / PER_ONE.weight),
);

/** Minutes overlap and what disturbs one disturbs the next: so many steps say about as much as one that stands alone. */
const OVERLAP = 6;
/** The grid learns from every second step, which counts twice: minutes that overlap by three quarters say nearly the same. */
const LEARNS_EVERY = 2;
/** One step more than this many deviations off says no more than one just as far: it was something else. */
const OUTLIER = 3;
/** Before anything was measured: four fifths of the target, give or take a tenth. It never rests on more than two hours. */
const BASE = { start: -0.22, deviation: 0.1, steps: 480 } as const;
/**
 * A change (a release, other nodes) is seen when steps are off by more than `beyond` deviations so often that the sum passes
 * `limit`, which noise seldom does. Bases then rest on ten minutes, and half of what weights say is forgotten.
 */
const CHANGE = { beyond: 1.5, limit: 12, steps: 40, forgotten: 0.5 } as const;
const NOISE_STEP = 0.01;
const NOISE_RANGE = { least: 0.15, most: 4 } as const;
const grid = (least: number, most: number, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, i) => Math.log(least * (most / least) ** (i / (count - 1))));

export function capacityModel({ cpu, forgetting = FORGETTING }: CapacityModelOptions): CapacityModel {
  const sizes = grid(Math.max(cpu.min, 1), Math.max(cpu.max, 2), GRID.size);
  const frees = grid(FREE_LEAST, Math.max(0.75 * cpu.max, 2 * FREE_LEAST), GRID.free);
  // The last is no limit at all.
  const rates = Float64Array.of(...grid(RATES.least, RATES.most, GRID.rate), Number.POSITIVE_INFINITY);
  const cells = sizes.length * frees.length * rates.length;
  const prior = Float64Array.from({ length: cells }, (_, i) => ((i + 1) % rates.length === 0 ? 0 : LIMITED));
  const fresh: Belief = {
    weights: Array.from(prior, (weight) => Math.round(weight * PER_ONE.weight) | 0),
    bases: new Array<number>(cells).fill(Math.round(BASE.start * PER_ONE.base)),
    precision: 1 / BASE.deviation ** 2,
    noise: 1,
    surprise: 0,
    steps: 0,
  };
  // Room to work in, so that a step allocates nothing but its result.
  const byFree = new Float64Array(frees.length);
  const byRate = new Float64Array(rates.length);
  const learned = new Float64Array(cells);
  /** By row of rates: where a row begins that is the same in all, −1 where there is none. */
  const twins = new Int32Array(sizes.length * frees.length);
  /** Cells that are not ruled out, how likely each is, how many there are. */
  const places = new Int32Array(cells);
  const likely = new Float64Array(cells);
  // The belief of a step is asked when it decides and again when the next one is learned.
  let asked: { readonly of: Belief; readonly points: Points } | undefined;

  function after(before: Belief, strain: number, conditions: Conditions): Belief {
    const belief = before.weights.length === cells ? before : fresh;
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
    const { weights, bases } = weigh(belief, {
      strain,
      conditions,
      variance: 1 / known + 1 / step,
      gain: isCounted ? step / precision : 0,
      forgotten: isChanged ? CHANGE.forgotten : forgets,
    });
    return { weights, bases, precision, noise, surprise: isChanged ? 0 : surprise, steps };
  }

  interface Weighing {
    readonly strain: number;
    readonly conditions: Conditions;
    /** Of what a point expects. */
    readonly variance: number;
    /** How much of an error goes into a base, and how much of a weight is forgotten. */
    readonly gain: number;
    readonly forgotten: number;
  }

  /**
   * Knees far from what was ever given are told apart by nothing: their cells stay the same, and most of the grid is such
   * cells. So a cell, or a row of them, that is the same as the one before in all is copied.
   */
  function weigh(belief: Belief, { strain, conditions, variance, gain, forgotten }: Weighing) {
    const [size, free, rate] = [logSize(conditions), logFree(conditions), logRate(conditions)];
    for (let i = 0; i < frees.length; i++) byFree[i] = SLOPE.free * bend((frees[i] as number) - free);
    for (let i = 0; i < rates.length; i++) byRate[i] = SLOPE.rate * bend(rate - (rates[i] as number));
    const farthest = OUTLIER * Math.sqrt(variance);
    const precision = 0.5 / variance;
    // A copy of whole numbers, so that the engine keeps both as such.
    const bases = belief.bases.slice();
    const block = byFree.length * byRate.length;
    let largest = Number.NEGATIVE_INFINITY;
    let ofSizeBefore = Number.NaN;
    let cell = 0;
    let row = 0;
    for (let i = 0; i < sizes.length; i++) {
      const ofSize = SLOPE.size * bend((sizes[i] as number) - size);
      for (let j = 0; j < byFree.length; j++) {
        const twin =
          j > 0 && byFree[j] === byFree[j - 1] && isSameRow(belief, cell, cell - byRate.length)
            ? cell - byRate.length
            : ofSize === ofSizeBefore && isSameRow(belief, cell, cell - block)
              ? cell - block
              : -1;
        twins[row++] = twin;
        if (twin >= 0) {
          for (let k = 0; k < byRate.length; k++) bases[cell + k] = bases[twin + k] as number;
          cell += byRate.length;
          continue;
        }
        const ofBoth = ofSize + (byFree[j] as number);
        for (let k = 0; k < byRate.length; k++, cell++) {
          const was = belief.bases[cell] as number;
          const weighed = belief.weights[cell] as number;
          if (
            k > 0 &&
            byRate[k] === byRate[k - 1] &&
            was === belief.bases[cell - 1] &&
            weighed === belief.weights[cell - 1] &&
            prior[cell] === prior[cell - 1]
          ) {
            learned[cell] = learned[cell - 1] as number;
            bases[cell] = bases[cell - 1] as number;
            continue;
          }
          const base = was / PER_ONE.base;
          const expected = base + ofBoth + (byRate[k] as number);
          // What piled up is only known to be much.
          const error = strain - (expected < MOST_STRAIN ? expected : MOST_STRAIN);
          const counted = error > farthest ? farthest : error < -farthest ? -farthest : error;
          const weight = weighed / PER_ONE.weight - precision * counted * counted;
          const kept = weight + forgotten * ((prior[cell] as number) - weight);
          learned[cell] = kept;
          if (kept > largest) largest = kept;
          bases[cell] = Math.round((base + gain * counted) * PER_ONE.base) | 0;
        }
      }
      ofSizeBefore = ofSize;
    }
    return { weights: weightsBelow(largest, belief), bases };
  }

  function isSameRow({ weights, bases }: Belief, one: number, other: number): boolean {
    for (let k = 0; k < byRate.length; k++)
      if (weights[one + k] !== weights[other + k] || bases[one + k] !== bases[other + k]) return false;
    return true;
  }

  function weightsBelow(largest: number, belief: Belief): readonly number[] {
    const weights = belief.weights.slice();
    let cell = 0;
    for (let row = 0; row < twins.length; row++) {
      const twin = twins[row] as number;
      for (let k = 0; k < byRate.length; k++, cell++) {
        if (twin >= 0) weights[cell] = weights[twin + k] as number;
        else if (k > 0 && learned[cell] === learned[cell - 1]) weights[cell] = weights[cell - 1] as number;
        else
          weights[cell] = Math.round(Math.max((learned[cell] as number) - largest, LEAST_WEIGHT) * PER_ONE.weight) | 0;
      }
    }
    return weights;
  }

  /** Systematic sampling in the grid's order: no chance is needed, and equal beliefs give equal points. */
  function pointsOf(belief: Belief): Points {
    if (asked?.of === belief) return asked.points;
    // Only the noise has changed since.
    if (asked !== undefined && asked.of.weights === belief.weights && asked.of.bases === belief.bases) {
      const points = { each: asked.points.each, noise: belief.noise };
      asked = { of: belief, points };
      return points;
    }
    const { weights, bases, noise } = belief.weights.length === cells ? belief : fresh;
    let all = 0;
    let count = 0;
    for (let i = 0; i < cells; i++) {
      const one = LIKELIHOODS[0 - (weights[i] as number)] as number;
      if (one === 0) continue;
      places[count] = i;
      likely[count++] = one;
      all += one;
    }
    const each: number[] = [];
    const share = all / POINTS;
    let sum = 0;
    let next = 0.5 * share;
    let taken = 0;
    for (let n = 0; n < count && taken < POINTS; n++) {
      sum += likely[n] as number;
      if (sum <= next) continue;
      const before = taken;
      for (; taken < POINTS && sum > next; taken++) next += share;
      const cell = places[n] as number;
      const pair = Math.floor(cell / rates.length);
      each.push(
        sizes[Math.floor(pair / frees.length)] as number,
        frees[pair % frees.length] as number,
        rates[cell % rates.length] as number,
        (bases[cell] as number) / PER_ONE.base,
        (taken - before) / POINTS,
      );
    }
    const points = { each, noise };
    asked = { of: belief, points };
    return points;
  }

  return { fresh, after, pointsOf };
}

function noiseAfter(noise: number, squared: number): number {
  const moved = noise + NOISE_STEP * (Math.min(squared, OUTLIER ** 2) - noise);
  return Math.min(Math.max(moved, NOISE_RANGE.least), NOISE_RANGE.most);
}
