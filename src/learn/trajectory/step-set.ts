/**
 * Which steps of an episode are stored, in as little memory as the usual case needs: steps arrive in order, so a set of
 * a million is one pair of numbers. Gaps cost one pair each.
 */
export class StepSet {
  /** Sorted, disjoint, never touching: [first, last, first, last, …]. */
  readonly #bounds: number[] = [];

  get runs(): number {
    return this.#bounds.length / 2;
  }

  has(step: number): boolean {
    const run = this.#runBefore(step);
    return run >= 0 && step <= (this.#bounds[2 * run + 1] ?? -1);
  }

  add(step: number): void {
    this.addRun(step, step);
  }

  /** Adds first..last, both included. */
  addRun(first: number, last: number): void {
    const bounds = this.#bounds;
    const newest = bounds.length - 1;
    if (newest > 0 && bounds[newest] === first - 1) {
      bounds[newest] = last;
      return;
    }
    // Swallow every run that overlaps or touches [first, last].
    let from = this.#runBefore(first);
    if (from < 0 || (bounds[2 * from + 1] ?? 0) < first - 1) from += 1;
    let to = from;
    let low = first;
    let high = last;
    while (2 * to < bounds.length && (bounds[2 * to] ?? 0) <= last + 1) {
      low = Math.min(low, bounds[2 * to] ?? low);
      high = Math.max(high, bounds[2 * to + 1] ?? high);
      to += 1;
    }
    bounds.splice(2 * from, 2 * (to - from), low, high);
  }

  /** The last run that begins at or before the step, or -1. */
  #runBefore(step: number): number {
    let low = 0;
    let high = this.#bounds.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#bounds[2 * middle] ?? 0) <= step) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
