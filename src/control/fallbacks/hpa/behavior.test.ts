/**
 * Stabilisation and rates against facts: hand-worked cases, cases of the upstream tests, and 36 random sequences of 32
 * syncs with what upstream's own functions answered (kubernetes v1.37 rc, e81f39c0e0).
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Ms } from "../../../base/index.ts";
import { milliseconds, seconds, unwrap } from "../../../base/index.ts";
import type { HpaScaleEvent, HpaState } from "./behavior.ts";
import { normalize, recordRescale } from "./behavior.ts";
import type { HpaBehaviorOptions, HpaConfig, HpaPolicy } from "./config.ts";
import { parseHpaConfig } from "./config.ts";
import { freshHpaState } from "./hpa.ts";

const now = milliseconds(1_700_000_000_000);
const ago = (s: number): Ms => milliseconds(now - s * 1000);

const configOf = (behavior?: HpaBehaviorOptions, bounds: { min?: number; max?: number } = {}): HpaConfig =>
  unwrap(
    parseHpaConfig({ minReplicas: bounds.min ?? 1, maxReplicas: bounds.max ?? 1000, ...(behavior && { behavior }) }),
  );

const pods = (value: number, period: number): HpaPolicy => ({ type: "Pods", value, period: seconds(period) });
const percent = (value: number, period: number): HpaPolicy => ({ type: "Percent", value, period: seconds(period) });
const events = (...list: readonly (readonly [change: number, secondsAgo: number])[]): HpaScaleEvent[] =>
  list.map(([change, s]) => ({ change, at: ago(s) }));
const recommended = (...list: readonly (readonly [replicas: number, secondsAgo: number])[]): HpaState => ({
  ...freshHpaState,
  recommendations: list.map(([replicas, s]) => ({ replicas, at: ago(s) })),
});
const settle = (config: HpaConfig, [current, wanted]: readonly [number, number], state: HpaState = freshHpaState) =>
  normalize({ current, wanted, now }, config, state);

describe("without behavior", () => {
  const config = configOf(undefined, { max: 100 });
  test.each([
    { what: "a small count may reach four", current: 1, wanted: 9, desired: 4, limits: ["scale-up-rate"] },
    { what: "a larger count may double", current: 5, wanted: 30, desired: 10, limits: ["scale-up-rate"] },
    { what: "the maximum ends growth", current: 60, wanted: 200, desired: 100, limits: ["max-replicas"] },
    { what: "the minimum ends shrinking", current: 3, wanted: 0, desired: 1, limits: ["min-replicas"] },
    { what: "shrinking has no rate", current: 90, wanted: 2, desired: 2, limits: [] },
  ])("$what", ({ current, wanted, desired, limits }) => {
    expect(settle(config, [current, wanted])).toMatchObject({ desired, limits });
  });

  test("the highest recommendation of the last five minutes holds, the edge included", () => {
    expect(settle(config, [8, 2], recommended([7, 300], [9, 301], [3, 15]))).toMatchObject({
      desired: 7,
      limits: ["scale-down-stabilized"],
    });
  });

  test("stabilisation never delays growth", () => {
    expect(settle(config, [8, 12], recommended([3, 15], [5, 30]))).toMatchObject({ desired: 12, limits: [] });
  });

  test("a new recommendation takes the place of an outdated one", () => {
    const { recommendations } = settle(config, [8, 2], recommended([9, 400], [9, 301], [3, 15]));
    expect(recommendations.map(({ replicas }) => replicas)).toEqual([9, 2, 3]);
  });

  test("rescales are not remembered, because nothing reads them", () => {
    expect(recordRescale({ from: 1, to: 4, now }, config, freshHpaState)).toBe(freshHpaState);
  });
});

describe("stabilisation with behavior", () => {
  const config = configOf({ scaleUp: { stabilization: seconds(60) }, scaleDown: { stabilization: seconds(120) } });
  test.each([
    // The window of the other direction plays no part.
    { what: "growth waits for the lowest of its window", past: [[6, 30]], current: 5, wanted: 8, desired: 6 },
    { what: "growth does not go below what is there", past: [[2, 30]], current: 5, wanted: 8, desired: 5 },
    { what: "growth looks no further than its window", past: [[2, 61]], current: 5, wanted: 8, desired: 8 },
    { what: "an edge is outside here", past: [[2, 60]], current: 5, wanted: 8, desired: 8 },
    { what: "shrinking waits for the highest of its window", past: [[4, 110]], current: 5, wanted: 2, desired: 4 },
    { what: "shrinking does not go above what is there", past: [[9, 110]], current: 5, wanted: 2, desired: 5 },
    { what: "shrinking looks no further than its window", past: [[9, 121]], current: 5, wanted: 2, desired: 2 },
  ] as const)("$what", ({ past, current, wanted, desired }) => {
    expect(settle(config, [current, wanted], recommended(...past)).desired).toBe(desired);
  });

  test("the downscale window that was left out is the controller's five minutes", () => {
    const lazy = configOf({ scaleUp: {} });
    expect(lazy.behavior?.scaleDown.stabilization).toBe(300_000);
    expect(settle(lazy, [9, 2], recommended([7, 299])).desired).toBe(7);
    expect(settle(lazy, [9, 2], recommended([7, 300])).desired).toBe(2);
  });
});

describe("rates of growth", () => {
  test.each([
    // Period start 7 - 2 - 1 = 4; 4 + 4 = 8 or ceil(4 · 1.05) = 5; the higher counts.
    {
      what: "the largest policy counts",
      policies: [pods(4, 60), percent(5, 60)],
      ups: [
        [2, 10],
        [1, 50],
      ],
      current: 7,
      wanted: 20,
      desired: 8,
    },
    {
      what: "Min takes the smallest policy",
      select: "Min",
      policies: [pods(4, 60), percent(100, 60)],
      current: 3,
      wanted: 20,
      desired: 6,
    },
    { what: "Disabled holds", select: "Disabled", policies: [pods(4, 60)], current: 3, wanted: 20, desired: 3 },
    // ceil(10 · 1.01) = 11: rounding up lets a small percentage grow
    { what: "a percentage rounds up", policies: [percent(1, 60)], current: 10, wanted: 20, desired: 11 },
    // start 10 - 4 = 6, 6 + 4 = 10: spent, hold
    { what: "a spent quota holds", policies: [pods(4, 60)], ups: [[4, 20]], current: 10, wanted: 20, desired: 10 },
    // start 10 - 8 = 2, 2 + 4 = 6 < 10: hold, never shrink
    { what: "an overdrawn quota holds", policies: [pods(4, 60)], ups: [[8, 20]], current: 10, wanted: 20, desired: 10 },
    {
      what: "the quota returns after the period",
      policies: [pods(4, 60)],
      ups: [[4, 60]],
      current: 10,
      wanted: 20,
      desired: 14,
    },
    // start 10 + 5 = 15, 15 + 4 = 19: what was removed within the period may be added again
    {
      what: "replicas removed in the period come back free",
      policies: [pods(4, 60)],
      downs: [[5, 30]],
      current: 10,
      wanted: 30,
      desired: 19,
    },
    {
      what: "the maximum is first when it is lower",
      policies: [pods(40, 60)],
      current: 10,
      wanted: 90,
      max: 30,
      desired: 30,
      limit: "max-replicas",
    },
  ] as const)("$what", (given) => {
    const { policies, current, wanted, desired } = given;
    const select = "select" in given ? given.select : "Max";
    const config = configOf({ scaleUp: { policies, select } }, { max: "max" in given ? given.max : 1000 });
    const state = {
      ...freshHpaState,
      scaleUps: events(...("ups" in given ? given.ups : [])),
      scaleDowns: events(...("downs" in given ? given.downs : [])),
    };
    const settled = settle(config, [current, wanted], state);
    expect(settled.desired).toBe(desired);
    expect(settled.limits).toEqual(["limit" in given ? given.limit : "scale-up-rate"]);
  });
});

describe("rates of shrinking", () => {
  test.each([
    // trunc(7 · 0.95) = 6
    { what: "a percentage rounds down", policies: [percent(5, 60)], current: 7, wanted: 1, desired: 6 },
    { what: "the largest change counts", policies: [pods(1, 60), percent(50, 60)], current: 10, wanted: 1, desired: 5 },
    {
      what: "Min takes the smallest change",
      select: "Min",
      policies: [pods(1, 60), percent(50, 60)],
      current: 10,
      wanted: 1,
      desired: 9,
    },
    { what: "Disabled holds", select: "Disabled", policies: [percent(50, 60)], current: 10, wanted: 1, desired: 10 },
    // start 7 + 3 = 10, 10 - 4 = 6
    {
      what: "what was removed counts against the quota",
      policies: [pods(4, 60)],
      downs: [[3, 20]],
      current: 7,
      wanted: 1,
      desired: 6,
    },
    { what: "an overdrawn quota holds", policies: [pods(4, 60)], downs: [[8, 20]], current: 7, wanted: 1, desired: 7 },
    // start 10 - 5 = 5, 5 - 2 = 3
    {
      what: "replicas added in the period may go again",
      policies: [pods(2, 60)],
      ups: [[5, 20]],
      current: 10,
      wanted: 1,
      desired: 3,
    },
    {
      what: "the minimum is first when it is higher",
      policies: [percent(100, 60)],
      current: 10,
      wanted: 1,
      min: 4,
      desired: 4,
      limit: "min-replicas",
    },
  ] as const)("$what", (given) => {
    const { policies, current, wanted, desired } = given;
    const select = "select" in given ? given.select : "Max";
    const config = configOf(
      { scaleDown: { policies, select, stabilization: seconds(0) } },
      { min: "min" in given ? given.min : 1 },
    );
    const state = {
      ...freshHpaState,
      scaleUps: events(...("ups" in given ? given.ups : [])),
      scaleDowns: events(...("downs" in given ? given.downs : [])),
    };
    const settled = settle(config, [current, wanted], state);
    expect(settled.desired).toBe(desired);
    expect(settled.limits).toEqual(["limit" in given ? given.limit : "scale-down-rate"]);
  });
});

interface Sequence {
  readonly min: number;
  readonly max: number;
  readonly up?: Rules;
  readonly down?: Rules;
  /** seconds, current, wanted, desired */
  readonly ticks: readonly (readonly [number, number, number, number])[];
}
interface Rules {
  readonly w: number;
  readonly sel: "Max" | "Min" | "Disabled";
  readonly pol: readonly (readonly ["Pods" | "Percent", number, number])[];
}

const golden = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/fallbacks/hpa.json", import.meta.url), "utf8"),
) as { readonly sequences: readonly Sequence[] };

const rulesOf = ({ w, sel, pol }: Rules) => ({
  stabilization: seconds(w),
  select: sel,
  policies: pol.map(([type, value, period]) => ({ type, value, period: seconds(period) })),
});

test("36 sequences of 32 syncs, with other hands on the scale, go as in Kubernetes", () => {
  expect(golden.sequences).toHaveLength(36);
  for (const [index, { min, max, up, down, ticks }] of golden.sequences.entries()) {
    const config = configOf(up && down && { scaleUp: rulesOf(up), scaleDown: rulesOf(down) }, { min, max });
    const first = ticks[0]?.[1] ?? 0;
    let state: HpaState = { ...freshHpaState, recommendations: [{ at: milliseconds(0), replicas: first }] };
    for (const [tick, [at, current, wanted, desired]] of ticks.entries()) {
      const when = seconds(at);
      const settled = normalize({ current, wanted, now: when }, config, state);
      expect({ index, tick, desired: settled.desired }).toEqual({ index, tick, desired });
      state = { ...state, recommendations: settled.recommendations };
      if (desired !== current) state = recordRescale({ from: current, to: desired, now: when }, config, state);
      // What is kept between syncs is plain data.
      state = JSON.parse(JSON.stringify(state)) as HpaState;
    }
  }
});
