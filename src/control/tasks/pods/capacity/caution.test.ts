import { expect, test } from "vitest";
import { ratio } from "../../../../base/index.ts";
import { cautionAfter, noCaution, worthOfMiss } from "./caution.ts";

const allowed = ratio(0.005);

test("a missed step makes it as much more careful as 199 kept ones make it bolder, where one in 200 is allowed", () => {
  let caution = cautionAfter(1, { isMissed: true, allowed });
  expect(caution).toBeCloseTo(1 + 0.08 * 0.995, 10);
  for (let i = 0; i < 199; i++) caution = cautionAfter(caution, { isMissed: false, allowed });
  expect(caution).toBeCloseTo(1, 10);
});

test("neither misses without end nor none at all take it beyond its bounds", () => {
  let most = noCaution;
  let least = noCaution;
  for (let i = 0; i < 10_000; i++) {
    most = cautionAfter(most, { isMissed: true, allowed });
    least = cautionAfter(least, { isMissed: false, allowed });
  }
  expect([most, least]).toEqual([3, -1]);
});

test("a miss is worth six steps of CPU, and e times as much for each step of caution", () => {
  expect(worthOfMiss(noCaution)).toBe(6);
  expect(worthOfMiss(2) / worthOfMiss(1)).toBeCloseTo(Math.E, 10);
});
