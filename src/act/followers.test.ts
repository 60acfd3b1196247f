/** Pods that take a new size one by one, as the updater of a VPA asks for it. */
import { describe, expect, test } from "vitest";
import { mebibytes, millicores, milliseconds, minutes, parseWorkloadId, unwrap } from "../base/index.ts";
import type { Allocation } from "./action.ts";
import { afterAction, reconcile } from "./action.ts";
import type { GuardState, Verdict } from "./guard.ts";
import { disruptedReplicas, freshGuardState, guard } from "./guard.ts";
import type { GuardOptions } from "./limits.ts";
import { parseGuardLimits } from "./limits.ts";

const workload = unwrap(parseWorkloadId("shop"));
const now = milliseconds(1_700_000_000_000);
const have: Allocation = { replicas: 4, cpu: millicores(1000), memory: mebibytes(1024) };
const limits = (options: Partial<GuardOptions> = {}) =>
  unwrap(
    parseGuardLimits({
      bounds: {
        replicas: { min: 1, max: 20 },
        cpu: { min: millicores(100), max: millicores(4000) },
        memory: { min: mebibytes(128), max: mebibytes(8192) },
      },
      ...options,
    }),
  );
const recreating = (replicas: number) =>
  limits({ disruption: { replicas, window: minutes(10) }, restarts: { cpu: true, memory: true } });

interface Given {
  readonly want: Partial<Allocation>;
  readonly pods: readonly string[];
  readonly under?: ReturnType<typeof limits>;
  readonly state?: GuardState;
}
const ask = ({ want, pods, under = limits(), state = freshGuardState }: Given): Verdict =>
  guard({ workload, want, pods, measuredAt: now }, { limits: under, state, have, nodes: "unlimited", now });

describe("reconcile with followers", () => {
  test("names the pods that take the new size", () => {
    const want = { ...have, cpu: millicores(1200), pods: ["b"] };
    expect(reconcile(workload, want, have)).toEqual({
      kind: "set-resources",
      workload,
      cpu: 1200,
      memory: have.memory,
      pods: ["b"],
    });
  });

  test("a size that was set before is still to be taken by those that lack it", () => {
    const action = reconcile(workload, { ...have, pods: ["c"] }, have);
    expect(action).toMatchObject({ kind: "set-resources", cpu: have.cpu, memory: have.memory, pods: ["c"] });
    expect(afterAction(have, action)).toEqual(have);
  });

  test("without anybody to follow a size that stays is a hold", () => {
    expect(reconcile(workload, { ...have, pods: [] }, have)).toEqual({ kind: "hold", workload });
    expect(reconcile(workload, { ...have, replicas: 3, pods: [] }, have)).toEqual({
      kind: "scale",
      workload,
      replicas: 3,
    });
  });
});

describe("the guard and followers", () => {
  test("a resize of named pods restarts only these", () => {
    const verdict = ask({ want: { cpu: millicores(1200) }, pods: ["a", "b"], under: recreating(3) });
    expect(verdict.action).toMatchObject({ kind: "set-resources", cpu: 1200, pods: ["a", "b"] });
    expect(verdict.state.disruptions).toEqual([{ at: now, replicas: 2 }]);
    expect(verdict).not.toHaveProperty("heldBack");
  });

  test("the new size is set for later pods while the budget holds running ones back, the least urgent first", () => {
    const verdict = ask({ want: { cpu: millicores(1200) }, pods: ["a", "b", "c"], under: recreating(2) });
    expect(verdict.action).toMatchObject({ cpu: 1200, pods: ["a", "b"] });
    expect(verdict.heldBack).toEqual(["c"]);
    expect(verdict.state.disruptions).toEqual([{ at: now, replicas: 2 }]);
  });

  test("removals come before followers in the budget", () => {
    // 2 removed of 3 leave 1 for followers
    const verdict = ask({
      want: { replicas: 2, cpu: millicores(1200) },
      pods: ["a", "b", "c"],
      under: recreating(3),
    });
    expect(verdict.action).toMatchObject({ kind: "reshape", replicas: 2, cpu: 1200, pods: ["a"] });
    expect(verdict.state.disruptions).toEqual([{ at: now, replicas: 3 }]);
  });

  test("following a size of before counts too, when a resize restarts", () => {
    const verdict = ask({ want: {}, pods: ["a", "b"], under: recreating(1) });
    expect(verdict.action).toMatchObject({ kind: "set-resources", pods: ["a"] });
    expect(verdict.heldBack).toEqual(["b"]);
    expect(ask({ want: {}, pods: ["a", "b"] }).state.disruptions).toEqual([]);
  });

  test("a resize that the cool-down leaves nothing of has no followers", () => {
    const state = { ...freshGuardState, changedAt: { cpu: now } };
    const verdict = ask({ want: { cpu: millicores(1200) }, pods: ["a"], state });
    expect(verdict.action).toEqual({ kind: "hold", workload });
    expect(verdict.heldBack).toEqual(["a"]);
  });

  test("a refused proposal moves no pod", () => {
    const verdict = ask({ want: { cpu: millicores(Number.NaN) }, pods: ["a"] });
    expect(verdict).toMatchObject({ refused: "not-finite", action: { kind: "hold" } });
  });

  test("a name twice is one pod", () => {
    expect(ask({ want: { cpu: millicores(1200) }, pods: ["a", "a"], under: recreating(1) }).action).toMatchObject({
      pods: ["a"],
    });
  });
});

test("disruptions are counted by what restarts", () => {
  const recreate = recreating(9);
  const resized = { ...have, cpu: millicores(1200) };
  expect(disruptedReplicas(resized, have, recreate)).toBe(4);
  expect(disruptedReplicas({ ...resized, pods: ["a"] }, have, recreate)).toBe(1);
  expect(disruptedReplicas({ ...resized, pods: [] }, have, recreate)).toBe(0);
  expect(disruptedReplicas({ ...resized, replicas: 3, pods: ["a"] }, have, recreate)).toBe(2);
  expect(disruptedReplicas({ ...resized, pods: ["a"] }, have, limits())).toBe(0);
});
