import { describe, expect, test } from "vitest";
import { milliseconds, minutes, seconds } from "../../../base/index.ts";
import type { HpaPod, PodReading } from "./pods.ts";
import { groupPods } from "./pods.ts";

const now = milliseconds(1_700_000_000_000);
const ago = (s: number) => milliseconds(now - s * 1000);
const config = { cpuInitializationPeriod: minutes(5), initialReadinessDelay: seconds(30) };

interface Given {
  readonly startedAgo?: number;
  readonly ready?: readonly ["True" | "False" | "Unknown", number];
  readonly readAgo?: number;
  readonly phase?: HpaPod["phase"];
}

function groupOf(
  { startedAgo, ready, readAgo = 0, phase = "Running" }: Given,
  resource: "cpu" | "memory" = "cpu",
): string {
  const pod: HpaPod = {
    name: "p",
    phase,
    ...(startedAgo !== undefined && { startedAt: ago(startedAgo) }),
    ...(ready && { ready: { status: ready[0], since: ago(ready[1]) } }),
    containers: [],
  };
  const readings = new Map<string, PodReading>([["p", { milli: 1, at: ago(readAgo), window: seconds(60) }]]);
  const groups = groupPods([pod], readings, { config, resource, now });
  if (groups.ignored.has("p")) return "ignored";
  if (groups.unready.has("p")) return "unready";
  return groups.missing.has("p") ? "missing" : "ready";
}

describe("a pod within the initialisation period of five minutes", () => {
  test.each([
    { what: "counts once it was ready for a whole window", ready: ["True", 60], readAgo: 0, group: "ready" },
    {
      what: "does not count when the reading began before it was ready",
      ready: ["True", 59],
      readAgo: 0,
      group: "unready",
    },
    { what: "does not count with an old reading", ready: ["True", 90], readAgo: 31, group: "unready" },
    { what: "does not count when it stopped being ready", ready: ["False", 200], readAgo: 0, group: "unready" },
    {
      what: "counts when its readiness is unknown for long enough",
      ready: ["Unknown", 60],
      readAgo: 0,
      group: "ready",
    },
  ] as const)("$what", ({ ready, readAgo, group }) => {
    expect(groupOf({ startedAgo: 299, ready, readAgo })).toBe(group);
  });
});

describe("a pod at or beyond five minutes", () => {
  test.each([
    { what: "counts with an old reading", startedAgo: 300, ready: ["True", 10], group: "ready" },
    { what: "counts though not ready, when it was ready once", startedAgo: 300, ready: ["False", 270], group: "ready" },
    { what: "does not count when it never was ready", startedAgo: 300, ready: ["False", 271], group: "unready" },
    { what: "does not count without a condition", startedAgo: 300, group: "unready" },
  ] as const)("$what", ({ group, ...given }) => {
    expect(groupOf(given)).toBe(group);
  });
});

test("a pod without a start time does not count", () => {
  expect(groupOf({ ready: ["True", 900] })).toBe("unready");
});

test("readiness is asked for CPU only", () => {
  expect(groupOf({ startedAgo: 10, ready: ["False", 5] }, "memory")).toBe("ready");
});

test("a pending pod is unready and a failed one ignored, whatever was measured", () => {
  expect(groupOf({ phase: "Pending" }, "memory")).toBe("unready");
  expect(groupOf({ phase: "Failed" }, "memory")).toBe("ignored");
});
