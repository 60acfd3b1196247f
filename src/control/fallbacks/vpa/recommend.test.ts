/**
 * History and recommendations against hand-worked numbers and against what upstream's own functions answered
 * (kubernetes/autoscaler 55c37cd5eb, VPA 1.8.0-dev; test/fixtures/fallbacks/vpa.json).
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { bytes, mebibytes, millicores, minutes, seconds, unwrap } from "../../../base/index.ts";
import type { VpaConfig } from "./config.ts";
import { defaultVpaConfig, parseVpaConfig } from "./config.ts";
import { bucketOf, bucketStart } from "./histogram.ts";
import type { ContainerAggregate, VpaObservation, VpaState } from "./history.ts";
import { freshVpaState, loadCheckpoint, saveCheckpoint, vpaForget, vpaObserve } from "./history.ts";
import { applyRecommendation, capToPolicy, confidenceOf, vpaRecommend } from "./recommend.ts";

const base = 1_700_000_000;
const at = (s: number) => seconds(base + s);
const day = 86_400;

const cpuAt = (s: number, usage: number): VpaObservation => ({
  kind: "cpu",
  pod: "p",
  container: "c",
  at: at(s),
  usage: millicores(usage),
});
const memoryAt = (s: number, usage: number): VpaObservation => ({
  kind: "memory",
  pod: "p",
  container: "c",
  at: at(s),
  usage: bytes(usage),
});
const oomAt = (s: number, request: number): VpaObservation => ({
  kind: "oom",
  pod: "p",
  container: "c",
  at: at(s),
  request: bytes(request),
});

const observed = (observations: readonly VpaObservation[], config: VpaConfig = defaultVpaConfig): VpaState =>
  vpaObserve(config, freshVpaState, observations).state;
const aggregateOf = (state: VpaState): ContainerAggregate => {
  const aggregate = state.aggregates.c;
  if (aggregate === undefined) throw new Error("no aggregate");
  return aggregate;
};
/** A sample each minute. */
const steady = (count: number, usage: number): VpaObservation[] =>
  Array.from({ length: count }, (_, i) => cpuAt(i * 60, usage));

interface Golden {
  readonly sequences: readonly {
    readonly steps: readonly (readonly ["c" | "m" | "o", number, number, number, number, boolean])[];
    readonly rec: Readonly<Record<string, readonly number[]>>;
  }[];
  readonly warm: readonly { readonly a: number; readonly m: number; readonly rec: readonly number[] }[];
}
const golden = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/fallbacks/vpa.json", import.meta.url), "utf8"),
) as Golden;

const numbersOf = (state: VpaState): Record<string, number[]> =>
  Object.fromEntries(
    vpaRecommend(defaultVpaConfig, state).map(({ container, target, lower, upper }) => [
      container,
      [target, lower, upper].flatMap(({ cpu, memory }) => [Number(cpu), Number(memory)]),
    ]),
  );

describe("the original's answers", () => {
  test("to 24 random sequences of 60 samples and OOM kills", () => {
    expect(golden.sequences).toHaveLength(24);
    for (const { steps, rec } of golden.sequences) {
      let state = freshVpaState;
      for (const [kind, pod, container, s, amount, accepted] of steps) {
        const common = { pod: `p${pod}`, container: `c${container}`, at: at(s) };
        const observation: VpaObservation =
          kind === "c"
            ? { ...common, kind: "cpu", usage: millicores(amount) }
            : kind === "m"
              ? { ...common, kind: "memory", usage: bytes(amount) }
              : { ...common, kind: "oom", request: bytes(amount) };
        const result = vpaObserve(defaultVpaConfig, state, [observation]);
        expect(result.discarded.length === 0).toBe(accepted);
        state = JSON.parse(JSON.stringify(result.state)) as VpaState;
      }
      const ours = numbersOf(state);
      expect(Object.keys(ours)).toEqual(Object.keys(rec).sort());
      // Powers and logarithms may differ in the last bit between Go and JavaScript: one millicore or byte of slack.
      for (const [container, numbers] of Object.entries(rec))
        for (const [index, number] of numbers.entries())
          expect(Math.abs((ours[container]?.[index] ?? Number.NaN) - number)).toBeLessThanOrEqual(
            Math.max(1, number * 1e-14),
          );
    }
  });

  test("to eight days of one sample a minute, loaded at once", () => {
    for (const { a, m, rec } of golden.warm) {
      const observations = Array.from({ length: 8 * 1440 }, (_, i) => [
        cpuAt(i * 60, 50 + ((i * a) % m)),
        memoryAt(i * 60, (200 + ((i * a) % m)) * 1_048_576),
      ]).flat();
      const ours = numbersOf(observed(observations)).c ?? [];
      for (const [index, number] of rec.entries())
        expect(Math.abs((ours[index] ?? Number.NaN) - number)).toBeLessThanOrEqual(1);
    }
  });
});

describe("confidence", () => {
  test.each([
    // min(lifespan/day, samples/1440)
    { what: "nine samples in nine minutes", samples: steady(9, 100), confidence: 8 / 1440 },
    {
      what: "many samples in little time",
      samples: Array.from({ length: 100 }, (_, i) => cpuAt(i, 100)),
      confidence: 99 / day,
    },
    { what: "few samples over a day", samples: [cpuAt(0, 100), cpuAt(day, 100)], confidence: 2 / 1440 },
  ])("of $what", ({ samples, confidence }) => {
    expect(confidenceOf(aggregateOf(observed(samples)), defaultVpaConfig)).toBeCloseTo(confidence, 12);
  });

  test.each([
    // upper · (1 + 1/c): 12 h · 3, 24 h · 2, 7 d · 1.14; lower · (1 + 0.001/c)^-2: 5 min · 0.60, 30 min · 0.91, 60 min · 0.95
    { days: 0.5, upper: 3, lower: 0.996 },
    { days: 1, upper: 2, lower: 0.998 },
    { days: 7, upper: 1.143, lower: 0.9997 },
    { days: 5 / 1440, upper: 289, lower: 0.6028 },
    { days: 30 / 1440, upper: 49, lower: 0.9103 },
    { days: 60 / 1440, upper: 25, lower: 0.9536 },
  ])("of $days days widens the bounds by $upper and $lower", ({ days, upper, lower }) => {
    const state = observed(steady(2, 1000));
    const aggregate = aggregateOf(state);
    const aged = { ...aggregate, samples: Math.round(days * 1440), firstSample: at(0), lastSample: at(days * day) };
    const [recommendation] = vpaRecommend(defaultVpaConfig, { ...state, aggregates: { c: aged } });
    // All samples equal: every percentile is the end of the bucket of one core, plus 15 %.
    const end = Math.trunc(
      bucketStart(defaultVpaConfig.cpu.histogram, bucketOf(defaultVpaConfig.cpu.histogram, 1) + 1) * 1000,
    );
    const middle = end + Math.trunc(end * 0.15);
    expect(recommendation?.target.cpu).toBe(middle);
    expect((recommendation?.upper.cpu ?? 0) / middle).toBeCloseTo(upper, 2);
    expect((recommendation?.lower.cpu ?? 0) / middle).toBeCloseTo(lower, 2);
  });

  test("of a single sample leaves the upper bound open and the lower at the floor", () => {
    const [recommendation] = vpaRecommend(defaultVpaConfig, observed([cpuAt(0, 800)]));
    expect(recommendation?.upper.cpu).toBe(1e14);
    expect(recommendation?.lower.cpu).toBe(25);
  });
});

describe("the floor", () => {
  test("of a pod is 25 millicores and 250 MiB", () => {
    const [recommendation] = vpaRecommend(defaultVpaConfig, observed([...steady(3, 1), memoryAt(0, mebibytes(64))]));
    expect(recommendation?.target).toEqual({ cpu: 25, memory: mebibytes(250) });
  });

  test("is split among the containers", () => {
    const state = observed(["a", "b", "c"].map((container) => ({ ...cpuAt(0, 1), container })));
    const recommendations = vpaRecommend(defaultVpaConfig, state);
    // One sample: the lower bound is the floor, 25/3 = 8.33. The target is above it: 10 m, the end of the first bucket,
    // plus 15 %. There is no memory sample: 262144000/3 = 87381333.3.
    expect(recommendations.map(({ lower }) => lower.cpu)).toEqual([8, 8, 8]);
    expect(recommendations.map(({ target }) => target)).toEqual(Array(3).fill({ cpu: 11, memory: 87_381_333 }));
  });

  test("is not shared with a container that is switched off", () => {
    const state = observed(["a", "b"].map((container) => ({ ...cpuAt(0, 1), container })));
    const recommendations = vpaRecommend(defaultVpaConfig, state, { b: { mode: "Off" } });
    expect(recommendations.map(({ container, target }) => [container, target.cpu])).toEqual([["a", 25]]);
  });
});

describe("memory", () => {
  const peakOf = (state: VpaState): number => state.pods.p?.c?.memoryPeak ?? Number.NaN;
  const mib = (n: number): number => n * 1_048_576;

  test("keeps one peak per day: a higher one replaces it, a lower one is nothing", () => {
    const state = observed([memoryAt(0, mib(400)), memoryAt(60, mib(900)), memoryAt(120, mib(300))]);
    expect(peakOf(state)).toBe(mib(900));
    const { memory } = aggregateOf(state);
    expect(memory.weights.filter((weight) => weight > 0)).toHaveLength(1);
    expect(memory.min).toBe(bucketOf(defaultVpaConfig.memory.histogram, mib(900)));
  });

  test("starts a new peak when the day of the first sample is over", () => {
    const state = observed([memoryAt(0, mib(900)), memoryAt(day - 1, mib(300)), memoryAt(day, mib(400))]);
    expect(peakOf(state)).toBe(mib(400));
    expect(state.pods.p?.c?.windowEnd).toBe(at(2 * day));
  });

  test("skips days without samples in whole steps", () => {
    const state = observed([memoryAt(0, mib(900)), memoryAt(3.5 * day, mib(300))]);
    expect(state.pods.p?.c?.windowEnd).toBe(at(4 * day));
  });

  test.each([
    // used = max(request, peak); needed = max(used + 100 MiB, 1.2 · used)
    { what: "100 MiB for a small container", request: mib(200), peak: mib(150), needed: mib(300) },
    { what: "20 % for a large one", request: mib(1000), peak: mib(900), needed: mib(1200) },
    { what: "from the peak where that was higher", request: mib(1000), peak: mib(2000), needed: mib(2400) },
  ])("after an OOM kill grows by $what", ({ request, peak, needed }) => {
    const state = observed([memoryAt(0, peak), oomAt(30, request)]);
    expect(state.pods.p?.c?.oomPeak).toBe(needed);
  });

  test("does not run away in a crash loop: the bump is not bumped again", () => {
    const state = observed([memoryAt(0, mib(150)), oomAt(30, mib(200)), oomAt(60, mib(200)), oomAt(90, mib(200))]);
    expect(state.pods.p?.c?.oomPeak).toBe(mib(300));
  });

  test("does not count an OOM kill of more than a day before the last sample", () => {
    const late = vpaObserve(defaultVpaConfig, observed([memoryAt(2 * day, mib(150))]), [
      oomAt(day - 1, mib(200)),
      oomAt(day, mib(200)),
    ]);
    expect(late.discarded.map(({ why }) => why)).toEqual(["too-old"]);
  });
});

describe("samples", () => {
  test.each([
    { what: "out of order", observations: [cpuAt(60, 1), cpuAt(60, 1)], why: "out-of-order" },
    { what: "of memory out of order", observations: [memoryAt(60, 1), memoryAt(59, 1)], why: "out-of-order" },
    { what: "below zero", observations: [cpuAt(60, -1)], why: "not-a-usage" },
    { what: "that are no number", observations: [memoryAt(60, Number.NaN)], why: "not-a-usage" },
    { what: "without end", observations: [oomAt(60, Number.POSITIVE_INFINITY)], why: "not-a-usage" },
  ])("$what are discarded and named", ({ observations, why }) => {
    const { discarded } = vpaObserve(defaultVpaConfig, freshVpaState, observations);
    expect(discarded).toEqual([{ observation: observations.at(-1), why }]);
  });

  test("leave the state they were added to untouched", () => {
    const before = observed([cpuAt(0, 100), memoryAt(0, 1e9)]);
    const copy = JSON.stringify(before);
    vpaObserve(defaultVpaConfig, before, [cpuAt(60, 100), memoryAt(60, 2e9), oomAt(70, 3e9)]);
    expect(JSON.stringify(before)).toBe(copy);
  });

  test("weigh 0.1 each, or before VPA 1.4 as much as the request in cores", () => {
    const old = unwrap(parseVpaConfig({ cpuWeight: "request" }));
    const small = { ...cpuAt(0, 100), request: millicores(50) } as VpaObservation;
    const large = { ...cpuAt(0, 100), request: millicores(2000) } as VpaObservation;
    const totals = [
      aggregateOf(observed([large])),
      aggregateOf(observed([small], old)),
      aggregateOf(observed([large], old)),
    ].map(({ cpu }) => cpu.total);
    expect(totals[1]).toBeCloseTo(totals[0] ?? 0, 12);
    expect((totals[2] ?? 0) / (totals[0] ?? 1)).toBeCloseTo(20, 12);
  });
});

test("pods that are gone and containers silent for eight days are forgotten", () => {
  const state = observed([cpuAt(0, 100), { ...cpuAt(8 * day, 100), container: "d", pod: "q" }]);
  const kept = vpaForget(defaultVpaConfig, state, { livePods: ["q"], now: at(8 * day) });
  expect(Object.keys(kept.pods)).toEqual(["q"]);
  expect(Object.keys(kept.aggregates)).toEqual(["d"]);
  const earlier = vpaForget(defaultVpaConfig, state, { livePods: ["q"], now: seconds(base + 8 * day - 1) });
  expect(Object.keys(earlier.aggregates)).toEqual(["c", "d"]);
});

describe("a checkpoint", () => {
  test("gives back the recommendation up to its rounding", () => {
    const state = observed([
      ...steady(500, 700),
      ...Array.from({ length: 3 }, (_, i) => memoryAt(i * day, 1e9 * (i + 1))),
    ]);
    const saved = JSON.parse(JSON.stringify(saveCheckpoint(aggregateOf(state)))) as ReturnType<typeof saveCheckpoint>;
    const loaded = unwrap(loadCheckpoint(defaultVpaConfig, saved));
    expect(vpaRecommend(defaultVpaConfig, { pods: {}, aggregates: { c: loaded } })).toEqual(
      vpaRecommend(defaultVpaConfig, state),
    );
  });

  test("of another version is refused", () => {
    const saved = { ...saveCheckpoint(aggregateOf(observed(steady(2, 1)))), version: "v2" as "v3" };
    expect(loadCheckpoint(defaultVpaConfig, saved)).toMatchObject({ failure: { code: "vpa.checkpoint-version" } });
  });
});

describe("a policy", () => {
  const resources = { cpu: millicores(100), memory: mebibytes(300) };
  test.each([
    {
      what: "raises to the minimum",
      policy: { minAllowed: { cpu: millicores(200) } },
      want: { ...resources, cpu: 200 },
    },
    {
      what: "lowers to the maximum",
      policy: { maxAllowed: { memory: mebibytes(100) } },
      want: { ...resources, memory: mebibytes(100) },
    },
    {
      what: "with a contradiction lets the maximum win",
      policy: { minAllowed: { cpu: millicores(500) }, maxAllowed: { cpu: millicores(50) } },
      want: { ...resources, cpu: 50 },
    },
    { what: "with zero as a bound has none", policy: { maxAllowed: { cpu: millicores(0) } }, want: resources },
  ])("$what", ({ policy, want }) => {
    expect(capToPolicy(resources, policy)).toEqual(want);
  });

  test("for every container stands back behind one of its own", () => {
    const state = observed(["a", "b"].map((container) => ({ ...cpuAt(0, 4000), container })));
    const recommendations = vpaRecommend(defaultVpaConfig, state, {
      "*": { maxAllowed: { cpu: millicores(1000) } },
      b: { maxAllowed: { cpu: millicores(2000) } },
    });
    expect(recommendations.map(({ target }) => target.cpu)).toEqual([1000, 2000]);
    expect(recommendations[0]?.uncapped.cpu).toBeGreaterThan(4000);
  });

  test("can leave a resource alone", () => {
    const [recommendation] = vpaRecommend(defaultVpaConfig, observed(steady(3, 1)), {
      c: { controlledResources: ["memory"] },
    });
    expect(Object.keys(recommendation?.target ?? {})).toEqual(["memory"]);
  });
});

describe("limits", () => {
  const spec = {
    requests: { cpu: millicores(200), memory: mebibytes(100) },
    limits: { cpu: millicores(500), memory: mebibytes(150) },
  };
  test("keep their ratio to the request", () => {
    // 500/200 · 101 = 252.5 -> 252; 150/100 · 100,000,001 = 150,000,001.5
    const applied = applyRecommendation({ cpu: millicores(101), memory: bytes(100_000_001) }, spec);
    expect(applied).toEqual({
      requests: { cpu: 101, memory: 100_000_001 },
      limits: { cpu: 252, memory: 150_000_001 },
    });
  });

  test("stay exact beyond the exact range of a double", () => {
    const request = bytes(3 * 2 ** 30);
    const limit = bytes(2 ** 32 + 1);
    const applied = applyRecommendation(
      { memory: bytes(2 ** 40 + 7) },
      { requests: { memory: request }, limits: { memory: limit } },
    );
    expect(applied.limits.memory).toBe(Number(((2n ** 32n + 1n) * (2n ** 40n + 7n)) / (3n * 2n ** 30n)));
  });

  test("that were not set stay unset, and one without a request follows the request", () => {
    expect(applyRecommendation({ cpu: millicores(300) }, { requests: {}, limits: {} }).limits).toEqual({});
    expect(
      applyRecommendation({ cpu: millicores(300) }, { requests: {}, limits: { cpu: millicores(900) } }).limits,
    ).toEqual({ cpu: 300 });
  });

  test("cap the request when only requests are controlled", () => {
    const applied = applyRecommendation({ cpu: millicores(800) }, spec, { controlledValues: "RequestsOnly" });
    expect(applied).toEqual({ requests: { cpu: 500, memory: mebibytes(100) }, limits: spec.limits });
  });
});

test("rounding goes up to the multiple that was asked for", () => {
  const config = unwrap(parseVpaConfig({ roundCpu: millicores(50), roundMemory: mebibytes(128) }));
  const [recommendation] = vpaRecommend(config, observed([cpuAt(0, 1)], config));
  expect(recommendation?.target).toEqual({ cpu: 50, memory: mebibytes(256) });
});

test.each([
  {
    what: "percentiles out of order",
    options: { cpu: { ...defaultVpaConfig.cpu, quantiles: { target: 0.4, lower: 0.5, upper: 0.9 } } },
  },
  {
    what: "a share above one",
    options: { memory: { ...defaultVpaConfig.memory, quantiles: { target: 0.9, lower: 0.5, upper: 1.1 } } },
  },
  { what: "no interval", options: { memoryInterval: minutes(0) } },
  { what: "a bump that shrinks", options: { oomBumpRatio: 0.9 } },
  { what: "a negative margin", options: { safetyMargin: -0.1 } },
])("a configuration with $what is refused", ({ options }) => {
  expect(parseVpaConfig(options)).toMatchObject({ ok: false, failure: { code: "vpa.config" } });
});
