import { expect, test } from "vitest";
import { milliseconds } from "../base/index.ts";
import { savedPlaneSchema } from "../contract/schemas/index.ts";
import { BUDGET_WINDOW, type BudgetCounts, budgetOf, countStep, SPAN, USUAL_ATTAINMENT } from "./budget.ts";

/** A multiple of every span. */
const START = Date.UTC(2026, 0, 1);
const STEP = milliseconds(15_000);
const terms = { attainment: USUAL_ATTAINMENT, controlStep: STEP };

/** Steps one after another, `missed` of them first in every `of`. */
function run(steps: number, { from = START, missed = 0, of = 1, counts = null as BudgetCounts | null } = {}) {
  let now = counts;
  for (let step = 0; step < steps; step += 1)
    now = countStep(now, { at: from + (step + 1) * STEP, preservation: step % of < missed ? 0.9 : 1 });
  return now as BudgetCounts;
}

test("of seven days of steps of 15 seconds, one in a hundred may be missed: 403.2", () => {
  // 7 × 24 × 3600 / 15 = 40,320 steps, and 1 % of them.
  const budget = budgetOf(run(240, { missed: 1, of: 24 }), terms);
  expect(budget).toMatchObject({ attainment: 0.99, windowMs: 604_800_000, steps: 240, missed: 10 });
  expect(budget.left).toBeCloseTo(1 - 10 / 403.2, 12);
});

test("a burn of 1 is the pace that spends all of it in the window", () => {
  // 5 h 50 min of 240 steps an hour, one miss in a hundred: 350 of 10,080 minutes have 14 of the 403.2.
  const even = budgetOf(run(6 * 240 - 40, { missed: 1, of: 100 }), terms);
  expect(even.missed).toBe(14);
  expect(even.burn.long).toBeCloseTo(1, 12);
  // A whole hour in which everything is missed burns a hundred times as fast, and a sixth of that over six hours.
  const down = budgetOf(run(240, { from: START + 5 * 3_600_000, missed: 1, counts: run(5 * 240) }), terms);
  expect(down.burn.short).toBeCloseTo(100, 10);
  expect(down.burn.long).toBeCloseTo(100 / 6, 10);
  expect(down.left).toBeCloseTo(1 - 240 / 403.2, 12);
});

test("more misses than are allowed overspend it", () => {
  expect(budgetOf(run(807, { missed: 1 }), terms).left).toBeCloseTo(1 - 807 / 403.2, 12);
});

test("what was not measured is a step and no miss, and an SLO that was just kept is kept", () => {
  const counts = [null, 1, 0.999].reduce<BudgetCounts | null>(
    (so, preservation, index) => countStep(so, { at: START + (index + 1) * STEP, preservation }),
    null,
  );
  expect(counts).toEqual({ first: START / SPAN, steps: [3], missed: [1], at: START + 3 * STEP });
});

test("misses leave the window with their quarter of an hour, and memory stays bounded", () => {
  const begun = run(60, { missed: 1 });
  const later = (days: number) => countStep(begun, { at: START + days * 86_400_000, preservation: 1 });
  expect(budgetOf(later(6.9), terms)).toMatchObject({ steps: 61, missed: 60 });
  // The last span of the seven days is the 672nd, and the first is still among them.
  expect(later(7).steps).toHaveLength(672);
  expect(budgetOf(later(7), terms)).toMatchObject({ steps: 61, missed: 60 });
  const gone = countStep(later(7), { at: START + BUDGET_WINDOW + STEP, preservation: 1 });
  expect(gone.steps).toHaveLength(672);
  expect(budgetOf(gone, terms)).toMatchObject({ steps: 2, missed: 0, left: 1, burn: { short: 0, long: 0 } });
  expect(later(400)).toMatchObject({ steps: [1], missed: [0] });
});

test("a clock that runs back changes nothing but the counts of the newest span", () => {
  const counts = run(70);
  const back = countStep(counts, { at: START - 1_000_000_000, preservation: 0.5 });
  expect([back.first, back.at, back.steps, back.missed]).toEqual([counts.first, counts.at, [60, 11], [0, 1]]);
});

test("who may miss nothing has a budget of one step, so that every figure is a number", () => {
  const strict = { ...terms, attainment: 1 };
  expect(budgetOf(run(240), strict)).toMatchObject({ left: 1, burn: { short: 0, long: 0 } });
  expect(budgetOf(run(240, { missed: 1, of: 120 }), strict)).toMatchObject({ left: -1, burn: { short: 336 } });
});

test("what a run counted is accepted when it is read again, and what no run can have counted is not", () => {
  const saved = savedPlaneSchema.unwrap().shape.workloads.unwrap().valueType.unwrap().shape.budget;
  const full = countStep(run(60), { at: START + BUDGET_WINDOW, preservation: 1 });
  expect(saved.parse(full)).toEqual(full);
  expect(saved.parse(undefined)).toBeNull();
  for (const wrong of [
    { ...full, steps: [...full.steps, 1], missed: [...full.missed, 0] },
    { ...full, missed: full.missed.slice(1) },
    { first: 1, steps: [1], missed: [2], at: 0 },
    { first: 0.5, steps: [1], missed: [1], at: 0 },
  ])
    expect(saved.safeParse(wrong).success).toBe(false);
});
