/**
 * The constants of the load generator, with where they come from.
 * Owns: how common each shape is and what its parameters are drawn from. Not here: the shapes (load-shapes.ts).
 *
 * Fitted to the data set azure-functions-2019 (1,440 per-minute counts of one day): the 18 functions with more than 1e5
 * calls a day, which AWARE calls high load, and the 69 with fewer but at least ten a minute. (Loads are scaled to several
 * requests per second when they are used, and the chance in smaller counts would become swings of the rate.) Each function
 * was put into one of five classes:
 *   steady    coefficient of variation under 0.15 (timers and heartbeats)
 *   periodic  else, autocorrelation at some lag of 2..60 minutes over 0.5, and by 0.3 more than at lag 1 (schedules)
 *   on-off    else, silent for a fifth of the minutes, autocorrelation at lag 1 over 0.4
 *   diurnal   else, autocorrelation at lag 30 over 0.4, hourly means that span more than half the mean
 *   bursty    the rest
 * Shares are those of the classes. A parameter's range is about the 5th to 95th percentile of what its class shows;
 * test/integration/loads-fit.test.ts compares the outcome with the data. The one day says nothing of weekends: `weekend` is assumed.
 */

export type LoadShape = "steady" | "periodic" | "on-off" | "diurnal" | "bursty";

export const shapeShares: Readonly<Record<"high" | "low", Readonly<Record<LoadShape, number>>>> = {
  high: { steady: 0.33, periodic: 0.17, "on-off": 0.28, diurnal: 0.17, bursty: 0.05 },
  low: { steady: 0.41, periodic: 0.13, "on-off": 0.22, diurnal: 0.13, bursty: 0.11 },
};

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** load-shapes.ts says which are drawn uniformly in the logarithm. `memory` is the correlation of one minute's noise with the next's. */
export const shapeRanges = {
  steady: {
    noise: { low: 0.0003, high: 0.08 },
    memory: { low: -0.5, high: 0.95 },
    /** Slow swing over the day, here and below. */
    swing: { low: 0.0001, high: 0.1 },
  },
  periodic: {
    /** Minutes, each as often as it is listed. */
    periods: [5, 5, 5, 10, 10, 15, 20, 30, 60],
    /** Share of them that are silent but for the busy minute. */
    silent: 0.35,
    /** Rate of the other minutes over the busy one's, where they are not silent. */
    floor: { low: 0.05, high: 0.4 },
    noise: { low: 0.005, high: 0.3 },
    swing: { low: 0.002, high: 0.3 },
  },
  "on-off": {
    /** Minutes of a spell of calls and the silence after it; a high load's are longer. */
    cycle: { high: { low: 80, high: 900 }, low: { low: 15, high: 700 } },
    /** Share of minutes with calls. */
    busy: { high: { low: 0.12, high: 0.6 }, low: { low: 0.15, high: 0.8 } },
    /** Sigma of the lognormal height of a spell, and of the minutes within. */
    spell: { low: 0.2, high: 1.3 },
    noise: { low: 0.05, high: 0.8 },
    memory: { low: 0.7, high: 0.995 },
  },
  diurnal: {
    /** Rate of the quietest hour over the mean. */
    floor: { low: 0.03, high: 0.3 },
    /** How narrow the busy part of the day is. */
    sharpness: { low: 0.8, high: 2.5 },
    noise: { low: 0.03, high: 0.35 },
    memory: { low: 0.3, high: 0.99 },
    /** Spikes a day, and their height over the rate around them. */
    spikes: { low: 0, high: 20 },
    height: { low: 1.5, high: 4 },
    weekend: { low: 0.5, high: 1 },
  },
  bursty: {
    noise: { low: 0.2, high: 1.0 },
    memory: { low: -0.3, high: 0.7 },
    spikes: { low: 0, high: 40 },
    height: { low: 2, high: 15 },
    swing: { low: 0.01, high: 0.6 },
  },
} as const;

/**
 * Variance over mean of the counts of 15 s within a minute, drawn uniformly in the logarithm. Measured: 1.44 in the
 * conversations of azure-llm-2023 (5.5 requests/s; single clients that send batches make it 77 in its code trace), and 1.03
 * to 15.9 in autothrottle-workloads at 160 to 260 requests/s, which is 1.0 to 2.9 at 20 requests/s when the rate varies by the
 * same share.
 */
export const dispersionRange: Range = { low: 1, high: 4 };

/**
 * How much one day of a load differs from the next. The data sets of functions have one day of each, so this comes from two
 * records of web requests with many: NASA-HTTP of July and August 1995 (53 whole days; shuttle launches included, the outage
 * left out) and the sampled stream of Twitter of August 2021 (21 days; only its days' totals, since its archive has holes).
 * Ranges with two sources go from Twitter's value to NASA's; the others are NASA's quartiles. A load that hardly varies
 * within a day, such as a timer, hardly varies between days: `level`, `shape` and the weekend count in proportion to the
 * variation of its hours, which is 0.45 for NASA and 0.25 for Twitter, up to `mostVariation`.
 */
export const dayRanges = {
  /** Sigma of the logarithm of a day's mean (0.12 and 0.0145), over the variation of the hours. */
  level: { low: 0.06, high: 0.26 },
  /** Sigma of the logarithm of an hour's share of its day (0.116 to 0.216), likewise; and what one hour keeps of the hour before. */
  shape: { low: 0.26, high: 0.48 },
  memory: { low: 0.22, high: 0.63 },
  /** Minutes by which parts of a day come earlier or later. */
  shift: { low: 5, high: 50 },
  /** A weekend's mean over a workday's, for a load that varies as much as NASA's. */
  weekend: { low: 0.62, high: 1 },
  weekendVariation: 0.45,
  mostVariation: 0.6,
  /** A load with more correlation than this between minutes an hour apart follows the clock, and so it does on every day. */
  scheduled: 0.5,
} as const;
