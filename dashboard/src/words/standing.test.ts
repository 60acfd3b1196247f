import { expect, test } from "vitest";
import { noAccount, type Sample, type SloDocument } from "../../../src/contract/index.ts";
import {
  compareAttainment,
  compareCost,
  compareUse,
  headline,
  missesSince,
  releaseWords,
  standingOf,
} from "./standing.ts";

const slo: SloDocument = { kind: "latency", quantile: 0.95, target: 100 };
const sample = (latency: number | null): Sample => ({
  at: 600_000,
  load: 10,
  latency,
  preservation: null,
  expected: null,
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

test("trouble is said in its own words, whatever the latency", () => {
  const trouble = { since: 0, what: "Misses its SLO since 14:03 (no answers)", why: "a node: lost" };
  expect(standingOf({ slo, now: sample(5), trouble })).toEqual({
    kind: "trouble",
    label: "In trouble",
    sentence: "Misses its SLO since 14:03 (no answers): a node: lost.",
  });
});

test("what has no SLO of its own stands by that of others", () => {
  const of = (preservation: number | null) =>
    standingOf({
      slo: { kind: "none" },
      judgedBy: "the SLOs of requests through it",
      now: { ...sample(null), preservation },
      trouble: null,
    });
  expect(of(1)).toEqual({ kind: "met", label: "SLOs met", sentence: "The SLOs of requests through it are kept." });
  expect(of(0.45)).toEqual({
    kind: "over",
    label: "SLOs missed",
    sentence: "The SLOs of requests through it are kept to 45.0 %.",
  });
  expect(of(null).kind).toBe("unknown");
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
  const ours = { ...noAccount, steps: 10, violations: 2, cost: 3 };
  const twin = { ...noAccount, steps: 10, violations: 1, cost: 4 };
  expect(compareCost({ ours, twin })).toEqual({ ours: 3, twin: 4, difference: -0.25, verdict: "better" });
  expect(compareAttainment({ ours, twin }).verdict).toBe("worse");
  expect(compareCost({ ours, twin: null }).difference).toBeNull();
});

test("use is compared by name, and is unknown where an account has no such sums", () => {
  const ours = { ...noAccount, sums: { cpuUsed: 60, cpuGranted: 100 } };
  const twin = { ...noAccount, sums: { cpuUsed: 30, cpuGranted: 100 } };
  expect(compareUse("cpu", { ours, twin })).toEqual({ ours: 0.6, twin: 0.3, difference: 0.3, verdict: "better" });
  expect(compareUse("llc", { ours, twin })).toMatchObject({ ours: null, difference: null });
  expect(compareUse(undefined, { ours, twin: null })).toMatchObject({ ours: null, twin: null });
});

test("the headline names who is in trouble, and says so when nobody is", () => {
  const met = { title: "A", standing: standingOf({ slo, now: sample(1), trouble: null }) };
  const bad = (title: string) => ({
    title,
    standing: standingOf({ slo, now: sample(1), trouble: { since: 0, what: "x", why: "" } }),
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
