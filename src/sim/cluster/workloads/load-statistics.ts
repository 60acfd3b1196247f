/**
 * What a load looks like, in six numbers that do not depend on its scale.
 * Owns: the statistics by which recorded and generated loads are compared.
 */

export interface LoadStatistics {
  /** Standard deviation over mean of the minutes. */
  readonly variation: number;
  /** Correlation of a minute with the next, and with the one half an hour later. */
  readonly nextMinute: number;
  readonly halfHour: number;
  /** Share of minutes without any request. */
  readonly silent: number;
  /** The 99th percentile of the minutes over their mean. */
  readonly peak: number;
  /** Busiest less quietest hour, over the mean. */
  readonly hourly: number;
}

/** Of the rates or counts of some hours' minutes; null when there is no request at all. */
export function describeLoad(perMinute: ArrayLike<number>): LoadStatistics | null {
  const minutes = Float64Array.from(perMinute);
  const mean = average(minutes);
  if (!(mean > 0)) return null;
  const relative = minutes.map((rate) => rate / mean);
  const variance = average(relative.map((rate) => (rate - 1) ** 2));
  const hours: number[] = [];
  for (let start = 0; start + 60 <= relative.length; start += 60) {
    hours.push(average(relative.subarray(start, start + 60)));
  }
  const sorted = Float64Array.from(relative).sort();
  return {
    variation: Math.sqrt(variance),
    nextMinute: correlation(relative, { lag: 1, variance }),
    halfHour: correlation(relative, { lag: 30, variance }),
    silent: relative.filter((rate) => rate === 0).length / relative.length,
    peak: sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] ?? 0,
    hourly: hours.length === 0 ? 0 : Math.max(...hours) - Math.min(...hours),
  };
}

/** Of a series of mean 1; a constant one has none, which counts as 0. */
function correlation(series: Float64Array, { lag, variance }: { lag: number; variance: number }): number {
  if (variance < 1e-18) return 0;
  let sum = 0;
  for (let i = 0; i + lag < series.length; i++) sum += (series[i]! - 1) * (series[i + lag]! - 1);
  return sum / series.length / variance;
}

function average(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}
