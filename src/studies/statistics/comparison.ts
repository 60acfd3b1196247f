/** How two methods compare over several tasks and seeds (Agarwal et al., NeurIPS 2021). */

import type { BootstrapOptions, Interval, Strata } from "./bootstrap.ts";
import { stratifiedBootstrap } from "./bootstrap.ts";
import { mean } from "./descriptive.ts";

/**
 * The chance that a run of `x` beats a run of `y` on a task picked at random; ties count half.
 * `x[t]` and `y[t]` are the scores on task t.
 */
export function probabilityOfImprovement(x: Strata, y: Strata, options: BootstrapOptions): Interval {
  if (x.length !== y.length) {
    throw new RangeError(`both methods need scores on the same tasks, got ${x.length} and ${y.length} tasks`);
  }
  const tasks = x.length;
  return stratifiedBootstrap(
    [...x, ...y],
    (strata) => {
      let total = 0;
      for (let t = 0; t < tasks; t++) total += winRate(strata[t] as number[], strata[tasks + t] as number[]);
      return total / tasks;
    },
    options,
  );
}

/** P(X > Y) + ½ P(X = Y) over all pairs. */
export function winRate(x: readonly number[], y: readonly number[]): number {
  let wins = 0;
  for (const a of x) {
    for (const b of y) wins += a > b ? 1 : a === b ? 0.5 : 0;
  }
  return wins / (x.length * y.length);
}

export interface ProfilePoint extends Interval {
  readonly threshold: number;
}

/** For each threshold, the share of runs that score above it, averaged over tasks. */
export function performanceProfile(
  scores: Strata,
  thresholds: readonly number[],
  options: BootstrapOptions,
): readonly ProfilePoint[] {
  return thresholds.map((threshold) => ({
    threshold,
    ...stratifiedBootstrap(
      scores,
      (strata) => mean(strata.map((runs) => runs.filter((score) => score > threshold).length / runs.length)),
      // Every threshold sees the same resamples, so that the profile can not cross itself by chance.
      { ...options, rng: options.rng.fork("profile") },
    ),
  }));
}
