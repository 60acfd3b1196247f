/**
 * Facts of the upstream tests, reworded, hand-worked cases, and 30 random sequences with what upstream's own functions
 * answered (knative/serving 98e5ef90aa; test/fixtures/fallbacks/kpa.json).
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Ms } from "../../../base/index.ts";
import { milliseconds, minutes, seconds, unwrap } from "../../../base/index.ts";
import type { KpaConfig, KpaState } from "./kpa.ts";
import { freshKpaState, kpaObserve, kpaStep, parseKpaConfig } from "./kpa.ts";
import { emptyWindow, isWindowEmpty, recordCount, recordValue, windowAverage } from "./window.ts";

const base = 1_700_000_000;
const at = (s: number): Ms => seconds(base + s);
const configOf = (options: Partial<KpaConfig> = {}): KpaConfig => unwrap(parseKpaConfig(options));

describe("a window of one-second buckets", () => {
  const filled = (values: readonly (readonly [s: number, value: number])[], size = 5) =>
    values.reduce((window, [s, value]) => recordValue(window, at(s), value), emptyWindow(size));
  test.each([
    {
      what: "averages what it has",
      values: [
        [0, 2],
        [1, 4],
      ],
      now: 1,
      average: 3,
    },
    {
      what: "sums values of one second",
      values: [
        [0, 2],
        [0, 4],
      ],
      now: 0,
      average: 6,
    },
    {
      what: "counts a gap as zero",
      values: [
        [0, 3],
        [2, 3],
      ],
      now: 2,
      average: 2,
    },
    {
      what: "forgets what is older than the window",
      values: [
        [0, 100],
        [1, 1],
        [2, 1],
        [3, 1],
        [4, 1],
        [5, 1],
      ],
      now: 5,
      average: 1,
    },
    // 3 values of 6, 1, 2 at seconds 0 to 2; at second 3 one of five buckets is silent, so 3 of 4 count
    {
      what: "leaves silent seconds at the end out",
      values: [
        [0, 6],
        [1, 1],
        [2, 2],
      ],
      now: 3,
      average: 3,
    },
    {
      what: "takes a late value where it belongs",
      values: [
        [3, 4],
        [1, 2],
      ],
      now: 3,
      average: 2,
    },
    {
      what: "refuses a value a whole window late",
      values: [
        [9, 4],
        [4, 200],
      ],
      now: 9,
      average: 4,
    },
    {
      what: "begins anew after a silent window",
      values: [
        [0, 50],
        [5, 2],
        [6, 4],
      ],
      now: 6,
      average: 3,
    },
    { what: "is zero after a silent window", values: [[0, 50]], now: 5, average: 0 },
  ] as const)("$what", ({ values, now, average }) => {
    expect(windowAverage(filled(values), at(now))).toBe(average);
  });

  test("is empty before the first value and when the last is older than the window", () => {
    expect(isWindowEmpty(emptyWindow(5), at(0))).toBe(true);
    expect(isWindowEmpty(filled([[0, 1]]), at(5))).toBe(false);
    expect(isWindowEmpty(filled([[0, 1]]), at(6))).toBe(true);
  });
});

test("the highest count of a window survives until its tick leaves", () => {
  let counts = recordCount([], { tick: 1, count: 4 }, 5);
  counts = recordCount(counts, { tick: 2, count: 3 }, 5);
  counts = recordCount(counts, { tick: 3, count: 0 }, 5);
  expect(counts[0]?.count).toBe(4);
  counts = recordCount(counts, { tick: 6, count: 0 }, 5);
  expect(counts[0]?.count).toBe(3);
  expect(recordCount(counts, { tick: 7, count: 9 }, 5)).toEqual([{ tick: 7, count: 9 }]);
});

/** The whole stable window at one value and the panic window at another. */
function measured(
  config: KpaConfig,
  { stable, panic, now = 0 }: { stable: number; panic: number; now?: number },
): KpaState {
  const fresh = freshKpaState(config, { now: at(now - 3600), readyPods: 0 });
  const size = config.stableWindow / 1000;
  const panicSize = size * config.panicWindow;
  let state = fresh;
  const calm = (stable * size - panic * panicSize) / (size - panicSize);
  for (let s = size - 1; s >= 0; s -= 1)
    state = kpaObserve(state, { at: at(now - s), value: s < panicSize ? panic : calm });
  return state;
}

// Target 10 of 10/0.75 per pod, as in the upstream tests.
const tens = configOf({
  total: 10 / 0.75,
  targetUtilization: 0.75,
  burstCapacity: 100,
  maxScaleUpRate: 10,
  maxScaleDownRate: 10,
});
const ones = configOf({
  total: 1 / 0.75,
  targetUtilization: 0.75,
  burstCapacity: 100,
  maxScaleUpRate: 10,
  maxScaleDownRate: 10,
});

describe("one decision", () => {
  test.each([
    { what: "50 at a target of 10 are 5 pods", config: tens, stable: 50, panic: 10, pods: 1, want: 5 },
    { what: "100 at a target of 10 are 10 pods", config: tens, stable: 100, panic: 10, pods: 1, want: 10 },
    { what: "no load is no pod", config: tens, stable: 0, panic: 0, pods: 1, want: 0 },
    // panic wants 25 of 10: 2.5 times as many: panic
    { what: "a burst panics and takes the larger window", config: ones, stable: 11, panic: 25, pods: 10, want: 25 },
    { what: "growth ends at the rate", config: ones, stable: 50, panic: 9, pods: 5, want: 50 },
    {
      what: "growth by a slow rate is rounded up to a pod",
      config: { ...ones, maxScaleUpRate: 1.1 },
      stable: 3,
      panic: 3,
      pods: 2,
      want: 3,
    },
    {
      what: "shrinking ends at the rate",
      config: { ...ones, maxScaleDownRate: 2 },
      stable: 1,
      panic: 1,
      pods: 9,
      want: 4,
    },
    {
      what: "shrinking is not rated when unreachable",
      config: { ...ones, maxScaleDownRate: 2, isReachable: false },
      stable: 1,
      panic: 1,
      pods: 9,
      want: 1,
    },
    {
      what: "the least count above zero",
      config: { ...tens, activationScale: 2 },
      stable: 1,
      panic: 0,
      pods: 1,
      want: 2,
    },
    {
      what: "no load ignores the least count above zero",
      config: { ...tens, activationScale: 2 },
      stable: 0,
      panic: 0,
      pods: 1,
      want: 0,
    },
    { what: "zero ready pods count as one", config: tens, stable: 9, panic: 9, pods: 0, want: 1 },
  ])("$what", ({ config, stable, panic, pods, want }) => {
    const step = kpaStep(config, measured(config, { stable, panic }), { now: at(0), readyPods: pods, replicas: pods });
    expect(step.decided).toBe(want);
  });

  test.each([
    {
      what: "is what pods can take, less what they do, less the burst",
      burst: 100,
      pods: 10,
      panic: 50,
      want: Math.floor(133.333 - 100 - 50),
    },
    { what: "rounds down below zero", burst: 100.5, pods: 1, panic: 10, want: -98 },
    { what: "is zero without a wish", burst: 0, pods: 1, panic: 10, want: 0 },
    { what: "is -1 with an endless wish", burst: -1, pods: 1000, panic: 10, want: -1 },
  ])("excess burst capacity $what", ({ burst, pods, panic, want }) => {
    const config = { ...tens, burstCapacity: burst };
    const step = kpaStep(config, measured(config, { stable: panic, panic }), {
      now: at(0),
      readyPods: pods,
      replicas: pods,
    });
    expect(step.excessBurst).toBe(want);
  });

  test("without data is none: the count stays, with a coded reason", () => {
    const step = kpaStep(tens, freshKpaState(tens, { now: at(0), readyPods: 3 }), {
      now: at(0),
      readyPods: 3,
      replicas: 3,
    });
    expect(step).toMatchObject({ desired: 3, failure: { code: "kpa.no-data", retry: true } });
  });

  test("ignores values that are none", () => {
    const state = measured(tens, { stable: 50, panic: 10 });
    expect(kpaObserve(state, { at: at(0), value: Number.NaN })).toBe(state);
    expect(kpaObserve(state, { at: at(0), value: Number.POSITIVE_INFINITY })).toBe(state);
  });
});

describe("panic", () => {
  test("starts with the controller beside more than one pod, and keeps them", () => {
    const state = kpaObserve(freshKpaState(tens, { now: at(0), readyPods: 8 }), { at: at(1), value: 1 });
    expect(kpaStep(tens, state, { now: at(2), readyPods: 8, replicas: 8 })).toMatchObject({
      decided: 8,
      reasons: ["panicking"],
    });
    const alone = kpaObserve(freshKpaState(tens, { now: at(0), readyPods: 1 }), { at: at(1), value: 1 });
    expect(kpaStep(tens, alone, { now: at(2), readyPods: 1, replicas: 1 }).reasons).toEqual([]);
  });

  test("ends one stable window after the last excess, not earlier", () => {
    let state = kpaStep(ones, measured(ones, { stable: 11, panic: 25 }), {
      now: at(0),
      readyPods: 10,
      replicas: 10,
    }).state;
    for (let s = 1; s <= 61; s += 1) state = kpaObserve(state, { at: at(s), value: 12 });
    const early = kpaStep(ones, state, { now: at(60), readyPods: 25, replicas: 25 });
    expect(early).toMatchObject({ decided: 25, reasons: ["panicking"] });
    expect(kpaStep(ones, early.state, { now: at(61), readyPods: 25, replicas: 25 })).toMatchObject({
      decided: 12,
      reasons: [],
    });
  });
});

describe("the way to zero", () => {
  const idle = (config: KpaConfig): KpaState => {
    let state = freshKpaState(config, { now: at(0), readyPods: 1 });
    for (let s = 1; s <= 200; s += 1) state = kpaObserve(state, { at: at(s), value: 0 });
    return state;
  };
  const walk = (config: KpaConfig, times: readonly number[]): number[] => {
    let state = idle(config);
    return times.map((s) => {
      const step = kpaStep(config, state, { now: at(s), readyPods: 1, replicas: 1 });
      state = JSON.parse(JSON.stringify(step.state)) as KpaState;
      return step.desired;
    });
  };

  test("is a stable window of activity, then thirty seconds of grace", () => {
    // active until 60, marked inactive then, gone at 90
    expect(walk(configOf(), [59, 60, 62, 89, 90])).toEqual([1, 1, 1, 1, 0]);
  });

  test("is longer when the last pod is to be kept", () => {
    expect(walk(configOf({ lastPodRetention: seconds(50) }), [60, 90, 109, 110])).toEqual([1, 1, 1, 0]);
  });

  test("ends at one when zero is not allowed, and at the minimum when there is one", () => {
    expect(walk(configOf({ mayScaleToZero: false }), [60, 120])).toEqual([1, 1]);
    expect(walk(configOf({ minScale: 2 }), [60, 120])).toEqual([2, 2]);
  });

  test("starts anew when load returns", () => {
    const config = configOf();
    let state = kpaStep(config, idle(config), { now: at(60), readyPods: 1, replicas: 1 }).state;
    expect(state.activity).toEqual({ isActive: false, since: at(60) });
    state = kpaObserve(state, { at: at(201), value: 500 });
    const step = kpaStep(config, state, { now: at(201), readyPods: 1, replicas: 1 });
    expect(step.desired).toBeGreaterThan(0);
    expect(step.state.activity).toEqual({ isActive: true, since: at(201) });
  });
});

test("a scale-down delay of five minutes keeps the highest count of them", () => {
  const config = configOf({ total: 10 / 0.7, burstCapacity: 0, maxScaleDownRate: 10, scaleDownDelay: minutes(5) });
  const loaded = kpaStep(config, measured(config, { stable: 40, panic: 40, now: 2 }), {
    now: at(2),
    readyPods: 4,
    replicas: 4,
  });
  expect(loaded.decided).toBe(4);
  const quiet = (now: number): KpaState => ({
    ...measured(config, { stable: 0, panic: 0, now }),
    recentCounts: loaded.state.recentCounts,
  });
  expect(kpaStep(config, quiet(300), { now: at(300), readyPods: 4, replicas: 4 })).toMatchObject({
    decided: 4,
    reasons: ["scale-down-delayed"],
  });
  expect(kpaStep(config, quiet(302), { now: at(302), readyPods: 4, replicas: 4 }).decided).toBe(0);
});

test("the maximum bounds what is set, not what is decided", () => {
  const config = { ...tens, maxScale: 3 };
  const step = kpaStep(config, measured(config, { stable: 50, panic: 10 }), { now: at(0), readyPods: 1, replicas: 1 });
  expect(step).toMatchObject({ decided: 5, desired: 3, reasons: ["bounds"] });
});

interface Sequence {
  readonly stable: number;
  readonly total: number;
  readonly delay: number;
  readonly up: number;
  readonly down: number;
  readonly tbc: number;
  readonly act: number;
  readonly reach: boolean;
  readonly start: number;
  readonly ev: readonly (
    | readonly ["r", number, number]
    | readonly ["s", number, number, number, number]
    | readonly ["n", number, number]
  )[];
}
const golden = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/fallbacks/kpa.json", import.meta.url), "utf8"),
) as { readonly sequences: readonly Sequence[] };

test("30 random sequences of 80 seconds and 40 decisions go as in Knative", () => {
  expect(golden.sequences).toHaveLength(30);
  const when = (ms: number): Ms => milliseconds(base * 1000 + ms);
  for (const [index, given] of golden.sequences.entries()) {
    const config = configOf({
      total: given.total,
      stableWindow: seconds(given.stable),
      scaleDownDelay: seconds(given.delay),
      maxScaleUpRate: given.up,
      maxScaleDownRate: given.down,
      burstCapacity: given.tbc,
      activationScale: given.act,
      isReachable: given.reach,
    });
    let state = freshKpaState(config, { now: when(0), readyPods: given.start });
    for (const [event, [kind, ms, value, desired, excess]] of given.ev.entries()) {
      if (kind === "r") {
        state = kpaObserve(state, { at: when(ms), value });
        continue;
      }
      const step = kpaStep(config, state, { now: when(ms), readyPods: value, replicas: value });
      if (kind === "n") expect(step.failure?.code).toBe("kpa.no-data");
      else
        expect({ index, event, decided: step.decided, excess: step.excessBurst }).toEqual({
          index,
          event,
          decided: desired,
          excess,
        });
      state = JSON.parse(JSON.stringify(step.state)) as KpaState;
    }
  }
});

test.each([
  { what: "no capacity", options: { total: 0 } },
  { what: "a target above what a pod takes", options: { targetUtilization: 1.2 } },
  { what: "half a second as window", options: { stableWindow: seconds(6.5) } },
  { what: "a panic window below a second", options: { stableWindow: seconds(6), panicWindow: 0.1 } },
  { what: "a threshold that always panics", options: { panicThreshold: 1 } },
  { what: "a rate that never grows", options: { maxScaleUpRate: 1 } },
  { what: "a rate that never shrinks", options: { maxScaleDownRate: 1 } },
  { what: "a negative burst", options: { burstCapacity: -2 } },
  { what: "half a pod", options: { minScale: 0.5 } },
  { what: "a minimum above the maximum", options: { minScale: 3, maxScale: 2 } },
])("a configuration with $what is refused", ({ options }) => {
  expect(parseKpaConfig(options)).toMatchObject({ ok: false, failure: { code: "kpa.config" } });
});
