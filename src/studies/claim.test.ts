/** How rows are judged, by cases worked out by hand, and that every published row was judged so. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  isPromiseKept,
  outcomeOf,
  promiseAtLeast,
  promiseAtMost,
  reproduceAtLeast,
  reproduceAtMost,
  shown,
} from "./claim.ts";
import { studies } from "./registry.ts";
import type { PaperFigure, StudyReport } from "./study.ts";

const between = (lo: number, hi: number) => ({ mean: (lo + hi) / 2, lo, hi, n: 10, unit: "×" });
const row = (lo: number, hi: number, paper: PaperFigure | null = null) => ({
  id: "x",
  what: "x",
  paper,
  ours: between(lo, hi),
  claim: "x",
});
const printed: PaperFigure = { low: 4, high: 6, unit: "×", where: "Fig. 1" };

test.each([
  // At least 2: the lower end decides, and the bound itself is enough.
  ["at least", 2, 3, true],
  ["at least", 1.9, 9, false],
  // At most 2: the upper end decides.
  ["at most", 1, 2, true],
  ["at most", 0, 2.1, false],
])("a promise of %s 2 with an interval from %s to %s: kept is %s", (direction, lo, hi, kept) => {
  const judged = direction === "at least" ? promiseAtLeast(row(lo, hi), 2) : promiseAtMost(row(lo, hi), 2);
  expect(judged).toMatchObject({ kind: "promise", holds: kept });
});

test.each([
  // The paper has 4 to 6 times as much; once as much would be no effect.
  ["an interval within the paper's range", 4.5, 5.5, "reproduced"],
  ["one that only reaches it", 1.5, 4, "reproduced"],
  ["one beyond it", 7, 9, "reproduced"],
  ["an effect that stays short of it", 1.1, 3.9, "same-direction"],
  ["one so wide that there may be no effect, though it reaches the range", 1, 8, "not"],
  ["the opposite", 0.2, 0.8, "not"],
])("of a printed figure, %s (%s to %s) is: %s", (_, lo, hi, outcome) => {
  const judged = reproduceAtLeast(row(lo, hi, printed), { bound: 4, none: 1 });
  expect(judged).toMatchObject({ kind: "reproduction", outcome, holds: outcome === "reproduced" });
});

test.each([
  // Less is the merit: the paper has at most 6, and 10 would be no effect.
  ["an interval that reaches it from above", 5.9, 9.9, "reproduced"],
  ["less than it", 1, 2, "reproduced"],
  ["an effect that stays short of it", 6.1, 9.9, "same-direction"],
  ["no effect", 5, 10, "not"],
])("of a printed figure of which less is better, %s (%s to %s) is: %s", (_, lo, hi, outcome) => {
  expect(reproduceAtMost(row(lo, hi, printed), { bound: 6, none: 10 })).toMatchObject({ outcome });
});

test("a level has no direction: it is reached or not", () => {
  expect(reproduceAtLeast(row(3, 4, printed), { bound: 4 })).toMatchObject({ outcome: "reproduced" });
  expect(reproduceAtLeast(row(3, 3.9, printed), { bound: 4 })).toMatchObject({ outcome: "not" });
});

test("where the paper prints no number, the near end has to clear the claim's", () => {
  expect(reproduceAtLeast(row(2, 5), { bound: 2, none: 1 })).toMatchObject({ outcome: "reproduced" });
  expect(reproduceAtLeast(row(1.9, 5), { bound: 2, none: 1 })).toMatchObject({ outcome: "same-direction" });
  expect(reproduceAtLeast(row(1, 5), { bound: 2, none: 1 })).toMatchObject({ outcome: "not" });
});

test("what is shown has no verdict, and says why where there is a reason", () => {
  const { paper, claim, ...plain } = row(1, 2);
  expect(shown(plain)).toEqual({ ...plain, paper: null, claim: "shown, not judged", kind: "shown", holds: null });
  expect(shown({ ...plain, why: "an opponent" }).claim).toBe("shown, not judged: an opponent");
});

// ── What is published ──────────────────────────────────────────────────────────────────────────────────────

const folder = new URL("../../docs/results/", import.meta.url);
const published = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as StudyReport);

// The first chooses the opponents' constants and has nothing to publish; the others have not been run in full yet.
const UNPUBLISHED = ["firm-baselines"];

test("every registered study is published, and no other", () => {
  const registered = studies.map(({ id }) => id).filter((id) => !UNPUBLISHED.includes(id));
  expect(published.map(({ study }) => study).sort()).toEqual(registered.sort());
});

test.each(published.map((report) => [report.study, report] as const))(
  "%s: every row has a kind, and the verdict that its own numbers give",
  (_, { rows }) => {
    for (const row of rows) {
      switch (row.kind) {
        case "promise":
          expect(row.holds, row.id).toBe(isPromiseKept(row.ours, row.target));
          break;
        case "reproduction":
          expect(row.outcome, row.id).toBe(outcomeOf(row, row.target));
          expect(row.holds, row.id).toBe(row.outcome === "reproduced");
          break;
        case "shown":
          expect(row.holds, row.id).toBeNull();
          break;
        default:
          expect.unreachable(`a row of no kind: ${JSON.stringify(row)}`);
      }
    }
  },
);
