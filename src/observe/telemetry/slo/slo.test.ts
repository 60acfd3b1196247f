import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ms, PerSecond } from "../../../base/index.ts";
import { milliseconds, perSecond } from "../../../base/index.ts";
import type { Slo, SloMeasures } from "./index.ts";
import { parseSlo, sloPreservation } from "./index.ts";

const p99: Slo = { kind: "latency", quantile: 0.99, target: milliseconds(100) };
const fifty: Slo = { kind: "throughput", target: perSecond(50) };

interface Found {
  readonly latency?: number | null;
  readonly offered?: number | null;
  readonly completed?: number | null;
  readonly failed?: number | null;
}
const measured = ({ latency = 80, offered = 20, completed = 20, failed = 0 }: Found): SloMeasures => ({
  latency: latency as Ms | null,
  offered: offered as PerSecond | null,
  completed: completed as PerSecond | null,
  failed: failed as PerSecond | null,
});

describe("a latency SLO", () => {
  test.each([
    { what: "met", found: { latency: 80 }, sp: 1 },
    { what: "just met", found: { latency: 100 }, sp: 1 },
    { what: "missed twofold", found: { latency: 200 }, sp: 0.5 },
    { what: "met by nobody's requests", found: { latency: null, offered: 0, completed: 0 }, sp: 1 },
    {
      what: "missed by all: they came and none was answered",
      found: { latency: null, completed: 0, failed: 20 },
      sp: 0,
    },
    { what: "missed while all still wait", found: { latency: null, completed: 0 }, sp: 0 },
    { what: "not to be judged while its value is late", found: { latency: null }, sp: null },
    { what: "not to be judged without anything", found: { latency: null, offered: null, completed: null }, sp: null },
    // 18 of 20 answered: 0.9/0.99
    { what: "not met by the fast ones alone", found: { completed: 18, failed: 2 }, sp: 0.9 / 0.99 },
    { what: "forgiving of the hundredth request", found: { completed: 99, failed: 1 }, sp: 1 },
    { what: "both slow and shed", found: { latency: 200, completed: 10, failed: 10 }, sp: 0.5 * (0.5 / 0.99) },
  ])("is $what", ({ found, sp }) => {
    const preserved = sloPreservation(p99, measured(found));
    if (sp === null) expect(preserved).toBeNull();
    else expect(preserved).toBeCloseTo(sp, 12);
  });
});

describe("a throughput SLO", () => {
  test.each([
    { what: "met", found: { offered: 60, completed: 55 }, sp: 1 },
    { what: "missed by a half", found: { offered: 60, completed: 25 }, sp: 0.5 },
    { what: "judged by what was offered, where that is less", found: { offered: 20, completed: 20 }, sp: 1 },
    // Of 20 requests one may still be under way: 19 are due.
    { what: "met while a twentieth of the requests is under way", found: { offered: 20, completed: 19 }, sp: 1 },
    { what: "missed where more than that is not answered", found: { offered: 20, completed: 9.5 }, sp: 0.5 },
    // 0.95 · 51 is less than the target of 50.
    { what: "as forgiving of an offer at the target", found: { offered: 51, completed: 48.45 }, sp: 1 },
    { what: "not forgiving of much more than the target", found: { offered: 1000, completed: 49 }, sp: 0.98 },
    { what: "met at night", found: { offered: 0, completed: 0 }, sp: 1 },
    { what: "met by working off a backlog", found: { offered: 10, completed: 30 }, sp: 1 },
    { what: "met whatever was offered", found: { offered: null, completed: 50 }, sp: 1 },
    { what: "not to be judged where the offer is unknown", found: { offered: null, completed: 40 }, sp: null },
    { what: "not to be judged where the answers are unknown", found: { completed: null }, sp: null },
  ])("is $what", ({ found, sp }) => {
    expect(sloPreservation(fifty, measured(found))).toBe(sp);
  });
});

test("without an SLO all is well, whatever is measured", () => {
  expect(sloPreservation({ kind: "none" }, measured({ latency: null, offered: null, completed: null }))).toBe(1);
});

test("preservation is between 0 and 1, and never better for a slower or a shedding service", () => {
  // Evenly spread, which `fc.double` is not: most of its numbers are tiny.
  const amount = fc.integer({ min: 0, max: 20_000 }).map((n) => n / 40);
  fc.assert(
    fc.property(fc.constantFrom(p99, fifty), fc.tuple(amount, amount, amount, amount), amount, (slo, values, worse) => {
      const [latency, offered, completed, failed] = values;
      const sp = (found: Found): number => sloPreservation(slo, measured(found)) ?? Number.NaN;
      const now = sp({ latency, offered, completed, failed });
      expect(now).toBeGreaterThanOrEqual(0);
      expect(now).toBeLessThanOrEqual(1);
      expect(sp({ latency: latency + worse, offered, completed, failed })).toBeLessThanOrEqual(now);
      expect(sp({ latency, offered, completed, failed: failed + worse })).toBeLessThanOrEqual(now);
      expect(sp({ latency, offered, completed: completed + worse, failed })).toBeGreaterThanOrEqual(now);
    }),
    { seed: 3 },
  );
});

test.each([
  { kind: "latency", quantile: 99, target: milliseconds(100) },
  { kind: "latency", quantile: 0, target: milliseconds(100) },
  { kind: "latency", quantile: 0.99, target: milliseconds(0) },
  { kind: "throughput", target: perSecond(Number.NaN) },
] as const)("an SLO that nothing can be judged by is refused (%#)", (slo) => {
  expect(parseSlo(slo)).toMatchObject({ ok: false, failure: { code: "slo.invalid" } });
});
