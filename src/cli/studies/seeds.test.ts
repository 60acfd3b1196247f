import { expect, test } from "vitest";
import { seedOptions, seedsOf, seedsText } from "./seeds.ts";

const plain = { seeds: { quick: 2, full: 4 } };
const held = { seeds: { quick: 2, full: 3, first: 101 } };
const own = { seeds: undefined, firstSeed: undefined };

test("a study without a first seed starts at 1, one with a first seed there", () => {
  expect(seedsOf(plain, { quick: false, ...own })).toEqual([1, 2, 3, 4]);
  expect(seedsOf(plain, { quick: true, ...own })).toEqual([1, 2]);
  expect(seedsOf(held, { quick: false, ...own })).toEqual([101, 102, 103]);
  expect(seedsOf(held, { quick: true, ...own })).toEqual([101, 102]);
});

test("what the command line asks for goes before the study's own", () => {
  expect(seedsOf(held, { quick: false, seeds: 2, firstSeed: 7 })).toEqual([7, 8]);
  expect(seedsOf(held, { quick: false, seeds: undefined, firstSeed: 1 })).toEqual([1, 2, 3]);
  expect(seedsOf(held, { quick: false, seeds: 1, firstSeed: undefined })).toEqual([101]);
});

test("seeds beyond the exact whole numbers are refused: two of them would be the same", () => {
  const last = Number.MAX_SAFE_INTEGER;
  expect(seedsOf(plain, { quick: false, seeds: 2, firstSeed: last - 1 })).toEqual([last - 1, last]);
  expect(() => seedsOf(plain, { quick: false, seeds: 3, firstSeed: last - 1 })).toThrow(
    /3 seeds from 9007199254740990/,
  );
});

test("seeds read as a count and a range", () => {
  expect(seedsText([101, 102, 103])).toBe("3 seeds (101 to 103)");
  expect(seedsText([5])).toBe("1 seed (5)");
  expect(seedsText([])).toBe("no seeds");
});

test("the options that ask for seeds again are those that differ from the study's own", () => {
  expect(seedOptions(held, { quick: false, seeds: [101, 102, 103] })).toBe("");
  expect(seedOptions(held, { quick: true, seeds: [101, 102, 103] })).toBe("--seeds 3");
  expect(seedOptions(held, { quick: false, seeds: [1, 2, 3] })).toBe("--first-seed 1");
  expect(seedOptions(plain, { quick: false, seeds: [9] })).toBe("--seeds 1 --first-seed 9");
});
