/**
 * Which throttle targets an application can afford: a Tower in the manner of Autothrottle (Wang et al., NSDI 2024, 3.3).
 * Owns: the ladder of targets, what a minute cost, and the choice of the next one. Not here: keeping a target (captain.ts).
 *
 * A contextual bandit: services are in two groups, each group has one of nine targets, so there are 81 arms; the context is
 * the request rate. A minute that kept the SLO costs 0 to 1 by its CPU, one that missed it costs 2 to 3 by its latency, both
 * relative to the cheapest and dearest of their kind so far. The authors learn the cost with a small network (Vowpal Wabbit);
 * here it is a mean over the minutes that were seen, nearer ones counting more: with 81 arms on a grid and one number as
 * context there is nothing for a network to find, and this has no step size to tune.
 */
import type { Rng } from "../../../../base/index.ts";

/** The authors' ladder (section 4). */
export const throttleTargets = [0, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3] as const;
const RUNGS = throttleTargets.length;

/** An arm: the rung of either group, the busy services first. */
export interface TowerArm {
  readonly busy: number;
  readonly idle: number;
}

/** One minute under an arm. */
export interface TowerSample {
  readonly arm: TowerArm;
  readonly perSecond: number;
  /** The worst type's 99th percentile over its SLO. */
  readonly overSlo: number;
  /** CPU limits of all containers, mean cores. */
  readonly cores: number;
}

export interface TowerConfig {
  /** Share of choices that go to a neighbour of the best arm; the authors evaluate with none after a warm-up. */
  readonly explore: number;
  /** How fast a minute counts less with distance: rungs, and the logarithm of the rate. */
  readonly reach: { readonly rungs: number; readonly rate: number };
}

export const towerConfig: TowerConfig = { explore: 0, reach: { rungs: 1, rate: 0.2 } };

/** Weighs as this part of a minute that was seen, and says the worst. */
const DOUBT = 0.05;

/** By sample, as the authors scale it: 0..1 where the SLO was kept, 2..3 where it was not. */
export function costsOf(samples: readonly TowerSample[]): readonly number[] {
  const kept = samples.filter(({ overSlo }) => overSlo <= 1).map(({ cores }) => cores);
  const missed = samples.filter(({ overSlo }) => overSlo > 1).map(({ overSlo }) => overSlo);
  const scaled = (value: number, among: readonly number[]): number => {
    const [least, most] = [Math.min(...among), Math.max(...among)];
    return most > least ? (value - least) / (most - least) : 0.5;
  };
  return samples.map(({ overSlo, cores }) => (overSlo <= 1 ? scaled(cores, kept) : 2 + scaled(overSlo, missed)));
}

/** What arms are expected to cost at a rate, by their number: busy · 9 + idle. Unseen ones lean on their neighbours. */
export function expectedCosts(
  samples: readonly TowerSample[],
  perSecond: number,
  { reach }: TowerConfig,
): Float64Array {
  const costs = costsOf(samples);
  const expected = new Float64Array(RUNGS * RUNGS);
  for (let arm = 0; arm < expected.length; arm++) {
    const { busy, idle } = armOf(arm);
    // What little speaks for is nearly as bad as the worst: it is not tried by accident.
    let weights = DOUBT;
    let sum = DOUBT * 3;
    for (const [i, sample] of samples.entries()) {
      const rungs = ((busy - sample.arm.busy) ** 2 + (idle - sample.arm.idle) ** 2) / reach.rungs ** 2;
      const rates = (Math.log((1 + perSecond) / (1 + sample.perSecond)) / reach.rate) ** 2;
      const weight = Math.exp(-(rungs + rates) / 2);
      weights += weight;
      sum += weight * (costs[i] as number);
    }
    expected[arm] = sum / weights;
  }
  return expected;
}

/** The cheapest arm, or sometimes a neighbour of it. Strict targets come first, so they win a tie. */
export function chooseArm(
  samples: readonly TowerSample[],
  perSecond: number,
  { config, rng }: { readonly config: TowerConfig; readonly rng: Rng },
): TowerArm {
  if (samples.length === 0) return { busy: 0, idle: 0 };
  const expected = expectedCosts(samples, perSecond, config);
  const best = armOf(expected.indexOf(Math.min(...expected)));
  if (config.explore === 0 || rng.next() >= config.explore) return best;
  const { busy, idle } = best;
  const neighbours = [
    { busy: busy - 1, idle },
    { busy: busy + 1, idle },
    { busy, idle: idle - 1 },
    { busy, idle: idle + 1 },
  ].filter((arm) => [arm.busy, arm.idle].every((rung) => rung >= 0 && rung < RUNGS));
  return neighbours[rng.int(neighbours.length)] as TowerArm;
}

export const armCount = RUNGS * RUNGS;
export const armOf = (number: number): TowerArm => ({ busy: Math.floor(number / RUNGS), idle: number % RUNGS });

/**
 * Services in two groups by the CPU they use: two means on a line, found by trying every cut. The authors cluster by
 * k-means on CPU use (their A.3), which on one number is the same thing done exactly.
 */
export function busyServices(cores: Readonly<Record<string, number>>): ReadonlySet<string> {
  const sorted = Object.entries(cores).sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
  let best = { spread: Number.POSITIVE_INFINITY, cut: sorted.length };
  for (let cut = 1; cut < sorted.length; cut++) {
    const spread = spreadOf(sorted.slice(0, cut)) + spreadOf(sorted.slice(cut));
    if (spread < best.spread) best = { spread, cut };
  }
  return new Set(sorted.slice(best.cut).map(([name]) => name));
}

function spreadOf(entries: readonly (readonly [string, number])[]): number {
  const mean = entries.reduce((sum, [, value]) => sum + value, 0) / entries.length;
  return entries.reduce((sum, [, value]) => sum + (value - mean) ** 2, 0);
}
