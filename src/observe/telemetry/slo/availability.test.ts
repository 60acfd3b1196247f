import fc from "fast-check";
import { expect, test } from "vitest";
import type { Ms, PerSecond } from "../../../base/index.ts";
import { ratio } from "../../../base/index.ts";
import type { Slo, SloMeasures } from "./index.ts";
import { parseSlo, sloJudges, sloMargin, sloPreservation } from "./index.ts";

const nines: Slo = { kind: "availability", target: ratio(0.9) };

interface Found {
  readonly offered?: number | null;
  readonly completed?: number | null;
  readonly failed?: number | null;
}
const measured = ({ offered = 20, completed = 20, failed = 0 }: Found): SloMeasures => ({
  latency: 80 as Ms,
  offered: offered as PerSecond | null,
  completed: completed as PerSecond | null,
  failed: failed as PerSecond | null,
});

test.each([
  { what: "met where all are answered", found: {}, sp: 1 },
  // 18 of 20 is 0.9.
  { what: "just met", found: { completed: 18, failed: 2 }, sp: 1 },
  // 9 of 20 is 0.45, half of 0.9.
  { what: "missed by a half", found: { completed: 9, failed: 11 }, sp: 0.5 },
  { what: "missed by all", found: { completed: 0, failed: 20 }, sp: 0 },
  { what: "missed while all still wait", found: { completed: 0, failed: 0 }, sp: 0 },
  // Of 20 requests one may still be under way: 19 are due.
  { what: "met while a twentieth is under way", found: { completed: 19 }, sp: 1 },
  // 8.55 of the 19 that are due is 0.45.
  { what: "missed where more than that is not answered", found: { completed: 8.55 }, sp: 0.5 },
  { what: "judged by what finished, where that is more", found: { offered: 0, completed: 9, failed: 11 }, sp: 0.5 },
  { what: "judged by what finished, where the offer is unknown", found: { offered: null, completed: 40 }, sp: 1 },
  { what: "met at night", found: { offered: 0, completed: 0 }, sp: 1 },
  { what: "met at night, whatever else is unknown", found: { offered: 0, completed: null, failed: null }, sp: 1 },
  { what: "not to be judged without anything", found: { offered: null, completed: 0 }, sp: null },
  { what: "not to be judged where the answers are unknown", found: { completed: null }, sp: null },
  { what: "not to be judged where the failures are unknown", found: { failed: null }, sp: null },
])("an availability SLO is $what", ({ found, sp }) => {
  const preserved = sloPreservation(nines, measured(found));
  if (sp === null) expect(preserved).toBeNull();
  else expect(preserved).toBeCloseTo(sp, 12);
});

test("three nines are missed by two requests in a thousand", () => {
  const thousand = measured({ offered: 1_000, completed: 998, failed: 2 });
  expect(sloPreservation({ kind: "availability", target: ratio(0.999) }, thousand)).toBe(0.998 / 0.999);
});

test("it is a promise about answers, which gives no warning", () => {
  expect(sloJudges(nines)).toBe("answers");
  expect(sloMargin(nines, measured({}), 1)).toBe(1);
  expect(sloMargin(nines, measured({}), 0.75)).toBe(-0.25);
});

test("it is between 0 and 1, and never better for a service that sheds more", () => {
  const amount = fc.integer({ min: 0, max: 20_000 }).map((n) => n / 40);
  fc.assert(
    fc.property(fc.tuple(amount, amount, amount), amount, ([offered, completed, failed], worse) => {
      const sp = (found: Found): number => sloPreservation(nines, measured(found)) ?? Number.NaN;
      const now = sp({ offered, completed, failed });
      expect(now).toBeGreaterThanOrEqual(0);
      expect(now).toBeLessThanOrEqual(1);
      expect(sp({ offered, completed, failed: failed + worse })).toBeLessThanOrEqual(now);
      expect(sp({ offered, completed: completed + worse, failed })).toBeGreaterThanOrEqual(now);
    }),
    { seed: 3 },
  );
});

test.each([0, -1, 99.9, Number.NaN, Number.POSITIVE_INFINITY])("a share of %s is refused", (target) => {
  expect(parseSlo({ kind: "availability", target: ratio(target) })).toMatchObject({
    ok: false,
    failure: { code: "slo.invalid" },
  });
});

test("every request may be promised", () => {
  expect(parseSlo({ kind: "availability", target: ratio(1) })).toMatchObject({ ok: true });
});
