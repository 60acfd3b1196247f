import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { bootstrap, pooledRatio, stratifiedBootstrap } from "./bootstrap.ts";
import { interquartileMean, mean } from "./descriptive.ts";

const tasks = [
  [0.9, 1.1, 1.3, 0.7, 1.0, 1.2, 0.8, 1.4, 1.05, 0.95],
  [2.0, 2.4, 1.6, 2.2, 1.8, 2.1, 1.9, 2.3, 2.6, 1.4],
  [0.1, 0.4, 0.3, 0.2, 0.6, 0.5, 0.35, 0.25, 0.45, 0.15],
];

test("the stratified interval of the interquartile mean agrees with an independent implementation", () => {
  // NumPy, 200,000 resamples within each task, numpy.quantile: [0.953125, 1.153125]; the estimate by scipy trim_mean.
  const found = stratifiedBootstrap(tasks, (strata) => interquartileMean(strata.flat()), { rng: seededRng(1) });
  expect(found.estimate).toBeCloseTo(1.046875, 12);
  expect(Math.abs(found.lo - 0.953125)).toBeLessThan(0.008);
  expect(Math.abs(found.hi - 1.153125)).toBeLessThan(0.008);
});

test("runs are drawn again within their task only", () => {
  stratifiedBootstrap(
    tasks,
    (strata) => {
      for (const [t, runs] of strata.entries()) {
        expect(runs).toHaveLength(10);
        for (const run of runs) expect(tasks[t]).toContain(run);
      }
      return 0;
    },
    { rng: seededRng(2), resamples: 50 },
  );
});

test("the interval of a mean has the width that the central limit theorem gives", () => {
  const rng = seededRng(3);
  const sample = Array.from({ length: 400 }, () => rng.normal());
  const { lo, hi } = bootstrap(sample, mean, { rng: rng.fork("bootstrap") });
  // 2 · 1.96 / √400 = 0.196.
  expect(hi - lo).toBeGreaterThan(0.176);
  expect(hi - lo).toBeLessThan(0.216);
});

test("about 95 of 100 intervals cover the truth", () => {
  const rng = seededRng(4);
  let covered = 0;
  for (let i = 0; i < 300; i++) {
    const sample = Array.from({ length: 40 }, () => rng.normal());
    const { lo, hi } = bootstrap(sample, mean, { rng: rng.fork(i), resamples: 400 });
    if (lo <= 0 && 0 <= hi) covered += 1;
  }
  expect(covered / 300).toBeGreaterThan(0.9);
  expect(covered / 300).toBeLessThan(0.985);
});

test("a wider level gives a wider interval", () => {
  const narrow = bootstrap(tasks[0] as number[], mean, { rng: seededRng(5), level: 0.5 });
  const wide = bootstrap(tasks[0] as number[], mean, { rng: seededRng(5), level: 0.99 });
  expect(wide.lo).toBeLessThan(narrow.lo);
  expect(wide.hi).toBeGreaterThan(narrow.hi);
});

test("the same seed gives the same interval, another seed another one", () => {
  const at = (seed: number) => bootstrap(tasks[1] as number[], mean, { rng: seededRng(seed), resamples: 51 });
  expect(at(6)).toEqual(at(6));
  expect(at(6)).not.toEqual(at(7));
});

test("a ratio comes from pooled sums and pairs stay together", () => {
  const pairs = [
    { numerator: 10, denominator: 12 },
    { numerator: 22, denominator: 20 },
    { numerator: 7, denominator: 9 },
    { numerator: 31, denominator: 35 },
    { numerator: 15, denominator: 10 },
  ];
  // NumPy, a million resamples: 0.98837…, [0.84416, 1.21569].
  const found = pooledRatio(pairs, { rng: seededRng(8) });
  expect(found.estimate).toBeCloseTo(85 / 86, 12);
  // Five pairs have only 126 different resamples, so a bound may fall on a neighbouring value.
  expect(Math.abs(found.lo - 0.84416)).toBeLessThan(0.02);
  expect(Math.abs(found.hi - 1.21569)).toBeLessThan(0.02);
});

test("a ratio that is the same in every pair has an interval of no width", () => {
  const pairs = [1, 5, 25].map((denominator) => ({ numerator: 3 * denominator, denominator }));
  expect(pooledRatio(pairs, { rng: seededRng(9) })).toEqual({ estimate: 3, lo: 3, hi: 3 });
});

test("a sample without values, a level outside (0, 1) and denominators of zero are refused", () => {
  expect(() => stratifiedBootstrap([[1], []], () => 0, { rng: seededRng(1) })).toThrow("at least one value");
  expect(() => bootstrap([1], mean, { rng: seededRng(1), level: 95 })).toThrow("between 0 and 1");
  expect(() => pooledRatio([{ numerator: 1, denominator: 0 }], { rng: seededRng(1) })).toThrow("zero");
});
