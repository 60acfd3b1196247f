import { expect, test } from "vitest";
import type { Sample, SloDocument } from "../../server/index.ts";
import type { TroubleView } from "./trouble.ts";
import { TroubleWatch } from "./trouble.ts";

const slo: SloDocument = { kind: "latency", percentile: 0.99, target: 400 };

function view(step: number, change: Partial<Sample> & { readonly oomKills?: number } = {}): TroubleView {
  const { oomKills = 0, ...sample } = change;
  return {
    slo,
    acting: "The rules act.",
    oomKills,
    faults: [],
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
    what: "SLO missed (900 ms, promised 400 ms at p99) for 1 min: CPU is short, 95 % of it is used. The rules act.",
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
  [{ use: { cpu: 200, memory: 1e9 } }, /no dimension is short \(CPU 10 %, memory 50 %\)/],
])("%o is told as what it is", (change, words) => {
  expect(new TroubleWatch(0).see(view(0, change))?.what).toMatch(words);
});

test("an injected fault is named first", () => {
  const seen = new TroubleWatch(0).see({ ...view(0), faults: ["2.5 times its usual requests come"] });
  expect(seen?.what).toMatch(/for 1 min: 2\.5 times its usual requests come; CPU is short/);
});

const told = (change: Partial<Sample>) => new TroubleWatch(0).see(view(0, change))?.what;

test("where those that were answered were fast enough, the unanswered are what was missed", () => {
  // A p99 forgives one in a hundred: 0.5 of it kept is 49.5 % answered.
  expect(told({ latency: 163, preservation: 0.5 })).toMatch(
    /^SLO missed \(only 49\.5 % of requests answered, promised 99 % within 400 ms\) for/,
  );
  // 0.9899 answered is no 99 %, however it is rounded.
  expect(told({ latency: 163, preservation: 0.9899 / 0.99 })).toMatch(/only 98\.9 % of requests answered/);
});

test("slow and unanswered are both told", () => {
  // 400 of 800 ms is a half, and 49.5 of 99 % another half.
  expect(told({ latency: 800, preservation: 0.25 })).toMatch(
    /^SLO missed \(800 ms, promised 400 ms at p99; only 49\.5 % of requests answered\)/,
  );
  expect(told({ latency: 400.2, preservation: 400 / 400.2 })).toMatch(/^SLO missed \(401 ms, promised 400 ms at p99\)/);
  expect(told({ latency: null, preservation: 0 })).toMatch(/^SLO missed \(no answers, promised 400 ms at p99\)/);
});

test("a step that kept it amid trouble is not told as a miss", () => {
  const watch = new TroubleWatch(0);
  for (let step = 0; step < 3; step++) watch.see(view(step));
  expect(watch.see(view(3, good))?.what).toMatch(/^SLO missed in 3 of the last 4 steps \(the newest kept it\) for/);
  expect(watch.see(view(4, { latency: null, preservation: null }))?.what).toMatch(
    /^SLO missed in 3 of the last 5 steps \(the newest could not be measured\) for/,
  );
});

test("a throughput is told in per cent of what was promised", () => {
  const seen = new TroubleWatch(0).see({ ...view(0, { preservation: 0.5 }), slo: { kind: "throughput", target: 20 } });
  expect(seen?.what).toMatch(/^SLO missed \(50 % of the promised throughput\)/);
});
