/**
 * Max–min fair shares of one resource of a node: nobody gets more than it wants, and what is left is divided equally by
 * weight among those who want more.
 * Owns: the shares. Not here: who wants what and what a share does to a request (the worlds).
 */

export interface SharingProblem {
  readonly capacity: number;
  /** How many entries of the arrays count. */
  readonly count: number;
  readonly demands: Float64Array;
  readonly weights: Float64Array;
}

/** Besides what each gets. */
export interface Sharing {
  /** What nobody wants. */
  slack: number;
  /** What anybody could have per weight, wanting more: infinite while all get what they want. */
  level: number;
}

/**
 * Writes what each gets. By rounds of filling: in each, those who want no more than their part of what is left are served;
 * when nobody is, the others take their parts. At most one round per entry.
 */
export function maxMinShares(problem: SharingProblem, shares: Float64Array, into: Sharing): void {
  const { capacity, count, demands, weights } = problem;
  let left = capacity;
  let weight = 0;
  for (let i = 0; i < count; i++) {
    shares[i] = -1;
    weight += weights[i]!;
  }
  for (;;) {
    const level = weight > 0 ? left / weight : 0;
    let isAnyServed = false;
    for (let i = 0; i < count; i++) {
      const demand = demands[i]!;
      if (shares[i]! >= 0 || demand > level * weights[i]!) continue;
      shares[i] = demand;
      left -= demand;
      weight -= weights[i]!;
      isAnyServed = true;
    }
    if (isAnyServed) continue;
    let isAnyLeft = false;
    for (let i = 0; i < count; i++) {
      if (shares[i]! >= 0) continue;
      shares[i] = level * weights[i]!;
      isAnyLeft = true;
    }
    into.slack = isAnyLeft ? 0 : Math.max(0, left);
    into.level = isAnyLeft ? level : Number.POSITIVE_INFINITY;
    return;
  }
}

/**
 * What one of them can draw at a moment at which it wants more than on average: its part, or what is left over besides
 * its own. Demands are averages over an epoch, and a single request wants its full rate at once.
 */
export const reachOf = (share: number, weight: number, { slack, level }: Sharing): number =>
  level === Number.POSITIVE_INFINITY ? share + slack : Math.max(share, level * weight);

/** What is left of a share for a service when a stressor in the same container wants so much of it: max–min of the two. */
export const besideStressor = (share: number, stressor: number): number => Math.max(share - stressor, share / 2);
