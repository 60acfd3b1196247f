/**
 * Asking the capacity model: what strain and what risk it expects where a pod has so much.
 * Owns: the formula (knees.ts says what it means), its noise. Pure. Not here: what is believed and how it is learned
 * (knees.ts), what follows (sizing.ts).
 */
import type { Bursts, SeenKnee } from "./bursts.ts";
import { chanceBeyond } from "./bursts.ts";

/** What one pod had while a strain was measured. */
export interface Conditions {
  /** Millicores of one pod. */
  readonly size: number;
  /** Of these, what requests leave over. May be negative. */
  readonly free: number;
  /** Requests per second and pod. */
  readonly rate: number;
  /** Requests per second in all: how many a percentile rests on. */
  readonly load: number;
}

/** A belief as a few points: asking all of the grid in every decision would take a millisecond. */
export interface Points {
  /** Logarithms of the knees, the base, and the share of all points that are this one: five numbers per point. */
  readonly each: ArrayLike<number>;
  /** Times the usual variance. */
  readonly noise: number;
  /** Minutes that need more than the usual, and the work of a request in them; absent: none. */
  readonly bursts?: { readonly seen: Bursts; readonly work: number };
}

/** Numbers per point. */
export const EACH = 5;
export const SLOPE = { size: 1, free: 0.9, rate: 3 } as const;
/** How far from a knee the parabola reaches, as a logarithm. */
const BEND = 0.4;
/** Of a pod: below this share of it requests wait for ever, and by so much longer for each pod's worth that is lacking. */
const LEAST_FREE = 0.02;
const LACKING = 3;
/**
 * Of a strain over a minute of many requests, and of one over few: both as standard deviations; read off the event world.
 * Where requests wait for one another the wait is what varies: by this share of the strain that comes from waiting.
 */
const NOISE = { many: 0.025, few: 0.1, waiting: 0.6 } as const;
/** A strain of so many deviations is more than noise: percentiles of few requests vary much, and CPU is no cure of that. */
const SEEN = 3;
/** The logistic curve that is nearest to the normal one; and where it is as good as 0 or 1. */
const LOGISTIC = 1.702;
const FAR = 14;
/**
 * A minute that misses by a factor of e counts as 1.3 missed ones: where every setting misses, the one that misses by less is
 * better, or there would be no way out of an overload.
 */
const DEPTH = 0.3;

/** Requests of a minute that are in the slowest hundredth; below half of one the percentile is the slowest request. */
const usualVariance = (load: number): number => NOISE.many ** 2 + NOISE.few ** 2 / Math.max(0.5, 0.6 * load);

export const logSize = ({ size }: Conditions): number => Math.log(Math.max(size, 1));
/** Where more is asked for than there is, the lack goes on: less of one is better than more of it. */
export function logFree({ size, free }: Conditions): number {
  const least = LEAST_FREE * Math.max(size, 1);
  return free > least ? Math.log(free) : Math.log(least) - LACKING * (LEAST_FREE - free / Math.max(size, 1));
}
export const logRate = ({ rate }: Conditions): number => Math.log(Math.max(rate, 0.01));

/** Where no CPU was measured at all it is not infinitely little. */
const logWork = (work: number): number => Math.log(Math.max(work, 0.01));

/** The points in which pods have no limit beside their CPU. */
export function withoutLimit({ each, noise }: Points): Points {
  const kept: number[] = [];
  for (let i = 0; i < each.length; i += EACH) {
    if (each[i + 2] !== Number.POSITIVE_INFINITY) continue;
    for (let k = i; k < i + EACH; k++) kept.push(each[k] as number);
  }
  return { each: kept, noise };
}

/** 1 for a whole belief. */
export function sharesOf({ each }: Points): number {
  let sum = 0;
  for (let i = 0; i < each.length; i += EACH) sum += each[i + 4] as number;
  return sum;
}

/** The strain that is expected. */
export function strainAt({ each }: Points, conditions: Conditions): number {
  const size = logSize(conditions);
  const free = logFree(conditions);
  const rate = logRate(conditions);
  let sum = 0;
  let all = 0;
  for (let i = 0; i < each.length; i += EACH) {
    const share = each[i + 4] as number;
    const alone = (each[i + 3] as number) + SLOPE.size * bend((each[i] as number) - size);
    sum += share * (alone + waitingOfPoint(each, i, free, rate));
    all += share;
  }
  return sum / all;
}

/** The variance of a strain that is usual there, before what was learned of the noise. */
export function varianceAt({ each }: Points, conditions: Conditions): number {
  const free = logFree(conditions);
  const rate = logRate(conditions);
  let sum = 0;
  let all = 0;
  for (let i = 0; i < each.length; i += EACH) {
    const share = each[i + 4] as number;
    sum += share * waitingOfPoint(each, i, free, rate);
    all += share;
  }
  const waiting = sum / all;
  return usualVariance(conditions.load) + (NOISE.waiting * waiting) ** 2;
}

/** The chance that a minute misses the SLO, and more than that where it is missed by much. */
export function riskAt({ each, noise, bursts }: Points, conditions: Conditions): number {
  const size = logSize(conditions);
  const free = logFree(conditions);
  const rate = logRate(conditions);
  const usual = usualVariance(conditions.load);
  const usualDeviation = Math.sqrt(noise * usual);
  let sum = 0;
  let plenty = 0;
  let all = 0;
  for (let i = 0; i < each.length; i += EACH) {
    const share = each[i + 4] as number;
    const waiting = waitingOfPoint(each, i, free, rate);
    const strain = (each[i + 3] as number) + SLOPE.size * bend((each[i] as number) - size) + waiting;
    // A wait that varies makes a miss likelier where none is expected, and not less likely where one is.
    const varies = strain < 0 ? NOISE.waiting * waiting : 0;
    const deviation = varies === 0 ? usualDeviation : Math.sqrt(noise * (usual + varies * varies));
    const off = (-LOGISTIC * strain) / deviation;
    const chance = off > FAR ? 0 : off < -FAR ? 1 : 1 / (1 + Math.exp(off));
    sum += share * (strain > 0 ? chance + DEPTH * strain : chance);
    plenty += share * (strain - waiting);
    all += share;
  }
  const risk = sum / all;
  if (bursts === undefined) return risk;
  const burst = chanceBeyond(bursts.seen, free + bendAt(-plenty / all / SLOPE.free) - logWork(bursts.work));
  return risk + (1 - Math.min(1, risk)) * burst;
}

/**
 * Where the knee of a minute with this strain was, if it came from requests that waited for free cores: as a logarithm of
 * millicores for each millicore-second of a request, so that it outlasts a release.
 */
export function kneeOf({ each, noise }: Points, strain: number, { conditions, work }: Minute): SeenKnee {
  const size = logSize(conditions);
  let plenty = 0;
  let all = 0;
  for (let i = 0; i < each.length; i += EACH) {
    const share = each[i + 4] as number;
    plenty += share * ((each[i + 3] as number) + SLOPE.size * bend((each[i] as number) - size));
    all += share;
  }
  const waited = strain - plenty / all;
  const free = logFree(conditions) - logWork(work);
  const least = SEEN * Math.sqrt(noise * usualVariance(conditions.load));
  return { knee: free + bendAt(waited / SLOPE.free), from: free + bendAt(least / SLOPE.free) };
}

interface Minute {
  readonly conditions: Conditions;
  /** Millicore-seconds of a request. */
  readonly work: number;
}

// biome-ignore lint/complexity/useMaxParams: called for every point of every question; an object each would be most of the time.
function waitingOfPoint(each: ArrayLike<number>, i: number, free: number, rate: number): number {
  return SLOPE.free * bend((each[i + 1] as number) - free) + SLOPE.rate * bend(rate - (each[i + 2] as number));
}

/** 0 below a knee, the distance beyond it. */
export const bend = (beyond: number): number =>
  beyond <= -BEND ? 0 : beyond >= BEND ? beyond : ((beyond + BEND) * (beyond + BEND)) / (4 * BEND);

/** How far beyond a knee: `bend` the other way round. */
export const bendAt = (bent: number): number =>
  bent <= 0 ? -BEND : bent >= BEND ? bent : Math.sqrt(4 * BEND * bent) - BEND;
