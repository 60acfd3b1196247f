/** Pods that take a new size one by one, as the updater of a VPA asks for it, under all constraints of pods. */
import { expect, test } from "vitest";
import { mebibytes, millicores, milliseconds, minutes, parseWorkloadId, unwrap } from "../../base/index.ts";
import { podLimits } from "../../control/tasks/pods/index.ts";
import type { Allocation } from "../allocation.ts";
import type { GuardState, NodeRoom, Verdict } from "../guard.ts";
import { freshGuardState, guard } from "../guard.ts";

const workload = unwrap(parseWorkloadId("shop"));
const now = milliseconds(1_700_000_000_000);
const have: Allocation = { replicas: 4, cpu: millicores(1000), memory: mebibytes(1024) };
const limits = unwrap(
  podLimits({
    bounds: {
      replicas: { min: 1, max: 20 },
      cpu: { min: millicores(100), max: millicores(4000) },
      memory: { min: mebibytes(128), max: mebibytes(8192) },
    },
    disruption: { members: 3, window: minutes(10) },
    restarts: { cpu: true, memory: true },
  }),
);

interface Given {
  readonly want: Partial<Allocation>;
  readonly followers: readonly string[];
  readonly state?: GuardState;
  readonly nodes?: readonly NodeRoom[];
}
const ask = ({ want, followers, state = freshGuardState, nodes }: Given): Verdict<Allocation> =>
  guard({ workload, want, followers, measuredAt: now }, { limits, state, have, nodes: nodes ?? "unlimited", now });

test("a resize of which something is left has its followers", () => {
  // 9000 millicores are more than the bounds and the step allow: 1500 it is.
  const verdict = ask({ want: { cpu: millicores(9000) }, followers: ["a"] });
  expect(verdict.action).toEqual({ kind: "set", workload, set: { cpu: 1500 }, followers: ["a"] });
});

test("a resize that the cool-down leaves nothing of has none", () => {
  const state = { ...freshGuardState, changedAt: { cpu: now } };
  const verdict = ask({ want: { cpu: millicores(1200) }, followers: ["a"], state });
  expect(verdict.action).toEqual({ kind: "hold", workload });
  expect(verdict.heldBack).toEqual(["a"]);
});

test("one that the nodes leave nothing of has none, and costs nothing of the budget", () => {
  const nodes = [{ cpu: 4200, memory: mebibytes(9000) }];
  const verdict = ask({ want: { cpu: millicores(1200) }, followers: ["a", "b", "c", "d"], nodes });
  expect(verdict.action).toEqual({ kind: "hold", workload });
  // Those that the budget held back come after those that it did not: their order is kept.
  expect(verdict.heldBack).toEqual(["a", "b", "c", "d"]);
  expect(verdict.state.constraints).toEqual({ budget: [] });
});

test("where members are removed beside it, they are, and nobody follows", () => {
  const state = { ...freshGuardState, changedAt: { cpu: now } };
  const verdict = ask({ want: { replicas: 3, cpu: millicores(1200) }, followers: ["a"], state });
  expect(verdict.action).toEqual({ kind: "set", workload, set: { replicas: 3 }, followers: [] });
  expect(verdict.heldBack).toEqual(["a"]);
  expect(verdict.state.constraints).toEqual({ budget: [{ at: now, members: 1 }] });
});

test("a size that was set before, and is not asked for again, has its followers", () => {
  const state = { ...freshGuardState, changedAt: { cpu: now } };
  expect(ask({ want: {}, followers: ["a"], state }).action).toMatchObject({ set: {}, followers: ["a"] });
  // To ask for what is there is no resize either.
  expect(ask({ want: { cpu: have.cpu }, followers: ["a"], state }).action).toMatchObject({ followers: ["a"] });
});

test("a refused proposal moves no member", () => {
  const verdict = ask({ want: { cpu: millicores(Number.NaN) }, followers: ["a"] });
  expect(verdict).toMatchObject({ refused: "not-finite", action: { kind: "hold" } });
  expect(verdict).not.toHaveProperty("heldBack");
});
