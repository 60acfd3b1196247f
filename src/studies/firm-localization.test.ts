import { describe, expect, test } from "vitest";
import { DATASETS_VARIABLE } from "../adapters/datasets/index.ts";
import type { CampaignsResult, SingleResult } from "./firm/localization-campaigns.ts";
import type { FaultResult } from "./firm/localization-recorded.ts";
import { firmLocalization } from "./firm-localization.ts";
import { firmTraces } from "./firm-traces.ts";
import type { StudyJob } from "./study.ts";

const config = firmLocalization.config({ quick: true });

/** Two culprits among twelve others, of which the stated number score as high as the second culprit. */
const single = (kind: SingleResult["kind"], ahead: number): SingleResult => ({
  kind,
  application: "media",
  all: [
    { score: 0.9, isCulprit: true },
    { score: 0.4, isCulprit: true },
    ...Array.from({ length: 12 }, (_, k) => ({ score: k < ahead ? 0.5 : 0.1, isCulprit: false })),
  ],
  printed: [
    { score: 0.2, isCulprit: true },
    { score: 0.3, isCulprit: false },
  ],
  isFirst: true,
  isResourceRight: kind === "workload-variation" ? null : kind !== "llc",
  saving: { expected: 12, measured: 10 },
});

const result = (ahead: number): CampaignsResult => ({
  single: [single("cpu", ahead), single("llc", 0), single("workload-variation", 0)],
  multi: [
    {
      application: "media",
      all: [
        { score: 0.9, isCulprit: true },
        { score: -1, isCulprit: true },
        { score: 0.7, isCulprit: false },
        ...Array.from({ length: 17 }, () => ({ score: 0.1, isCulprit: false })),
      ],
    },
  ],
  threshold: 0.5,
  learned: { culprits: 1, others: 1 },
});

const rows = [0, 1, 2].map((ahead) =>
  firmLocalization.rows(
    [1, 2].map((seed) => ({ seed, unit: "campaigns", result: result(ahead) })),
    config,
  ),
);
const row = (id: string, ahead = 0) => rows[ahead]?.find((one) => one.id === id);

describe("the rows of firm-localization", () => {
  test("count culprits that are found with at most 0.16 false positives, by kind", () => {
    expect(row("single-cpu")).toMatchObject({ ours: { mean: 1 }, holds: true });
    // One of twelve is allowed, two are 0.1667.
    expect(row("single-cpu", 1)).toMatchObject({ ours: { mean: 1 } });
    expect(row("single-cpu", 2)).toMatchObject({ ours: { mean: 0.5 }, holds: false });
    expect(row("single-printed")).toMatchObject({ ours: { mean: 0 }, holds: false });
    expect(row("single-io-bandwidth")).toBeUndefined();
  });

  test("tell accuracy with several anomalies beside that of calling nobody a culprit", () => {
    // Of twenty: the culprit that was no suspect is missed, one other is accused.
    expect(row("multi")?.ours.mean).toBeCloseTo(18 / 20, 12);
    expect(row("multi-media")).toMatchObject({ holds: false });
    expect(row("multi-gain")?.ours.mean).toBeCloseTo(0, 12);
    expect(row("multi-found")?.ours.mean).toBe(0.5);
    // One of two culprits is named, seventeen of eighteen others are not.
    expect(row("multi-balanced")?.ours.mean).toBeCloseTo((1 / 2 + 17 / 18) / 2, 12);
  });

  test("tell the resource, where there is one, and the error of the expected saving", () => {
    expect(row("resource")?.ours.mean).toBe(0.5);
    expect(row("saving-error")?.ours.mean).toBeCloseTo(0.2, 12);
  });

  test("claims are those of the issue, seeds begin where nothing was chosen, and quick is smaller", () => {
    expect(row("single")?.claim).toContain("0.97");
    expect(row("multi")?.claim).toContain("0.92");
    expect(firmLocalization.seeds).toEqual({ quick: 2, full: 10, first: 511 });
    const full = firmLocalization.config({ quick: false });
    expect(config.trainPerKind).toBeLessThan(full.trainPerKind);
    expect(config.judgeWindows).toBeLessThan(full.judgeWindows);
  });
});

describe("the rows of firm-traces", () => {
  const fault = (type: string, [learned, latency]: readonly [number, number]): FaultResult => ({
    fault: 1,
    type,
    service: "cart",
    suspects: 10,
    place: { learned, spans: 2, untrained: 4, latency, variance: 0 },
  });
  const recorded = firmTraces.rows(
    [
      { seed: 1, unit: "hipster", result: [fault("cpu_contention", [1, 2]), fault("exception", [5, 1])] },
      { seed: 1, unit: "train-ticket", result: [fault("network_delay", [3, 9]), fault("network_delay", [1, 9])] },
    ],
    firmTraces.config({ quick: true }),
  );
  const found = (id: string) => recorded.find((one) => one.id === id)?.ours;

  test("count faults among the first one and three, per application and by whether they take time", () => {
    expect([found("top1-hipster")?.mean, found("top3-hipster")?.mean]).toEqual([0.5, 0.5]);
    expect([found("top1-train-ticket")?.mean, found("top3-train-ticket")?.mean]).toEqual([0.5, 1]);
    expect([found("top1-timed")?.mean, found("top3-code")?.mean]).toEqual([2 / 3, 0]);
    expect(found("top1-untrained")?.mean).toBe(0);
    expect(found("top1-spans")?.mean).toBe(0);
  });

  test("a service that is not ranked at all is not found, and the margin over a rule is a difference", () => {
    expect(found("top1-variance")?.mean).toBe(0);
    expect(found("over-latency")?.mean).toBe(0.25);
    expect(found("over-variance")?.mean).toBe(0.5);
  });

  test("without the data set one sentence says which, from where, and where to put it", async () => {
    const before = process.env[DATASETS_VARIABLE];
    delete process.env[DATASETS_VARIABLE];
    try {
      const job = { seed: 1, unit: "hipster", config: firmTraces.config({ quick: true }), progress: () => {} };
      await expect(async () => firmTraces.runUnit(job as unknown as StudyJob<never>)).rejects.toThrow(
        /nezha-traces.*COXSWAIN_DATASETS/,
      );
    } finally {
      if (before !== undefined) process.env[DATASETS_VARIABLE] = before;
    }
  });
});
