/** Summaries of one sample. All are pure and leave their input as it was. */

/** A sample without numbers has no mean; a bug in the caller, not an outcome of an experiment. */
export function requireValues(values: readonly number[], what: string): void {
  if (values.length === 0) throw new RangeError(`${what} needs at least one value, got none`);
  for (const value of values) {
    if (!Number.isFinite(value)) throw new RangeError(`${what} needs finite values, got ${value}`);
  }
}

export function mean(values: readonly number[]): number {
  requireValues(values, "a mean");
  return sum(values) / values.length;
}

/** Neumaier's compensated sum: the order of the seeds must not show in the last digits. */
export function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** Unbiased (n − 1); zero for a single value. */
export function variance(values: readonly number[]): number {
  const centre = mean(values);
  if (values.length === 1) return 0;
  return sum(values.map((value) => (value - centre) ** 2)) / (values.length - 1);
}

export function standardDeviation(values: readonly number[]): number {
  return Math.sqrt(variance(values));
}

/** Linear interpolation between order statistics (Hyndman and Fan's type 7, NumPy's default). */
export function quantile(values: readonly number[], q: number): number {
  requireValues(values, "a quantile");
  return quantileOfSorted([...values].sort(ascending), q);
}

export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile is asked for as a share from 0 to 1, got ${q}`);
  const position = (sorted.length - 1) * q;
  const below = Math.floor(position);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (position - below);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * The mean of the middle half: a quarter of the values, rounded down, is dropped at each end
 * (Agarwal et al., NeurIPS 2021; the same rounding as their library). With fewer than four values it is the mean.
 */
export function interquartileMean(values: readonly number[]): number {
  requireValues(values, "an interquartile mean");
  const sorted = [...values].sort(ascending);
  const cut = Math.floor(sorted.length / 4);
  return mean(sorted.slice(cut, sorted.length - cut));
}

function ascending(a: number, b: number): number {
  return a - b;
}
