import { expect, test } from "vitest";
import { milliseconds, perSecond, ratio } from "../../../../base/index.ts";
import type { Slo } from "../../../../observe/telemetry/index.ts";
import { LEAST_STRAIN, MOST_STRAIN, strainOf } from "./strain.ts";

type SloMeasures = Parameters<typeof strainOf>[1];

const p99: Slo = { kind: "latency", quantile: 0.99, target: milliseconds(100) };
const fifty: Slo = { kind: "throughput", target: perSecond(50) };

interface Found {
  readonly latency?: number | null;
  readonly offered?: number | null;
  readonly completed?: number | null;
  readonly failed?: number | null;
}
const measured = ({ latency = 80, offered = 20, completed = 20, failed = 0 }: Found): SloMeasures =>
  ({ latency, offered, completed, failed }) as SloMeasures;

test.each<{ what: string; found: Found; strain: number | null }>([
  { what: "the logarithm of latency over target", found: { latency: 80 }, strain: Math.log(0.8) },
  { what: "0 at the target", found: { latency: 100 }, strain: 0 },
  { what: "positive beyond it", found: { latency: 150 }, strain: Math.log(1.5) },
  { what: "cut where requests pile up", found: { latency: 5_000 }, strain: MOST_STRAIN },
  { what: "cut where there is more than plenty", found: { latency: 1 }, strain: LEAST_STRAIN },
  // 90 of 100 were answered where one in a hundred may not be: ln(0.99 / 0.9).
  {
    what: "positive where requests failed, however fast the others were",
    found: { completed: 18, failed: 2 },
    strain: Math.log(1.1),
  },
  { what: "unknown where nothing was asked", found: { latency: null, offered: 0, completed: 0 }, strain: null },
  {
    what: "unknown while the first request is under way",
    found: { latency: null, offered: 0.03, completed: 0 },
    strain: null,
  },
  { what: "the most where all failed", found: { latency: null, completed: 0, failed: 20 }, strain: MOST_STRAIN },
])("strain of a latency is $what", ({ found, strain }) => {
  const is = strainOf(p99, measured(found));
  if (strain === null) expect(is).toBeNull();
  else expect(is).toBeCloseTo(strain, 3);
});

test("an SLO of answers is warned by latency: three times the usual one is as near as can be without a miss", () => {
  const usual = Math.log(50);
  expect(strainOf(fifty, measured({ latency: 50 }), usual)).toBeCloseTo(-Math.log(3), 10);
  expect(strainOf(fifty, measured({ latency: 140 }), usual)).toBeCloseTo(Math.log(2.8 / 3), 10);
  expect(strainOf(fifty, measured({ latency: 900 }), usual)).toBe(-0.02);
});

test("before the usual latency is known, an SLO of answers that is kept is far from the limit", () => {
  expect(strainOf(fifty, measured({ latency: 900 }))).toBeCloseTo(-Math.log(3), 10);
});

test("answers that are missing are a miss, unless so few that they may be under way", () => {
  expect(strainOf(fifty, measured({ offered: 20, completed: 10 }))).toBeGreaterThan(0);
  // 0.05 requests per second that are not answered are 1.5 in half a minute.
  expect(strainOf(fifty, measured({ offered: 0.1, completed: 0.05 }))).toBeNull();
});

test("without an SLO there is no strain", () => {
  expect(strainOf({ kind: "none" }, measured({}))).toBeNull();
  expect(
    strainOf({ kind: "availability", target: ratio(0.9) }, measured({ completed: null, latency: null })),
  ).toBeNull();
});
