import { expect, test } from "vitest";
import type { Sample, SloDocument } from "../../../src/server/plane-contract.ts";
import {
  compareAttainment,
  compareCost,
  headline,
  missesSince,
  NO_ACCOUNT,
  releaseWords,
  standingOf,
  sumAccounts,
} from "./standing.ts";

const slo: SloDocument = { kind: "latency", percentile: 95, target: 100 };
const sample = (latency: number | null): Sample => ({
  at: 600_000,
  load: 10,
  latency,
  preservation: null,
  ready: 1,
  have: { replicas: 1, cpu: 1000, memory: 1 },
  use: { cpu: null, memory: null },
  reward: null,
  cost: 0,
});

test("a latency at its target is met, one above it is over", () => {
  expect(standingOf({ slo, now: sample(100), trouble: null }).label).toBe("SLO met");
  const over = standingOf({ slo, now: sample(101), trouble: null });
  expect([over.label, over.sentence]).toEqual(["Over target", "p95 101 ms, target 100 ms"]);
});

test("trouble is said in its own words and with its age, whatever the latency", () => {
  const trouble = { since: 0, what: "node lost" };
  expect(standingOf({ slo, now: sample(5), trouble })).toEqual({
    kind: "trouble",
    label: "In trouble",
    sentence: "node lost. For 10 min.",
  });
});

test("how long trouble lasts is said once", () => {
  for (const what of [
    "SLO missed (no answers) for 3 min: memory is short.",
    "Misses its SLO since 14:03 (no answers): memory is short.",
    "Misses its SLO since 2026-11-16 14:03 (no answers): memory is short.",
  ])
    expect(standingOf({ slo, now: sample(5), trouble: { since: 0, what } }).sentence).toBe(what);
});

test("a release that needs more says so, one that needs what the first did says nothing", () => {
  const release = { version: "2.4", since: Date.UTC(2026, 10, 16, 9), needs: "1.8 times the CPU per request" };
  expect(releaseWords(release)).toBe("Release 2.4 since 09:00: 1.8 times the CPU per request");
  expect(releaseWords({ ...release, needs: null })).toBeNull();
  expect(releaseWords(null)).toBeNull();
});

test("missed steps after a moment are counted, for both; what was not measured is no miss", () => {
  const history = {
    at: [10, 20, 30, 40],
    ours: { preservation: [0.5, 1, 0.9, null] },
    twin: { preservation: [1, 0.2, 0.3, 0.99] },
  };
  expect(missesSince(history, 10)).toEqual({ ours: 1, twin: 3, of: 3 });
  expect(missesSince(history, 41)).toBeNull();
});

test("requests without an answer break the promise, whatever the others' latency is", () => {
  const silent = { ...sample(null), preservation: 0 };
  expect(standingOf({ slo, now: silent, trouble: null })).toEqual({
    kind: "over",
    label: "Over target",
    sentence: "No request was answered, target 100 ms",
  });
  const shedding = { ...sample(40), preservation: 0.7 };
  expect(standingOf({ slo, now: shedding, trouble: null }).sentence).toBe(
    "p95 40 ms, target 100 ms, but requests went unanswered",
  );
});

test("a throughput is told as the share of what was asked for", () => {
  const throughput: SloDocument = { kind: "throughput", target: 11.2 };
  expect(standingOf({ slo: throughput, now: { ...sample(null), preservation: 1 }, trouble: null }).sentence).toBe(
    "100 % served, target 11 req/s",
  );
});

test("what was not measured is not called met", () => {
  expect(standingOf({ slo, now: sample(null), trouble: null }).kind).toBe("unknown");
  expect(standingOf({ slo, now: null, trouble: null }).kind).toBe("unknown");
});

test("less cost than the twin is better, less attainment is worse, and no twin is no difference", () => {
  const ours = { ...NO_ACCOUNT, steps: 10, violations: 2, cost: 3 };
  const twin = { ...NO_ACCOUNT, steps: 10, violations: 1, cost: 4 };
  expect(compareCost({ ours, twin })).toEqual({ ours: 3, twin: 4, difference: -0.25, verdict: "better" });
  expect(compareAttainment({ ours, twin }).verdict).toBe("worse");
  expect(compareCost({ ours, twin: null }).difference).toBeNull();
});

test("accounts are summed field by field", () => {
  const one = { steps: 1, violations: 2, cost: 3, cpuUsed: 4, cpuGranted: 5, memoryUsed: 6, memoryGranted: 7 };
  expect(sumAccounts([one, one])).toEqual({
    steps: 2,
    violations: 4,
    cost: 6,
    cpuUsed: 8,
    cpuGranted: 10,
    memoryUsed: 12,
    memoryGranted: 14,
  });
});

test("the headline names who is in trouble, and says so when nobody is", () => {
  const met = { title: "A", standing: standingOf({ slo, now: sample(1), trouble: null }) };
  const bad = (title: string) => ({
    title,
    standing: standingOf({ slo, now: sample(1), trouble: { since: 0, what: "x" } }),
  });
  const over = { title: "O", standing: standingOf({ slo, now: sample(101), trouble: null }) };
  expect(headline([met, bad("B"), over])).toEqual({ kind: "trouble", text: "B is in trouble." });
  expect(headline([met, bad("B"), bad("C")]).text).toBe("2 of 3 workloads are in trouble: B and C.");
  expect(headline([met, over])).toEqual({
    kind: "over",
    text: "O is over its target at the moment; no workload is in trouble.",
  });
  expect(headline([met, met])).toEqual({ kind: "met", text: "All 2 workloads are within their SLOs." });
  expect(headline([]).text).toBe("No workload is managed yet.");
});
