import { expect, test } from "vitest";
import { seededRng } from "../base/index.ts";
import type { EpisodeFigures } from "./firm/episode.ts";
import type { Mitigation, Outcome } from "./firm/violations.ts";
import { firmEndToEnd, swinging } from "./firm-endtoend.ts";
import { firmMitigation } from "./firm-mitigation.ts";
import type { StudyRow } from "./study.ts";

const quiet: EpisodeFigures = {
  seconds: 100,
  requests: 1_000,
  late: 0,
  timedOut: 0,
  dropped: 0,
  p50: 10,
  p99: 20,
  brokenShare: 0,
  requestedCores: 10,
  usedCores: 5,
  mitigations: [],
  actions: 0,
  refusals: 0,
};
const row = (rows: readonly StudyRow[], id: string): StudyRow => rows.find((one) => one.id === id) as StudyRow;

/** Two anomalies per method: one that can be mended, and a network delay that nobody can mend. */
function mitigated(outcome: Outcome, lasted: number): EpisodeFigures {
  const base = { target: { on: "requests", request: "all" }, onset: 1 } as const;
  const mitigations: Mitigation[] = [
    { ...base, injection: "0-cpu", kind: "cpu", outcome, lasted },
    { ...base, injection: "1-network-delay", kind: "network-delay", outcome: "censored", lasted: 120 },
  ];
  return { ...quiet, mitigations };
}

test("times to mitigate are compared over anomalies that break an SLO for good and can be mended", () => {
  const outcomes: Readonly<Record<string, EpisodeFigures>> = {
    nobody: mitigated("censored", 120),
    oracle: mitigated("unbroken", 0),
    aimd: mitigated("mitigated", 10),
    kubernetes: mitigated("censored", 120),
    autothrottle: mitigated("mitigated", 1),
    firm: mitigated("mitigated", 2),
  };
  const results = [501, 502].flatMap((seed) =>
    Object.entries(outcomes).map(([method, result]) => ({ seed, unit: `hotel-reservation/${method}`, result })),
  );
  const rows = firmMitigation.rows(results, firmMitigation.config({ quick: true }));
  expect(row(rows, "faster-than-aimd").ours.mean).toBeCloseTo(5, 6);
  expect(row(rows, "faster-than-kubernetes")).toMatchObject({ holds: true });
  expect(row(rows, "faster-than-kubernetes").ours.mean).toBeCloseTo(60, 6);
  expect(row(rows, "faster-than-autothrottle")).toMatchObject({ holds: false });
  expect(row(rows, "time-firm").ours.mean).toBe(2);
  expect(row(rows, "time-kubernetes").what).toContain("0 of 2 mended");
  expect(row(rows, "counted").ours.mean).toBe(0.5);
  expect(row(rows, "counted").what).toContain("2 could not be mended by anybody (network-delay)");
});

test("violations are late, given up and refused requests; CPU is what limits ask for", () => {
  const figures: Readonly<Record<string, EpisodeFigures>> = {
    nobody: { ...quiet, late: 900 },
    oracle: { ...quiet, late: 4 },
    "kubernetes-default": { ...quiet, late: 500 },
    kubernetes: { ...quiet, late: 100, dropped: 50, timedOut: 49, requestedCores: 20 },
    aimd: { ...quiet, late: 39, requestedCores: 12 },
    autothrottle: { ...quiet, late: 19, requestedCores: 6 },
    firm: { ...quiet, late: 9, requestedCores: 8 },
  };
  const results = [501, 502].flatMap((seed) =>
    Object.entries(figures).map(([method, result]) => ({ seed, unit: `hotel-reservation/${method}`, result })),
  );
  const rows = firmEndToEnd.rows(results, firmEndToEnd.config({ quick: true }));
  // One is added to each side's count: 200 / 10 and 40 / 10.
  expect(row(rows, "violations-kubernetes").ours.mean).toBeCloseTo(20, 6);
  expect(row(rows, "violations-kubernetes-best")).toMatchObject({ holds: true });
  expect(row(rows, "violations-aimd").ours.mean).toBeCloseTo(4, 6);
  expect(row(rows, "violations-aimd-best")).toMatchObject({ holds: false });
  expect(row(rows, "cpu-kubernetes").ours.mean).toBeCloseTo(60, 6);
  expect(row(rows, "cpu-aimd").ours.mean).toBeCloseTo(100 / 3, 6);
  expect(row(rows, "parity-violations")).toMatchObject({ holds: true });
  expect(row(rows, "parity-cpu")).toMatchObject({ holds: false });
  expect(row(rows, "violations-oracle").ours.mean).toBeCloseTo(0.5, 6);
  expect(row(rows, "violations-oracle").holds).toBeNull();
});

test("the load swings around its rate and spikes in one minute", () => {
  const load = swinging(seededRng(1), 100, 15);
  expect(load).toHaveLength(15);
  const usual = load.filter((rate) => rate <= 130);
  expect(usual.length).toBeGreaterThanOrEqual(14 - 4);
  expect(Math.max(...load)).toBeLessThanOrEqual(195);
  expect(Math.min(...load)).toBeGreaterThanOrEqual(70);
});
