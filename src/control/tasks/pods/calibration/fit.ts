/**
 * The knees, base, noise and bursts that explain a workload's minutes best.
 * Owns: the fit. Pure. Not here: which minutes are told, and how wrong it is about others (calibrate.ts), the formula (capacity/points.ts).
 */
import type { Bursts } from "../capacity/bursts.ts";
import { burstsAfter, noBursts } from "../capacity/bursts.ts";
import type { Conditions, Points } from "../capacity/points.ts";
import { bend, kneeOf, logFree, logRate, logSize, SLOPE, strainAt, varianceAt } from "../capacity/points.ts";
import { MOST_STRAIN } from "../capacity/strain.ts";
import type { CalibratedModel } from "./model.ts";
import { pointOf } from "./model.ts";

/** A minute that says something of what its requests need. */
export interface Told {
  readonly conditions: Conditions;
  readonly strain: number;
  /** Millicore-seconds of a request. */
  readonly work: number;
}

const SIZES = 15;
const FREES = 13;
const RATES = { least: 3, most: 150, count: 11 } as const;
const FREE_LEAST = 40;
const HALVINGS = 3;
/** Of deviations: further off it was something else. */
const OUTLIER = 3;
const MOST_NOISE = 6;

export const median = (values: readonly number[]): number => {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? Number.NaN : (sorted[sorted.length >> 1] as number);
};

export type Fit = Omit<CalibratedModel, "allowed" | "memory" | "error">;

interface Range {
  readonly min: number;
  readonly max: number;
}

interface Knees {
  readonly width: number;
  readonly free: number;
  readonly rate: number;
}

const spread = (least: number, most: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => least * (most / least) ** (i / (count - 1)));

/** The knees of a coarse grid that fit best, then finer and finer ones around them. */
export function fitModel(told: readonly Told[], cpu: Range): Fit {
  const asked = told.map(({ conditions }) => ({
    size: logSize(conditions),
    free: logFree(conditions),
    rate: logRate(conditions),
  }));
  const strains = Float64Array.from(told, ({ strain }) => strain);
  // Percentiles of few requests vary more; a point with plenty of everything says by how much.
  const plenty = pointOf({ base: 0, width: 1e-9, free: 1e-9, rate: null, noise: 1 });
  const weights = Float64Array.from(told, ({ conditions }) => 1 / varianceAt(plenty, conditions));
  const column = (of: (one: (typeof asked)[number]) => number): Float64Array => Float64Array.from(asked, of);
  const bySize = (width: number) => column(({ size }) => SLOPE.size * bend(Math.log(width) - size));
  const byFree = (free: number) => column((one) => SLOPE.free * bend(Math.log(free) - one.free));
  const byRate = (rate: number) => column((one) => SLOPE.rate * bend(one.rate - Math.log(rate)));
  let best = { knees: { width: cpu.min, free: FREE_LEAST, rate: Number.POSITIVE_INFINITY } as Knees, ...worst };
  const room = new Float64Array(told.length);
  const tryAll = (widths: readonly number[], frees: readonly number[], rates: readonly number[]): void => {
    const [ofSize, ofFree, ofRate] = [widths.map(bySize), frees.map(byFree), rates.map(byRate)];
    for (let i = 0; i < widths.length; i++)
      for (let j = 0; j < frees.length; j++)
        for (let k = 0; k < rates.length; k++) {
          const columns = [ofSize[i], ofFree[j], ofRate[k]] as Float64Array[];
          const knees = { width: widths[i], free: frees[j], rate: rates[k] } as Knees;
          const tried = lossOf(columns, { strains, weights, room });
          // A limit of threads that binds is seldom: one that explains hardly more is none.
          const loss = tried.loss * (knees.rate === Number.POSITIVE_INFINITY ? 1 : LIMIT);
          if (loss < best.loss) best = { knees, loss, base: tried.base };
        }
  };
  const mostFree = Math.max(0.75 * cpu.max, 2 * FREE_LEAST);
  tryAll(spread(cpu.min, cpu.max, SIZES), spread(FREE_LEAST, mostFree, FREES), [
    ...spread(RATES.least, RATES.most, RATES.count),
    Number.POSITIVE_INFINITY,
  ]);
  let steps = {
    width: (cpu.max / cpu.min) ** (1 / (SIZES - 1)),
    free: (mostFree / FREE_LEAST) ** (1 / (FREES - 1)),
    rate: (RATES.most / RATES.least) ** (1 / (RATES.count - 1)),
  };
  for (let i = 0; i < HALVINGS; i++) {
    steps = { width: Math.sqrt(steps.width), free: Math.sqrt(steps.free), rate: Math.sqrt(steps.rate) };
    const { width, free, rate } = best.knees;
    const around = (value: number, step: number): number[] => [value / step, value, value * step];
    const rates = rate === Number.POSITIVE_INFINITY ? [rate] : around(rate, steps.rate);
    tryAll(around(width, steps.width), around(free, steps.free), rates);
  }
  const noiseAt = ({ width, free, rate }: Knees, base: number): number =>
    noiseOf(pointOf({ base, width, free, rate: orNone(rate), noise: 1 }), told);
  const limit = best.loss + UNDECIDED * noiseAt(best.knees, best.base);
  // Below what was tried nothing is known: of knees that fit about as well the highest ones are taken.
  for (const name of ["width", "free"] as const)
    for (let next = raised(best.knees, name); next[name] <= cpu.max; next = raised(best.knees, name)) {
      const columns = [bySize(next.width), byFree(next.free), byRate(next.rate)];
      const { loss, base } = lossOf(columns, { strains, weights, room });
      const explains = (columns[name === "width" ? 0 : 1] as Float64Array).reduce((sum, one) => sum + one, 0);
      if (!(loss <= limit && explains <= EXPLAINED * told.length)) break;
      best = { knees: next, loss, base };
    }
  const { width, free, rate } = best.knees;
  const work = median(told.slice(-RECENT).map((one) => one.work));
  const knees = { base: best.base, width, free, rate: orNone(rate) };
  const noise = noiseOf(pointOf({ ...knees, noise: 1 }), told);
  const point = pointOf({ ...knees, noise });
  return { ...knees, work, noise, bursts: burstsOf(point, told) };
}

const orNone = (rate: number): number | null => (rate === Number.POSITIVE_INFINITY ? null : rate);
const raised = (knees: Knees, name: "width" | "free"): Knees => ({ ...knees, [name]: RAISE * knees[name] });

const RAISE = 1.05;
/** A loss that is greater by this, times the noise, is no evidence: minutes resemble their neighbours. */
const UNDECIDED = 12;
/** A knee that is raised may explain this much of the strain in the mean: more, and larger pods would seem to be a cure. */
const EXPLAINED = 0.03;
const worst = { loss: Number.POSITIVE_INFINITY, base: 0 };
const LIMIT = 1.02;
/** Minutes that the work per request is of: a few hours. */
const RECENT = 240;

interface Measured {
  readonly strains: Float64Array;
  readonly weights: Float64Array;
  readonly room: Float64Array;
}

/** The base that fits these knees, and what is left: squares, and beyond a few deviations no more than that. */
function lossOf(
  columns: readonly Float64Array[],
  { strains, weights, room }: Measured,
): { loss: number; base: number } {
  const [one, two, three] = columns as [Float64Array, Float64Array, Float64Array];
  const count = strains.length;
  for (let i = 0; i < count; i++) room[i] = (one[i] as number) + (two[i] as number) + (three[i] as number);
  let base = 0;
  for (let pass = 0; pass < 3; pass++) {
    let [sum, all] = [0, 0];
    for (let i = 0; i < count; i++) {
      const strain = strains[i] as number;
      const term = room[i] as number;
      // What piled up is only known to be much.
      if (strain >= MOST_STRAIN && base + term >= MOST_STRAIN) continue;
      const weight = weights[i] as number;
      const off = strain - base - term;
      const far = pass === 0 ? 1 : (off * off * weight) / FAR;
      const counted = far > 1 ? weight / far : weight;
      sum += counted * (strain - term);
      all += counted;
    }
    base = all > 0 ? sum / all : 0;
  }
  let loss = 0;
  for (let i = 0; i < count; i++) {
    const expected = Math.min(base + (room[i] as number), MOST_STRAIN);
    const off = (strains[i] as number) - expected;
    loss += Math.min(off * off * (weights[i] as number), FAR);
  }
  return { loss, base };
}

const FAR = OUTLIER ** 2 * 4;

function noiseOf(point: Points, told: readonly Told[]): number {
  const squares = told.flatMap(({ strain, conditions }) =>
    strain >= MOST_STRAIN ? [] : [(strain - strainAt(point, conditions)) ** 2 / varianceAt(point, conditions)],
  );
  // The median of a squared deviation is 0.455 of the variance.
  const found = median(squares) / 0.455;
  return Number.isFinite(found) ? Math.min(Math.max(found, 0.1), MOST_NOISE) : 1;
}

/** The level begins where nothing could be seen and falls slowly: minutes are gone through until it has arrived. */
const PASSES = 4;

function burstsOf(point: Points, told: readonly Told[]): Bursts {
  const knees = told.flatMap(({ strain, conditions, work }) =>
    strain < MOST_STRAIN ? [kneeOf(point, strain, { conditions, work })] : [],
  );
  let bursts = noBursts;
  for (let pass = 0; pass < PASSES; pass++) bursts = knees.reduce(burstsAfter, bursts);
  return bursts;
}
