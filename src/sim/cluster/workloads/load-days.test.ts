import fc from "fast-check";
import { expect, test } from "vitest";
import { type Load, meanRate } from "./load.ts";
import { varyDays } from "./load-days.ts";
import { generateLoad } from "./load-generate.ts";

const DAY = 1_440;
const dayOf = ({ perMinute }: Load, day: number) => perMinute.subarray(day * DAY, (day + 1) * DAY);
const daysOf = (load: Load) => Array.from({ length: load.perMinute.length / DAY }, (_, day) => dayOf(load, day));

const anyShape = fc.constantFrom("steady", "periodic", "on-off", "diurnal", "bursty");

test("whatever the load, its days are finite, not negative, of the same mean together, and never the same twice", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 9_000 }), anyShape, (seed, shape) => {
      const base = generateLoad({ seed, level: "high", shape, mean: 20 });
      const varied = varyDays(base, { seed, days: 7 });
      expect(varied.perMinute).toHaveLength(7 * DAY);
      expect(varied.perMinute.every((rate) => Number.isFinite(rate) && rate >= 0)).toBe(true);
      expect(meanRate(varied)).toBeCloseTo(20, 8);
      expect(new Set(daysOf(varied).map((day) => day.join())).size).toBe(7);
      expect(varyDays(base, { seed, days: 7 })).toEqual(varied);
    }),
    { numRuns: 40 },
  );
});

test("a timer stays a timer: its days differ by less than a hundredth", () => {
  const base: Load = { id: "timer", level: "low", perMinute: new Float64Array(DAY).fill(5), dispersion: 1 };
  base.perMinute.forEach((_, i) => {
    base.perMinute[i] = 5 + (i % 2) * 0.01;
  });
  for (const day of daysOf(varyDays(base, { seed: 1_000, days: 5 })))
    for (const rate of day) expect(Math.abs(rate / 5.005 - 1)).toBeLessThan(0.01);
});

test("a schedule keeps its minutes on every day, whatever its height", () => {
  const perMinute = Float64Array.from({ length: DAY }, (_, i) => (i % 60 === 7 ? 100 : 0));
  const varied = varyDays({ id: "hourly", level: "high", perMinute, dispersion: 1 }, { seed: 1_000, days: 3 });
  varied.perMinute.forEach((rate, i) => {
    expect(rate > 0).toBe(i % 60 === 7);
  });
});

test("a spell of an hour comes at other times, and keeps its height and its silence around it", () => {
  const perMinute = Float64Array.from({ length: DAY }, (_, i) => (i >= 600 && i < 660 ? 100 : 0));
  const varied = varyDays({ id: "spell", level: "high", perMinute, dispersion: 1 }, { seed: 1_000, days: 6 });
  const starts = daysOf(varied).map((day) => day.findIndex((rate) => rate > 0));
  expect(new Set(starts).size).toBeGreaterThan(3);
  for (const start of starts) expect(Math.abs(start - 600)).toBeLessThanOrEqual(55);
  // The clock runs at most 110 minutes too fast or too slow over two hours.
  for (const day of daysOf(varied)) expect(day.filter((rate) => rate > 0).length).toBeLessThan(240);
});

test("levels of days differ as those of the records that were fitted: 1.5 to 12 % for loads that vary as they do", () => {
  const sigmas = Array.from({ length: 40 }, (_, i) => {
    const base = generateLoad({ seed: 1_000 + i, level: "high", shape: "diurnal", mean: 20 });
    const varied = varyDays(base, { seed: 1_000 + i, days: 3 });
    const [first, second, third] = daysOf(varied).map((day) => Math.log(meanRate({ perMinute: day })));
    return Math.sqrt(((second! - first!) ** 2 + (third! - second!) ** 2) / 4);
  }).sort((a, b) => a - b);
  const median = sigmas[20] ?? 0;
  expect(median).toBeGreaterThan(0.015);
  expect(median).toBeLessThan(0.2);
});
