import fc from "fast-check";
import { expect, test } from "vitest";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../base/index.ts";
import { guard } from "./guard.ts";
import type { Knob } from "./knob.ts";
import { parseGuardLimits } from "./limits.ts";
import { reachOf } from "./reach.ts";

const workload = unwrap(parseWorkloadId("w"));
const knob: Knob = {
  name: "cpu",
  unit: "millicores",
  bounds: { min: 100, max: 4_000 },
  grain: 1,
  step: { absolute: 250, up: 1, down: 0.5 },
  cooldown: { up: seconds(0), down: seconds(60) },
};
const now = milliseconds(1_000_000);
const reach = (have: number, changedAt: Record<string, number>, one: Knob = knob) =>
  reachOf({ limits: { knobs: [one] }, state: { changedAt: changedAt as never }, have: { cpu: have }, now }).cpu;

test("twice as much, half as much, and within the bounds", () => {
  expect(reach(1_000, {})).toEqual({ min: 500, max: 2_000 });
  expect(reach(3_000, {})).toEqual({ min: 1_500, max: 4_000 });
  // 250 at once where half of it is less.
  expect(reach(300, {})).toEqual({ min: 100, max: 600 });
});

test("nothing falls while it cools down", () => {
  expect(reach(1_000, { cpu: now - 15_000 })).toEqual({ min: 1_000, max: 2_000 });
  expect(reach(1_000, { cpu: now - 60_000 })).toEqual({ min: 500, max: 2_000 });
});

test("what is out of bounds is led back a step at a time", () => {
  expect(reach(9_000, {})).toEqual({ min: 4_500, max: 4_500 });
});

test("whatever is within reach the guard leaves as it is, and of everything else it leaves an end of it", () => {
  const amount = fc.integer({ min: 0, max: 5_000 });
  const knobs = fc.record({
    bounds: fc.tuple(amount, amount).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) })),
    absolute: fc.integer({ min: 1, max: 500 }),
    up: fc.double({ min: 0, max: 2, noNaN: true }),
    down: fc.double({ min: 0, max: 1, noNaN: true }),
    cooldown: fc.record({ up: fc.integer({ min: 0, max: 90 }), down: fc.integer({ min: 0, max: 90 }) }),
  });
  fc.assert(
    fc.property(
      knobs,
      fc.record({ have: amount, want: amount, since: fc.integer({ min: 0, max: 100 }) }),
      (made, at) => {
        const { bounds, absolute, up, down, cooldown } = made;
        const step = { absolute, up, down };
        const one: Knob = {
          ...knob,
          bounds,
          step,
          cooldown: { up: seconds(cooldown.up), down: seconds(cooldown.down) },
        };
        const limits = unwrap(
          parseGuardLimits({ knobs: [one], constraints: [], maxDataAge: seconds(90), maxDataSkew: seconds(5) }),
        );
        const changedAt = { cpu: milliseconds(now - 1_000 * at.since) };
        const { min, max } = reach(at.have, changedAt, one) as { min: number; max: number };
        const verdict = guard(
          { workload, want: { cpu: at.want }, measuredAt: now },
          { limits, state: { changedAt, constraints: {} }, have: { cpu: at.have }, nodes: "unlimited", now },
        );
        expect(min).toBeLessThanOrEqual(max);
        expect(verdict.setting.cpu).toBeGreaterThanOrEqual(min);
        expect(verdict.setting.cpu).toBeLessThanOrEqual(max);
        if (at.want >= min && at.want <= max) expect(verdict.setting.cpu).toBe(at.want);
      },
    ),
    { numRuns: 500 },
  );
});
