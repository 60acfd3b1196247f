import { expect, test } from "vitest";
import type { Allocation } from "../../act/index.ts";
import { ratio } from "../../base/index.ts";
import type { SloDocument, Trouble } from "../../contract/index.ts";
import { troubleText } from "../../contract/index.ts";
import type { Measured } from "../../control/index.ts";
import { serviceView } from "../../control/tasks/mitigation/index.ts";
import { podView } from "../../control/tasks/pods/index.ts";
import type { TroubleView } from "../../plane/index.ts";
import { TroubleWatch } from "../../plane/index.ts";

const slo: SloDocument = { kind: "latency", quantile: 0.99, target: 400 };
const task = { alpha: 0.5, utilisation: { cpu: ratio(1), memory: ratio(1) } };
const watchOf = (since: number | null = null, most = 12) =>
  new TroubleWatch({ since, view: podView({ task, most }), fallback: "HPA and VPA" });

type Change = Partial<Measured> & { readonly have?: Allocation | TroubleView["have"] };

function view(step: number, change: Change = {}): TroubleView {
  const { have = { replicas: 2, cpu: 1_000, memory: 1e9 }, ...measured } = change;
  return {
    at: step * 15_000,
    slo,
    acting: "fallback",
    causes: [],
    have,
    measured: {
      load: 20,
      latency: 900,
      preservation: 400 / 900,
      ready: 2,
      use: { cpu: 1_900, memory: 1e9 },
      reward: 1,
      cost: 0.001,
      sums: {},
      harmed: 0,
      ...measured,
    },
  };
}

const said = (trouble: Trouble | null): string => (trouble === null ? "" : troubleText(trouble));

const good = { preservation: 1, latency: 100 };

test("six missed steps of the last twelve are trouble, from the first of them on, and the short dimension is named", () => {
  const watch = watchOf();
  expect(watch.see(view(0, good))).toBeNull();
  for (let step = 1; step <= 5; step++) expect(watch.see(view(step))).toBeNull();
  // The first miss was at 15 s and this one is at 90 s.
  expect(watch.see(view(6))).toEqual({
    since: 15_000,
    what: "Misses its SLO since 00:00 (900 ms, promised 400 ms at p99)",
    why: "CPU is short, 95 % of it is used; HPA and VPA kept 2 pods",
  });
});

test("it is over when only one of twelve steps missed", () => {
  const watch = watchOf(0);
  for (let step = 0; step < 2; step++) watch.see(view(step));
  for (let step = 2; step < 12; step++) expect(watch.see(view(step, good))).not.toBeNull();
  expect(watch.see(view(12, good))).toBeNull();
});

test.each([
  [{ harmed: 2 }, /memory is short, 2 pods were killed for it/],
  [{ ready: 1 }, /replicas are short, 1 of 2 are ready/],
  [{ use: { cpu: 200, memory: 1.99e9 } }, /memory is short, 100 % of it is used/],
  [{ use: { cpu: 200, memory: 1e9 } }, /nothing is used up \(CPU 10 %, memory 50 %\), so pods are too slow/],
])("%o is told as what it is", (change, words) => {
  expect(said(watchOf(0).see(view(0, change)))).toMatch(words);
});

test("known causes are named first", () => {
  const causes = ["2.5 times its usual requests come", "release 2.4 needs 1.8 times the CPU per request"];
  expect(said(watchOf(0).see({ ...view(0), causes }))).toMatch(
    /: 2\.5 times its usual requests come; release 2\.4 needs 1\.8 times the CPU per request; CPU is short/,
  );
  // Nobody has to guess where the cause is known.
  const calm = view(0, { use: { cpu: 200, memory: 1e9 } });
  expect(said(watchOf(0).see({ ...calm, causes }))).toMatch(/; nothing is used up \(CPU 10 %, memory 50 %\); HPA/);
});

test("when it began is told by the cluster's clock, with the day where that is another one", () => {
  const since = Date.UTC(2026, 10, 16, 14, 3);
  const at = (hours: number) => watchOf(since).see(view((since + hours * 3_600_000) / 15_000))?.what;
  expect(at(1)).toMatch(/^Misses its SLO since 14:03 \(/);
  expect(at(30)).toMatch(/^Misses its SLO since 2026-11-16 14:03 \(/);
});

test.each([
  [{ replicas: 5, cpu: 1_000, memory: 1e9 }, "the agent gave 3 more pods."],
  [{ replicas: 3, cpu: 1_400, memory: 1e9 }, "the agent gave 1 more pod and 1.4 instead of 1 cores a pod."],
  [{ replicas: 1, cpu: 1_050, memory: 1.5e9 }, "the agent gave 1 fewer pod and 1431 instead of 954 MiB a pod."],
  [{ replicas: 2, cpu: 950, memory: 1e9 }, "the agent kept 2 pods."],
])("what was done since the first miss is told: %o", (have, words) => {
  const watch = watchOf();
  for (let step = 0; step < 6; step++) watch.see(view(step));
  const seen = watch.see({ ...view(6, { have, ready: have.replicas }), acting: "learner" });
  expect(said(seen).endsWith(`; ${words}`)).toBe(true);
});

test("where there may be no more pods, that is told", () => {
  const seen = watchOf(0, 2).see({ ...view(0), acting: "learner" });
  expect(said(seen)).toMatch(/; the agent kept 2 pods, the most there may be\.$/);
});

test("where nobody acts, that is told", () => {
  expect(said(watchOf(0).see({ ...view(0), acting: "nobody" }))).toMatch(/; nobody acts\.$/);
});

const told = (change: Change) => said(watchOf(0).see(view(0, change)));

test("where those that were answered were fast enough, the unanswered are what was missed", () => {
  // A p99 forgives one in a hundred: 0.5 of it kept is 49.5 % answered.
  expect(told({ latency: 163, preservation: 0.5 })).toMatch(
    /^Misses its SLO since 00:00 \(only 49\.5 % of requests answered, promised 99 % within 400 ms\):/,
  );
  // 0.9899 answered is no 99 %, however it is rounded.
  expect(told({ latency: 163, preservation: 0.9899 / 0.99 })).toMatch(/only 98\.9 % of requests answered/);
});

test("slow and unanswered are both told", () => {
  // 400 of 800 ms is a half, and 49.5 of 99 % another half.
  expect(told({ latency: 800, preservation: 0.25 })).toMatch(
    /^Misses its SLO since 00:00 \(800 ms, promised 400 ms at p99; only 49\.5 % of requests answered\)/,
  );
  expect(told({ latency: 400.2, preservation: 400 / 400.2 })).toMatch(
    /^Misses its SLO since 00:00 \(401 ms, promised 400 ms at p99\)/,
  );
  expect(told({ latency: null, preservation: 0 })).toMatch(
    /^Misses its SLO since 00:00 \(no answers, promised 400 ms at p99\)/,
  );
});

test("a step that kept it amid trouble is not told as a miss", () => {
  const watch = watchOf(0);
  for (let step = 0; step < 3; step++) watch.see(view(step));
  expect(said(watch.see(view(3, good)))).toMatch(
    /^Misses its SLO since 00:00, in 3 of the last 4 steps \(the newest kept it\):/,
  );
  expect(said(watch.see(view(4, { latency: null, preservation: null })))).toMatch(
    /^Misses its SLO since 00:00, in 3 of the last 5 steps \(the newest could not be measured\):/,
  );
});

test("a throughput is told in per cent of what was promised", () => {
  const seen = watchOf(0).see({ ...view(0, { preservation: 0.5 }), slo: { kind: "throughput", target: 20 } });
  expect(said(seen)).toMatch(/^Misses its SLO since 00:00 \(50 % of the promised throughput\)/);
});

test("what has no SLO of its own is told by what it is judged by", () => {
  const watch = new TroubleWatch({ since: 0, view: serviceView, fallback: "HPA" });
  const have = { replicas: 1, cpu: 2, memory: 100, llc: 4, io: 50, network: 50 };
  const use = { cpu: 1.9, memory: 10, llc: 4, io: 5, network: 5 };
  const late = { have, use, ready: 1, latency: null, preservation: 0.451 };
  expect(watch.see({ ...view(0, late), slo: { kind: "none" } })).toEqual({
    since: 0,
    what: "Misses the SLOs of requests through it since 00:00 (45.1 % of what is promised)",
    why: "CPU is short, 95 % of it is used; HPA kept 1 container of 2 cores",
  });
});
