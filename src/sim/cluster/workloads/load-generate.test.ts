import fc from "fast-check";
import { expect, test } from "vitest";
import { meanRate } from "./load.ts";
import { generateLoad } from "./load-generate.ts";
import { describeLoad } from "./load-statistics.ts";

const anySeed = fc.integer({ min: 0, max: 2 ** 31 });
const anyLevel = fc.constantFrom("high" as const, "low" as const);
const anyShape = fc.constantFrom(
  "steady" as const,
  "periodic" as const,
  "on-off" as const,
  "diurnal" as const,
  "bursty" as const,
);

test("a load of any shape is finite, not negative, has the mean that was asked for, and repeats for its seed", () => {
  fc.assert(
    fc.property(anySeed, anyLevel, anyShape, (seed, level, shape) => {
      const options = { seed, level, shape, days: 2, mean: 12.5 };
      const load = generateLoad(options);
      expect(load.perMinute).toHaveLength(2_880);
      expect(load.perMinute.every((rate) => Number.isFinite(rate) && rate >= 0)).toBe(true);
      expect(meanRate(load)).toBeCloseTo(12.5, 8);
      expect(load.level).toBe(level);
      expect(load.dispersion).toBeGreaterThanOrEqual(1);
      expect(load.dispersion).toBeLessThanOrEqual(4);
      expect(generateLoad(options)).toEqual(load);
    }),
    { numRuns: 60 },
  );
});

test("high loads are drawn from 16 to 40 requests/s, low ones from 5 to 12", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const high = meanRate(generateLoad({ seed, level: "high" }));
      const low = meanRate(generateLoad({ seed, level: "low" }));
      expect(high >= 16 && high <= 40).toBe(true);
      expect(low >= 5 && low <= 12).toBe(true);
    }),
    { numRuns: 50 },
  );
});

const described = (shape: "steady" | "periodic" | "on-off" | "diurnal" | "bursty") =>
  Array.from({ length: 15 }, (_, i) => {
    const statistics = describeLoad(generateLoad({ seed: 1_000 + i, level: "high", shape, days: 20 }).perMinute);
    if (statistics === null) throw new Error("a generated load has requests");
    return statistics;
  });

test("each shape is what its class is called: how the recorded ones were told apart", () => {
  expect(described("steady").every(({ variation }) => variation < 0.15)).toBe(true);
  expect(described("periodic").every(({ variation, nextMinute }) => variation > 0.15 && nextMinute < 0.5)).toBe(true);
  expect(described("on-off").every(({ silent, nextMinute }) => silent > 0.2 && nextMinute > 0.4)).toBe(true);
  expect(described("diurnal").every(({ halfHour, hourly }) => halfHour > 0.4 && hourly > 0.5)).toBe(true);
  expect(described("bursty").every(({ silent, halfHour }) => silent === 0 && halfHour < 0.6)).toBe(true);
});

test("a diurnal load has its weekends: the sixth and seventh day are the quietest of the week", () => {
  const load = generateLoad({ seed: 1_004, level: "high", shape: "diurnal", days: 7 });
  const days = Array.from({ length: 7 }, (_, day) =>
    meanRate({ perMinute: load.perMinute.subarray(day * 1_440, (day + 1) * 1_440) }),
  );
  const workdays = days.slice(0, 5);
  expect(Math.max(...days.slice(5))).toBeLessThan(Math.min(...workdays));
});
