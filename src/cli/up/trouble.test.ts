import { expect, test } from "vitest";
import type { Sample, SloDocument } from "../../server/index.ts";
import type { TroubleView } from "./trouble.ts";
import { TroubleWatch } from "./trouble.ts";

const slo: SloDocument = { kind: "latency", percentile: 0.99, target: 400 };

function view(step: number, change: Partial<Sample> & { readonly oomKills?: number } = {}): TroubleView {
  const { oomKills = 0, ...sample } = change;
  return {
    slo,
    acting: "fallback",
    oomKills,
    most: 12,
    causes: [],
    sample: {
      at: step * 15_000,
      load: 20,
      latency: 900,
      preservation: 400 / 900,
      ready: 2,
      have: { replicas: 2, cpu: 1_000, memory: 1e9 },
      use: { cpu: 1_900, memory: 1e9 },
      reward: 1,
      cost: 0.001,
      ...sample,
    },
  };
}

const good = { preservation: 1, latency: 100 };

test("six missed steps of the last twelve are trouble, from the first of them on, and the short dimension is named", () => {
  const watch = new TroubleWatch();
  expect(watch.see(view(0, good))).toBeNull();
  for (let step = 1; step <= 5; step++) expect(watch.see(view(step))).toBeNull();
  // The first miss was at 15 s and this one is at 90 s.
  expect(watch.see(view(6))).toEqual({
    since: 15_000,
    what: "Misses its SLO since 00:00 (900 ms, promised 400 ms at p99): CPU is short, 95 % of it is used; HPA and VPA stay at 2 pods.",
  });
});

test("it is over when only one of twelve steps missed", () => {
  const watch = new TroubleWatch(0);
  for (let step = 0; step < 2; step++) watch.see(view(step));
  for (let step = 2; step < 12; step++) expect(watch.see(view(step, good))).not.toBeNull();
  expect(watch.see(view(12, good))).toBeNull();
});

test.each([
  [{ oomKills: 2 }, /memory is short, 2 pods were killed for it/],
  [{ ready: 1 }, /replicas are short, 1 of 2 are ready/],
  [{ use: { cpu: 200, memory: 1.99e9 } }, /memory is short, 100 % of it is used/],
  [{ use: { cpu: 200, memory: 1e9 } }, /nothing is used up \(CPU 10 %, memory 50 %\), so pods are too slow/],
])("%o is told as what it is", (change, words) => {
  expect(new TroubleWatch(0).see(view(0, change))?.what).toMatch(words);
});

test("known causes are named first", () => {
  const causes = ["2.5 times its usual requests come", "release 2.4 needs 1.8 times the CPU per request"];
  expect(new TroubleWatch(0).see({ ...view(0), causes })?.what).toMatch(
    /: 2\.5 times its usual requests come; release 2\.4 needs 1\.8 times the CPU per request; CPU is short/,
  );
  // Nobody has to guess where the cause is known.
  const calm = view(0, { use: { cpu: 200, memory: 1e9 } });
  expect(new TroubleWatch(0).see({ ...calm, causes })?.what).toMatch(
    /; nothing is used up \(CPU 10 %, memory 50 %\); HPA/,
  );
});

test("when it began is told by the cluster's clock, with the day where that is another one", () => {
  const since = Date.UTC(2026, 10, 16, 14, 3);
  const at = (hours: number) => new TroubleWatch(since).see(view((since + hours * 3_600_000) / 15_000))?.what;
  expect(at(1)).toMatch(/^Misses its SLO since 14:03 \(/);
  expect(at(30)).toMatch(/^Misses its SLO since 2026-11-16 14:03 \(/);
});

test.each([
  [{ replicas: 5, cpu: 1_000, memory: 1e9 }, "the agent gave 3 more pods."],
  [{ replicas: 3, cpu: 1_400, memory: 1e9 }, "the agent gave 1 more pod and 1.4 instead of 1 cores a pod."],
  [{ replicas: 1, cpu: 1_050, memory: 1.5e9 }, "the agent gave 1 fewer pod and 1431 instead of 954 MiB a pod."],
  [{ replicas: 2, cpu: 950, memory: 1e9 }, "the agent stays at 2 pods."],
])("what was done since the first miss is told: %o", (have, words) => {
  const watch = new TroubleWatch();
  for (let step = 0; step < 6; step++) watch.see(view(step));
  const seen = watch.see({ ...view(6, { have, ready: have.replicas }), acting: "learner" });
  expect(seen?.what.endsWith(`; ${words}`)).toBe(true);
});

test("where there may be no more pods, that is told", () => {
  const seen = new TroubleWatch(0).see({ ...view(0), acting: "learner", most: 2 });
  expect(seen?.what).toMatch(/; the agent stays at 2 pods, the most there may be\.$/);
});

test("where nobody acts, that is told", () => {
  expect(new TroubleWatch(0).see({ ...view(0), acting: "nobody" })?.what).toMatch(/; nobody acts\.$/);
});

const told = (change: Partial<Sample>) => new TroubleWatch(0).see(view(0, change))?.what;

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
  const watch = new TroubleWatch(0);
  for (let step = 0; step < 3; step++) watch.see(view(step));
  expect(watch.see(view(3, good))?.what).toMatch(
    /^Misses its SLO since 00:00, in 3 of the last 4 steps \(the newest kept it\):/,
  );
  expect(watch.see(view(4, { latency: null, preservation: null }))?.what).toMatch(
    /^Misses its SLO since 00:00, in 3 of the last 5 steps \(the newest could not be measured\):/,
  );
});

test("a throughput is told in per cent of what was promised", () => {
  const seen = new TroubleWatch(0).see({ ...view(0, { preservation: 0.5 }), slo: { kind: "throughput", target: 20 } });
  expect(seen?.what).toMatch(/^Misses its SLO since 00:00 \(50 % of the promised throughput\)/);
});
