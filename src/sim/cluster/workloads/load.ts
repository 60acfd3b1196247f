/**
 * How many requests come, minute by minute.
 * Owns: the shape of a load. Not here: recorded traces and the fitted generator (load-*.ts), drawing arrivals.
 */

export interface Load {
  readonly id: string;
  readonly level: "high" | "low";
  /** Requests per second in each minute; begins again after the last. */
  readonly perMinute: Float64Array;
  /** Variance over mean of the counts per 15 s, given the minute's rate: 1 is Poisson, more is bursty. */
  readonly dispersion: number;
}

const MINUTE = 60_000;

/** Requests per second at a moment in milliseconds. */
export function rateAt({ perMinute }: Load, at: number): number {
  const minute = Math.floor(at / MINUTE) % perMinute.length;
  return perMinute[minute] ?? 0;
}
