/**
 * The generator of loads against the recorded loads it was fitted to.
 * The facts below are quantiles over functions of the data set azure-functions-2019, so that the comparison is made on any
 * machine; where the data set lies (COXSWAIN_DATASETS), the facts themselves are checked and whole distributions compared.
 */
import { expect, test } from "vitest";
import { locateDataset, readAzureFunctions } from "../../src/adapters/datasets/index.ts";
import { unwrap } from "../../src/base/index.ts";
import { describeLoad, generateLoad, type Load, type LoadStatistics, recordedLoads } from "../../src/sim/index.ts";

type Level = Load["level"];
type Statistic = keyof LoadStatistics;

const LEVELS: readonly Level[] = ["high", "low"];
const STATISTICS: readonly Statistic[] = ["variation", "nextMinute", "halfHour", "silent", "peak", "hourly"];
const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9] as const;

/** At those shares, of the 18 functions with more than 1e5 calls a day and the 69 others with ten a minute or more. */
const facts: Readonly<Record<Level, Readonly<Record<Statistic, readonly number[]>>>> = {
  high: {
    variation: [0.006, 0.038, 0.646, 1.672, 3.15],
    nextMinute: [0.01, 0.411, 0.798, 0.98, 0.993],
    halfHour: [0.001, 0.105, 0.681, 0.907, 0.974],
    silent: [0, 0, 0, 0.468, 0.867],
    peak: [1.001, 1.06, 3.094, 5.023, 14.737],
    hourly: [0.006, 0.018, 1.517, 2.71, 11.029],
  },
  low: {
    variation: [0.003, 0.011, 0.411, 1.074, 2.266],
    nextMinute: [-0.5, -0.076, 0.516, 0.865, 0.978],
    halfHour: [-0.086, 0, 0.148, 0.706, 0.9],
    silent: [0, 0, 0, 0.231, 0.571],
    peak: [1, 1.004, 1.847, 4.247, 10.769],
    hourly: [0, 0.012, 0.285, 2.167, 3.723],
  },
};

/** Seeds below 1,000 are for studies. */
const generated = Object.fromEntries(
  LEVELS.map((level) => [
    level,
    Array.from({ length: 400 }, (_, i) => described(generateLoad({ seed: 1_000 + i, level }).perMinute)),
  ]),
) as Record<Level, LoadStatistics[]>;

function described(perMinute: ArrayLike<number>): LoadStatistics {
  const statistics = describeLoad(perMinute);
  if (statistics === null) throw new Error("a load has requests");
  return statistics;
}

const valuesOf = (loads: readonly LoadStatistics[], statistic: Statistic) =>
  Float64Array.from(loads, (load) => load[statistic]).sort();

const shareBelow = (sorted: Float64Array, value: number) => sorted.filter((x) => x < value).length / sorted.length;
const shareUpTo = (sorted: Float64Array, value: number) => sorted.filter((x) => x <= value).length / sorted.length;

/** How far the share of generated loads is from the fact's; a value that many loads share counts with all its mass. */
function miss(sorted: Float64Array, { value, share }: { value: number; share: number }): number {
  return Math.max(0, shareBelow(sorted, value) - share, share - shareUpTo(sorted, value));
}

test.each(LEVELS.flatMap((level) => STATISTICS.map((statistic) => [level, statistic] as const)))(
  "generated %s loads have the recorded quantiles of %s, within a quarter of the loads",
  (level, statistic) => {
    const sorted = valuesOf(generated[level], statistic);
    const misses = facts[level][statistic].map((value, i) => miss(sorted, { value, share: SHARES[i] ?? 0 }));
    expect(Math.max(...misses)).toBeLessThan(0.25);
  },
);

test("over all statistics the generator misses the recorded quantiles by less than a tenth of the loads", () => {
  const misses = LEVELS.flatMap((level) =>
    STATISTICS.flatMap((statistic) => {
      const sorted = valuesOf(generated[level], statistic);
      return facts[level][statistic].map((value, i) => miss(sorted, { value, share: SHARES[i] ?? 0 }));
    }),
  );
  expect(misses.reduce((sum, value) => sum + value, 0) / misses.length).toBeLessThan(0.1);
});

const located = locateDataset("azure-functions-2019");

async function recorded(): Promise<Record<Level, LoadStatistics[]>> {
  const { high, low } = recordedLoads(unwrap(await readAzureFunctions(unwrap(located))));
  return {
    high: high.map(({ perMinute }) => described(perMinute)),
    low: low.map(({ perMinute }) => described(perMinute)),
  };
}

test.runIf(located.ok)("the facts are those of the data set", async () => {
  const data = await recorded();
  expect([data.high.length, data.low.length]).toEqual([18, 69]);
  for (const level of LEVELS) {
    for (const statistic of STATISTICS) {
      const sorted = valuesOf(data[level], statistic);
      for (const [i, share] of SHARES.entries()) {
        const value = sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
        expect(value).toBeCloseTo(facts[level][statistic][i] ?? Number.NaN, 2.9);
      }
    }
  }
});

test.runIf(located.ok)(
  "generated and recorded distributions are at most 0.25 apart anywhere (Kolmogorov-Smirnov)",
  async () => {
    const data = await recorded();
    const distances = LEVELS.flatMap((level) =>
      STATISTICS.map((statistic) => distance(valuesOf(data[level], statistic), valuesOf(generated[level], statistic))),
    );
    // With 18 recorded high loads, chance alone reaches 0.32 in one of twenty comparisons.
    expect(Math.max(...distances)).toBeLessThan(0.25);
    expect(distances.reduce((sum, value) => sum + value, 0) / distances.length).toBeLessThan(0.2);
  },
);

function distance(a: Float64Array, b: Float64Array): number {
  return Math.max(...[...a, ...b].map((value) => Math.abs(shareUpTo(a, value) - shareUpTo(b, value))));
}
