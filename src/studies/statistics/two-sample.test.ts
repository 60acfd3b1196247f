import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { mannWhitney, permutationTest, welch } from "./two-sample.ts";

// Expected values: scipy 1.17 (stats.mannwhitneyu, ttest_ind(equal_var=False), permutation_test over all 6435 splits).
const x = [12.1, 9.8, 11.4, 10.7, 13.2, 9.1, 10.2, 12.9];
const y = [8.7, 10.1, 9.3, 7.9, 9.9, 11.0, 8.2];
const tiedX = [1, 2, 2, 3, 3, 3, 4, 5, 5, 6];
const tiedY = [2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8];

test.each([
  ["two-sided", 0.028904428904428903],
  ["greater", 0.014452214452214451],
  ["less", 0.9897435897435898],
] as const)("Mann-Whitney is exact for small samples without ties (%s)", (alternative, p) => {
  const found = mannWhitney(x, y, { alternative });
  expect(found).toEqual({ statistic: 47, p: expect.closeTo(p, 12), method: "exact" });
});

test.each([
  ["two-sided", 0.05404616542263897],
  ["greater", 0.9771317476789724],
  ["less", 0.027023082711319486],
] as const)("Mann-Whitney corrects the normal approximation for ties (%s)", (alternative, p) => {
  const found = mannWhitney(tiedX, tiedY, { alternative });
  expect(found).toEqual({ statistic: 27.5, p: expect.closeTo(p, 12), method: "normal" });
});

test("samples without any difference give Mann-Whitney nothing to tell them apart by", () => {
  expect(mannWhitney([4, 4, 4], [4, 4]).p).toBe(1);
});

test.each([
  ["two-sided", 0.01548717793546867],
  ["greater", 0.007743588967734335],
  ["less", 0.9922564110322657],
] as const)("Welch's t has the statistic, degrees of freedom and p of the reference (%s)", (alternative, p) => {
  const found = welch(x, y, { alternative });
  expect(found.statistic).toBeCloseTo(2.792408349860233, 12);
  expect(found.degrees).toBeCloseTo(12.750766137543792, 10);
  expect(found.p).toBeCloseTo(p, 12);
});

test("Welch's t refuses samples that can not show a spread", () => {
  expect(() => welch([1], [2, 3])).toThrow("at least two values");
  expect(() => welch([2, 2], [2, 2])).toThrow("samples that vary");
});

test.each([
  ["two-sided", 0.01895881895881896],
  ["greater", 0.00947940947940948],
  ["less", 0.9916083916083916],
] as const)("the permutation test comes near the p over all splits (%s)", (alternative, p) => {
  const found = permutationTest(x, y, { rng: seededRng(1), permutations: 20_000, alternative });
  // Three standard errors of a share p estimated from 20,000 draws.
  expect(Math.abs(found.p - p)).toBeLessThan(3 * Math.sqrt((p * (1 - p)) / 20_000) + 1e-4);
});

test("the permutation test never reports a p of zero", () => {
  const found = permutationTest([100, 101, 102, 103, 104, 105], [1, 2, 3, 4, 5, 6], {
    rng: seededRng(2),
    permutations: 50,
  });
  expect(found.p).toBeGreaterThanOrEqual(1 / 51);
});

test("two samples of one distribution are rarely told apart, at the level promised", () => {
  const rng = seededRng(3);
  let rejected = 0;
  for (let i = 0; i < 1000; i++) {
    const a = Array.from({ length: 12 }, () => rng.normal());
    const b = Array.from({ length: 12 }, () => rng.normal());
    if (mannWhitney(a, b).p < 0.05) rejected += 1;
  }
  expect(rejected / 1000).toBeGreaterThan(0.025);
  expect(rejected / 1000).toBeLessThan(0.07);
});
