/** Members removed and restarted, counted and held back; the members of these tests are shards. */
import { describe, expect, test } from "vitest";
import { milliseconds, minutes, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import type { GuardState, Verdict } from "../guard.ts";
import { freshGuardState, guard } from "../guard.ts";
import type { Knob } from "../knob.ts";
import { parseGuardLimits } from "../limits.ts";
import type { Disruption } from "./disruption-budget.ts";
import { disruptedMembers, disruptionBudget, disruptionProblem } from "./disruption-budget.ts";

const workload = unwrap(parseWorkloadId("shop"));
const now = milliseconds(1_700_000_000_000);
const have = { shards: 4, cpu: 1000, memory: 1024 };
type Shards = typeof have;

const knob = (name: string, grain = 1): Knob => ({
  name,
  unit: "units",
  bounds: { min: 0, max: 10_000 },
  grain,
  step: { absolute: 10_000, up: 0, down: 0 },
  cooldown: { up: seconds(0), down: seconds(0) },
});
const inPlace: Disruption = {
  count: "shards",
  sizes: ["cpu", "memory"],
  restarts: [],
  members: 20,
  window: minutes(10),
};
const recreating = (members: number): Disruption => ({ ...inPlace, restarts: ["cpu", "memory"], members });

interface Given {
  readonly want: Partial<Shards>;
  readonly followers?: readonly string[];
  readonly under?: Disruption;
  readonly state?: GuardState;
  readonly from?: Shards;
  readonly grain?: number;
}
function ask({
  want,
  followers,
  under = inPlace,
  state = freshGuardState,
  from = have,
  grain,
}: Given): Verdict<Shards> {
  const knobs = [knob("shards", grain), knob("cpu"), knob("memory")];
  const limits = unwrap(parseGuardLimits({ knobs, constraints: [disruptionBudget(under)] }));
  const proposal = { workload, want, measuredAt: now };
  return guard(followers === undefined ? proposal : { ...proposal, followers }, {
    limits,
    state,
    have: from,
    nodes: "unlimited",
    now,
  });
}
const spent = (members: number, at: number): GuardState => ({
  ...freshGuardState,
  constraints: { budget: [{ at: milliseconds(at), members }] },
});

describe("removals", () => {
  test("end with the budget", () => {
    expect(ask({ state: spent(18, now - 1000), want: { shards: 1 } })).toMatchObject({
      setting: { shards: 2 },
      changed: [{ knob: "shards", from: 1, to: 2, rule: "budget" }],
    });
  });

  test("go on when the window has passed", () => {
    const verdict = ask({ state: spent(20, now - minutes(10)), want: { shards: 1 } });
    expect(verdict.setting.shards).toBe(1);
    expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 3 }] });
  });

  test("of members that come in fives are of whole fives, and fewer rather than more", () => {
    // 7 of 40 may go: 33 is left of them, 35 with the grain
    const verdict = ask({ want: { shards: 0 }, under: recreating(7), from: { ...have, shards: 40 }, grain: 5 });
    expect(verdict.setting.shards).toBe(35);
    expect(verdict.changed).toEqual([
      { knob: "shards", from: 0, to: 33, rule: "budget" },
      { knob: "shards", from: 33, to: 35, rule: "budget" },
    ]);
    expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 5 }] });
  });

  test("that seem to lie ahead count as just made: the clock went back", () => {
    const verdict = ask({ state: spent(20, now + minutes(60)), want: { shards: 1 } });
    expect(verdict.setting.shards).toBe(4);
    expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 20 }] });
  });
});

test("a resize that restarts every member waits for a budget that allows it; one in place does not", () => {
  expect(ask({ under: recreating(3), want: { cpu: 1200, memory: 1100 } })).toMatchObject({
    action: { kind: "hold" },
    changed: [
      { knob: "cpu", rule: "budget" },
      { knob: "memory", rule: "budget" },
    ],
  });
  expect(ask({ under: { ...inPlace, members: 3 }, want: { cpu: 1200 } }).setting.cpu).toBe(1200);
});

test("where one size restarts and another does not, only the one waits", () => {
  const under: Disruption = { ...inPlace, restarts: ["memory"], members: 3 };
  expect(ask({ under, want: { cpu: 1200, memory: 1100 } })).toMatchObject({ setting: { cpu: 1200, memory: 1024 } });
  expect(ask({ under, want: { cpu: 1200 } }).state.constraints).toEqual({ budget: [] });
});

describe("followers", () => {
  test("a resize of named members restarts only these", () => {
    const verdict = ask({ want: { cpu: 1200 }, followers: ["a", "b"], under: recreating(3) });
    expect(verdict.action).toEqual({ kind: "set", workload, set: { cpu: 1200 }, followers: ["a", "b"] });
    expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 2 }] });
    expect(verdict).not.toHaveProperty("heldBack");
  });

  test("the new size is set for later members while running ones are held back, the least urgent first", () => {
    const verdict = ask({ want: { cpu: 1200 }, followers: ["a", "b", "c"], under: recreating(2) });
    expect(verdict.action).toMatchObject({ set: { cpu: 1200 }, followers: ["a", "b"] });
    expect(verdict.heldBack).toEqual(["c"]);
    expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 2 }] });
  });

  test("removals come before followers in the budget", () => {
    // 2 removed of 3 leave 1 for followers
    const verdict = ask({ want: { shards: 2, cpu: 1200 }, followers: ["a", "b", "c"], under: recreating(3) });
    expect(verdict.action).toMatchObject({ kind: "set", set: { shards: 2, cpu: 1200 }, followers: ["a"] });
    expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 3 }] });
  });

  test("following a size of before counts too, when a resize restarts", () => {
    const verdict = ask({ want: {}, followers: ["a", "b"], under: recreating(1) });
    expect(verdict.action).toEqual({ kind: "set", workload, set: {}, followers: ["a"] });
    expect(verdict.heldBack).toEqual(["b"]);
    expect(ask({ want: {}, followers: ["a", "b"] }).state.constraints).toEqual({ budget: [] });
  });

  test("a name twice is one member", () => {
    const verdict = ask({ want: { cpu: 1200 }, followers: ["a", "a"], under: recreating(1) });
    expect(verdict.action).toMatchObject({ followers: ["a"] });
    expect(verdict).not.toHaveProperty("heldBack");
  });
});

test("disruptions are counted by what restarts", () => {
  const recreate = recreating(9);
  const setting = { ...have, cpu: 1200 };
  expect(disruptedMembers({ setting, followers: undefined }, have, recreate)).toBe(4);
  expect(disruptedMembers({ setting, followers: ["a"] }, have, recreate)).toBe(1);
  expect(disruptedMembers({ setting, followers: [] }, have, recreate)).toBe(0);
  expect(disruptedMembers({ setting: { ...setting, shards: 3 }, followers: ["a"] }, have, recreate)).toBe(2);
  expect(disruptedMembers({ setting, followers: ["a"] }, have, inPlace)).toBe(0);
});

test("nothing to count is nothing new to keep in mind", () => {
  const first = ask({ want: {} });
  expect(ask({ want: { shards: 4 }, state: first.state }).state).toBe(first.state);
});

test.each([
  { budget: { members: 0, window: minutes(1) }, says: undefined },
  { budget: { members: -1, window: minutes(1) }, says: "give a whole number from 0" },
  { budget: { members: 1.5, window: minutes(1) }, says: "give a whole number from 0" },
  { budget: { members: 1, window: minutes(0) }, says: "give more than 0" },
  { budget: { members: 1, window: milliseconds(Number.NaN) }, says: "give more than 0" },
])("a budget of $budget.members in $budget.window ms: $says", ({ budget, says }) => {
  expect(disruptionProblem(budget)?.split(": ")[1]).toBe(says);
});
