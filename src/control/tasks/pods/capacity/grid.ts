/**
 * The grid of knees that a belief is about, and how likely each of them is.
 * Owns: learning a strain cell by cell, picking a few points. Pure: what it works in is empty between two calls.
 * Not here: what is learned from a step and how fast (knees.ts), the formula (points.ts).
 *
 * The slowest part of a decision, so it is written for the machine: functions and room to work in are the module's own and not a
 * model's, whole numbers stay whole, and what is the same is not computed twice.
 */
import type { Conditions } from "./points.ts";
import { bend, logFree, logRate, logSize, SLOPE } from "./points.ts";
import { MOST_STRAIN } from "./strain.ts";

/** The knees of one model, as logarithms. Those of rates are the same for all. */
export interface Knees {
  readonly sizes: Float64Array;
  readonly frees: Float64Array;
}

/** Plain data, by size, then free, then rate. */
export interface Cells {
  /** Logarithms in hundredths, the largest 0. */
  readonly weights: readonly number[];
  /** Strain where there is plenty, in hundred-thousandths. */
  readonly bases: readonly number[];
}

const GRID = { size: 11, free: 8, rate: 10 } as const;
const FREE_LEAST = 60;
const RATES = { least: 3, most: 150 } as const;
/** A limit of threads that binds is seldom: one in eight, all together. */
const LIMITED = -4.3;
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
/** One step more than this many deviations off says no more than one just as far: it was something else. */
export const OUTLIER = 3;

const grid = (least: number, most: number, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, i) => Math.log(least * (most / least) ** (i / (count - 1))));

// The last is no limit at all.
const rates = Float64Array.of(...grid(RATES.least, RATES.most, GRID.rate), Number.POSITIVE_INFINITY);
const ROW = rates.length;
const BLOCK = GRID.free * ROW;
const CELLS = GRID.size * BLOCK;
const prior = Float64Array.from({ length: CELLS }, (_, i) => ((i + 1) % ROW === 0 ? 0 : LIMITED));

const byFree = new Float64Array(GRID.free);
const byRate = new Float64Array(ROW);
const learned = new Float64Array(CELLS);
/** By row of rates: where a row begins that is the same in all, −1 where there is none. */
const twins = new Int32Array(CELLS / ROW);
/** Cells that are not ruled out, and how likely each is. */
const places = new Int32Array(CELLS);
const likely = new Float64Array(CELLS);

export const kneesOf = (cpu: { readonly min: number; readonly max: number }): Knees => ({
  sizes: grid(Math.max(cpu.min, 1), Math.max(cpu.max, 2), GRID.size),
  frees: grid(FREE_LEAST, Math.max(0.75 * cpu.max, 2 * FREE_LEAST), GRID.free),
});

export const freshCells = (base: number): Cells => ({
  weights: Array.from(prior, (weight) => Math.round(weight * PER_ONE.weight) | 0),
  bases: Array.from(prior, () => Math.round(base * PER_ONE.base)),
});

/** How much likelier knees are than they were: a logarithm, to be added to a weight. */
export type Likelihood = (size: number, free: number, rate: number) => number;

/** Weights that lean towards what others needed. */
export function leaningTo({ sizes, frees }: Knees, { weights }: Cells, likelihood: Likelihood): number[] {
  const leant = weights.map((weight, cell) => {
    const size = sizes[Math.floor(cell / BLOCK)] as number;
    const free = frees[Math.floor((cell % BLOCK) / ROW)] as number;
    return weight / PER_ONE.weight + likelihood(size, free, rates[cell % ROW] as number);
  });
  const largest = leant.reduce((most, weight) => Math.max(most, weight), Number.NEGATIVE_INFINITY);
  return leant.map((weight) => Math.round(Math.max(weight - largest, LEAST_WEIGHT) * PER_ONE.weight) | 0);
}

/** Whether they are of this grid. */
export const isWhole = ({ weights, bases }: Cells): boolean => weights.length === CELLS && bases.length === CELLS;

export interface Weighing {
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
export function weigh(knees: Knees, cells: Cells, weighing: Weighing): Cells {
  const { strain, conditions, variance, gain, forgotten } = weighing;
  const size = logSize(conditions);
  const free = logFree(conditions);
  const rate = logRate(conditions);
  const { sizes, frees } = knees;
  for (let i = 0; i < GRID.free; i++) byFree[i] = SLOPE.free * bend((frees[i] as number) - free);
  for (let i = 0; i < ROW; i++) byRate[i] = SLOPE.rate * bend(rate - (rates[i] as number));
  const farthest = OUTLIER * Math.sqrt(variance);
  const precision = 0.5 / variance;
  const { weights: weighed, bases: were } = cells;
  // A copy of whole numbers, so that the engine keeps both as such.
  const bases = were.slice();
  let largest = Number.NEGATIVE_INFINITY;
  let ofSizeBefore = Number.NaN;
  for (let row = 0; row < twins.length; row++) {
    const first = row * ROW;
    const j = row % GRID.free;
    const ofSize = SLOPE.size * bend((sizes[(row / GRID.free) | 0] as number) - size);
    const isAsAbove = j > 0 && byFree[j] === byFree[j - 1] && isSameRow(cells, first, first - ROW);
    const isAsBefore = !isAsAbove && ofSize === ofSizeBefore && isSameRow(cells, first, first - BLOCK);
    if (j === GRID.free - 1) ofSizeBefore = ofSize;
    if (isAsAbove || isAsBefore) {
      const twin = isAsAbove ? first - ROW : first - BLOCK;
      twins[row] = twin;
      for (let k = 0; k < ROW; k++) bases[first + k] = bases[twin + k] as number;
      continue;
    }
    twins[row] = -1;
    const ofBoth = ofSize + (byFree[j] as number);
    let baseBefore = Number.NaN;
    let weightBefore = Number.NaN;
    let ofRateBefore = Number.NaN;
    let kept = 0;
    let next = 0;
    for (let k = 0; k < ROW; k++) {
      const cell = first + k;
      const was = were[cell] as number;
      const weight = weighed[cell] as number;
      const ofRate = byRate[k] as number;
      if (was !== baseBefore || weight !== weightBefore || ofRate !== ofRateBefore || k === ROW - 1) {
        const base = was / PER_ONE.base;
        const expected = base + ofBoth + ofRate;
        // What piled up is only known to be much.
        const error = strain - (expected < MOST_STRAIN ? expected : MOST_STRAIN);
        const counted = error > farthest ? farthest : error < -farthest ? -farthest : error;
        const now = weight / PER_ONE.weight - precision * counted * counted;
        kept = now + forgotten * ((prior[cell] as number) - now);
        if (kept > largest) largest = kept;
        next = Math.round((base + gain * counted) * PER_ONE.base) | 0;
        baseBefore = was;
        weightBefore = weight;
        ofRateBefore = ofRate;
      }
      learned[cell] = kept;
      bases[cell] = next;
    }
  }
  return { weights: weightsBelow(largest, weighed), bases };
}

function isSameRow({ weights, bases }: Cells, one: number, other: number): boolean {
  for (let k = 0; k < ROW; k++)
    if (weights[one + k] !== weights[other + k] || bases[one + k] !== bases[other + k]) return false;
  return true;
}

function weightsBelow(largest: number, before: readonly number[]): readonly number[] {
  const weights = before.slice();
  for (let row = 0; row < twins.length; row++) {
    const first = row * ROW;
    const twin = twins[row] as number;
    if (twin >= 0) {
      for (let k = 0; k < ROW; k++) weights[first + k] = weights[twin + k] as number;
      continue;
    }
    let last = Number.NaN;
    let weight = 0;
    for (let k = 0; k < ROW; k++) {
      const kept = learned[first + k] as number;
      if (kept !== last) {
        weight = Math.round(Math.max(kept - largest, LEAST_WEIGHT) * PER_ONE.weight) | 0;
        last = kept;
      }
      weights[first + k] = weight;
    }
  }
  return weights;
}

/** Systematic sampling in the grid's order: no chance is needed, and equal cells give equal points. */
export function pointsAmong({ sizes, frees }: Knees, { weights, bases }: Cells): readonly number[] {
  let all = 0;
  let count = 0;
  for (let i = 0; i < CELLS; i++) {
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
    const pair = Math.floor(cell / ROW);
    each.push(
      sizes[Math.floor(pair / GRID.free)] as number,
      frees[pair % GRID.free] as number,
      rates[cell % ROW] as number,
      (bases[cell] as number) / PER_ONE.base,
      (taken - before) / POINTS,
    );
  }
  return each;
}
