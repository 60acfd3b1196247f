/** A knob that nothing in this module has heard of: its limits are data, and the guard keeps them. */
import { expect, test } from "vitest";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../base/index.ts";
import { memoryActuator } from "./actuator.ts";
import { freshGuardState, guard } from "./guard.ts";
import type { Knob, Setting } from "./knob.ts";
import { parseGuardLimits } from "./limits.ts";

const workload = unwrap(parseWorkloadId("inference"));
const now = milliseconds(1_700_000_000_000);
const gpuShare: Knob = {
  name: "gpu-share",
  unit: "of a GPU",
  bounds: { min: 0.1, max: 0.9 },
  grain: 0,
  // Up by as much again, down by a quarter at most.
  step: { absolute: 0.05, up: 1, down: 0.25 },
  cooldown: { up: seconds(0), down: seconds(30) },
};
const batch: Knob = {
  name: "batch",
  unit: "requests",
  bounds: { min: 0, max: 100 },
  grain: 5,
  step: { absolute: 10, up: 0, down: 0 },
  cooldown: { up: seconds(0), down: seconds(0) },
};
const limits = unwrap(parseGuardLimits({ knobs: [gpuShare, batch] }));
type Share = Setting<"gpu-share" | "batch">;
const ask = (want: Partial<Share>, have: Share, state = freshGuardState) =>
  guard({ workload, want, measuredAt: now }, { limits, state, have, nodes: "unlimited", now });

test("passes the guard within its bounds and its step", () => {
  const have = { "gpu-share": 0.25, batch: 20 };
  const verdict = ask({ "gpu-share": 0.375 }, have);
  expect(verdict).toEqual({
    action: { kind: "set", workload, set: { "gpu-share": 0.375 } },
    setting: { "gpu-share": 0.375, batch: 20 },
    changed: [],
    state: { changedAt: { "gpu-share": now }, constraints: {} },
  });
});

test("is kept to its bounds and to a step that is another upwards than downwards", () => {
  expect(ask({ "gpu-share": 3 }, { "gpu-share": 0.25, batch: 20 }).changed).toEqual([
    { knob: "gpu-share", from: 3, to: 0.9, rule: "bounds" },
    { knob: "gpu-share", from: 0.9, to: 0.5, rule: "step" },
  ]);
  expect(ask({ "gpu-share": 0.1 }, { "gpu-share": 0.5, batch: 20 }).setting["gpu-share"]).toBe(0.375);
});

test("cools down in one direction only, where it says so", () => {
  const state = { changedAt: { "gpu-share": now }, constraints: {} };
  expect(ask({ "gpu-share": 0.5 }, { "gpu-share": 0.25, batch: 20 }, state).setting["gpu-share"]).toBe(0.5);
  expect(ask({ "gpu-share": 0.2 }, { "gpu-share": 0.25, batch: 20 }, state).changed).toEqual([
    { knob: "gpu-share", from: 0.2, to: 0.25, rule: "cool-down" },
  ]);
});

test.each([
  { what: "is rounded up to its grain", have: 20, want: 21, granted: 25 },
  { what: "is brought from between two multiples onto one, within the step", have: 12, want: 50, granted: 20 },
  { what: "likewise downwards", have: 18, want: 0, granted: 10 },
  { what: "is led back from above its bounds", have: 200, want: 3, granted: 190 },
])("a knob of a grain $what", ({ have, want, granted }) => {
  expect(ask({ batch: want }, { "gpu-share": 0.25, batch: have }).setting.batch).toBe(granted);
});

test("reaches an actuator that has never heard of it either", async () => {
  const have: Share = { "gpu-share": 0.25, batch: 20 };
  const actuator = memoryActuator([[workload, have]]);
  const { action, setting } = ask({ "gpu-share": 0.4, batch: 22 }, have);
  expect(unwrap(await actuator.apply(action, new AbortController().signal))).toEqual(setting);
});
