/**
 * What workloads that looked like this one turned out to need: a belief to begin with, learned from other workloads.
 * Owns: what is looked at after the first minutes, which known workloads are near, and how likely knees are after them. Pure: a
 * model is plain data. Not here: how a belief takes it in (knees.ts), making a model (pretraining/), who asks for it (planner.ts).
 *
 * Every known workload has what it looked like in its first minutes and what the capacity model believed of it in the end. A new
 * one is believed to be like its nearest neighbours, as far as they are near, and a little like anything.
 */

import type { ConditionsMemory } from "./conditions.ts";
import { workPerRequest } from "./conditions.ts";
import type { Likelihood } from "./grid.ts";
import type { Points } from "./points.ts";
import { EACH } from "./points.ts";

/** What there is to see of a workload within minutes, whoever acts. */
export interface FirstSight {
  /** Millicore-seconds of a request. */
  readonly work: number;
  /** Requests per second. */
  readonly load: number;
  /** Milliseconds: what a request takes, on average in logarithms. */
  readonly latency: number;
  /** The logarithm of measured over allowed. */
  readonly strain: number;
  /** Bytes, the most of a pod. */
  readonly memory: number;
}

/** Plain data: it is shipped. */
export interface PriorModel {
  /** Deviation of each look over the known workloads. */
  readonly spread: readonly number[];
  /** How near is near, in deviations; null: all known workloads count alike. */
  readonly width: number | null;
  readonly known: readonly KnownWorkload[];
}

export interface KnownWorkload {
  readonly name: string;
  /** In the order of `looksOf`. */
  readonly looks: readonly number[];
  /** What was believed in the end. */
  readonly knees: Knees;
}

/** Point by point: logarithms of size, free and rate (null: no limit), and the share. */
export type Knees = readonly (readonly [number, number, number | null, number])[];

export function kneesIn({ each }: Points): Knees {
  const short = (value: number): number => Number(value.toFixed(3));
  return Array.from({ length: each.length / EACH }, (_, i) => {
    const [size = 0, free = 0, rate = 0, , share = 0] = Array.from({ length: EACH }, (_, k) => each[EACH * i + k]);
    return [short(size), short(free), rate === Number.POSITIVE_INFINITY ? null : short(rate), short(share)] as const;
  });
}

/** What a planner remembers of it. */
interface Watched {
  readonly conditions: ConditionsMemory;
  readonly loads: { readonly latest: number };
  /** Sum of the logarithms of latencies, and of how many. */
  readonly usual: { readonly sum: number; readonly steps: number };
  readonly strain: { readonly is: number } | null;
}

/** undefined where nothing was measured that tells anything. */
export function firstSightOf({ conditions, loads, usual, strain }: Watched): FirstSight | undefined {
  if (conditions.work.requests === 0 || usual.steps === 0 || strain === null) return undefined;
  return {
    work: workPerRequest(conditions),
    load: loads.latest,
    latency: Math.exp(usual.sum / usual.steps),
    strain: strain.is,
    memory: conditions.memoryPeak,
  };
}

const MIB = 1_048_576;
const log = (value: number): number => Math.log(Math.max(value, 1e-3));

/** How long a request computes and how long it takes tell most about the cores that it needs. */
export function looksOf({ work, load, latency, strain, memory }: FirstSight): readonly number[] {
  return [log(work), log(latency), log(load), strain, log(memory / MIB)];
}

/** Neighbours that count: more would only make a belief wider, and each is asked about every knee. */
const NEIGHBOURS = 8;
/** Knees between those of the grid that a known workload was learned on: about one step of it. */
const KERNEL = 0.35;
/** This share stays with what nobody knows. */
const UNKNOWN = 0.2;

export function likelihoodFrom(model: PriorModel, seen: FirstSight): Likelihood {
  const near = neighboursOf(model, looksOf(seen));
  const points = near.flatMap(({ share, knees }) =>
    knees.map(([size, free, rate, part]) => ({ size, free, rate, share: share * part })),
  );
  return (size, free, rate) => {
    let sum = 0;
    for (const point of points) {
      const isLimited = rate !== Number.POSITIVE_INFINITY;
      if (isLimited !== (point.rate !== null)) continue;
      const ofRate = isLimited ? (rate - (point.rate as number)) ** 2 : 0;
      sum +=
        point.share * Math.exp(-((size - point.size) ** 2 + (free - point.free) ** 2 + ofRate) / (2 * KERNEL ** 2));
    }
    return Math.log(UNKNOWN + (1 - UNKNOWN) * sum * SHARPNESS);
  };
}

/** So that a belief of one point, read where it is, outweighs what nobody knows. */
const SHARPNESS = 20;

function neighboursOf({ spread, width, known }: PriorModel, looks: readonly number[]) {
  if (width === null) return known.map(({ knees }) => ({ knees, share: 1 / known.length }));
  const far = known.map(({ looks: of, knees }) => ({
    knees,
    distance: of.reduce((sum, look, k) => sum + ((look - (looks[k] ?? look)) / Math.max(spread[k] ?? 1, 1e-6)) ** 2, 0),
  }));
  const nearest = far.sort((a, b) => a.distance - b.distance).slice(0, NEIGHBOURS);
  const closeness = nearest.map(({ distance }) =>
    Math.exp(-(distance - (nearest[0]?.distance ?? 0)) / (2 * width ** 2)),
  );
  const all = closeness.reduce((sum, one) => sum + one, 0);
  return nearest.map(({ knees }, i) => ({ knees, share: (closeness[i] as number) / all }));
}
