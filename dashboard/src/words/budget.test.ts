import { expect, test } from "vitest";
import { budgetLeft, budgetMeaning, burnWords, shareOf, steeringWords } from "./budget.ts";

test("what is left is rounded down, and what is overspent is called so", () => {
  expect([1, 0.9999, 0.87, 0, -0.2].map((left) => budgetLeft({ left }))).toEqual([
    "100 %",
    "99 %",
    "87 %",
    "0 %",
    "overspent",
  ]);
});

test("a burn is said of the hour and of six", () => {
  expect(burnWords({ burn: { short: 2.5, long: 14.4 } })).toBe("2.5 × in 1 h, 14 × in 6 h");
  expect(burnWords({ burn: { short: 0, long: 0 } })).toBe("nothing spent in 6 h");
  const week = { attainment: 0.99, windowMs: 604_800_000, left: 0.99, burn: { short: 0, long: 0 } };
  expect(budgetMeaning({ ...week, steps: 1_200, missed: 4 })).toBe(
    "1 % of the steps of 7 days may miss the SLO; 4 of 1,200 did. At 1 × the budget is spent in just that time.",
  );
});

test("who steers is said in shares of the newest decisions, and nothing where the learner has not acted", () => {
  expect(steeringWords({ decisions: 1_000, asProposed: 980, less: 719 }, "HPA and VPA")).toBe(
    "98 % done as proposed, 71 % with less than HPA and VPA alone would have",
  );
  expect(steeringWords({ decisions: 0, asProposed: 0, less: 0 }, "AIMD")).toBeNull();
  expect([shareOf(0, 0), shareOf(999, 1_000), shareOf(3, 3)]).toEqual(["–", "99 %", "100 %"]);
});
