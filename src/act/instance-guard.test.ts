import { expect, test } from "vitest";
import type { Limits } from "../base/index.ts";
import { milliseconds, seconds, unwrap } from "../base/index.ts";
import type { ServiceAction } from "./instance-action.ts";
import type { GuardedInstance, ServiceGuardContext } from "./instance-guard.ts";
import { freshServiceGuardState, guardServiceAction } from "./instance-guard.ts";
import { parseServiceGuardLimits } from "./instance-limits.ts";

const all = (value: number): Limits => ({ cpu: value, memory: value, llc: value, io: value, network: value });
const instance: GuardedInstance = {
  ...{ instance: "text-0", service: "text", node: "n", threads: 12 },
  ...{ limits: all(4), lower: all(1), upper: all(40) },
};
const usual = unwrap(parseServiceGuardLimits());
const context = (change: Partial<ServiceGuardContext> = {}): ServiceGuardContext => ({
  limits: usual,
  state: freshServiceGuardState,
  instances: [instance],
  nodes: [{ node: "n", room: all(20) }],
  now: seconds(100),
  ...change,
});
const setLimits = (limits: Partial<Limits>): ServiceAction => ({ kind: "set-limits", instance: "text-0", limits });
const judge = (action: ServiceAction, change: Partial<ServiceGuardContext> = {}, measuredAt = seconds(99)) =>
  guardServiceAction({ action, measuredAt, why: "test" }, context(change));

test("a wish within all limits passes as it is, without the values that stay", () => {
  expect(judge(setLimits({ memory: 10, io: 4 }))).toMatchObject({ action: setLimits({ memory: 10 }), changed: [] });
});

test("a limit is kept within its bounds, its step and the room of its node, and each correction is written down", () => {
  // 100 → 40 by the upper bound → 32 by eight times 4 → 24 by the 20 that the node has left.
  const { action, changed } = judge(setLimits({ memory: 100 }));
  expect(action).toEqual(setLimits({ memory: 24 }));
  expect(changed).toEqual([
    { what: "memory", from: 100, to: 40, why: "bounds" },
    { what: "memory", from: 40, to: 32, why: "step" },
    { what: "memory", from: 32, to: 24, why: "capacity" },
  ]);
  expect(judge(setLimits({ llc: -5 })).action).toEqual(setLimits({ llc: 2 }));
});

test("a container gets no more cores than it has threads", () => {
  expect(judge(setLimits({ cpu: 16 })).action).toEqual(setLimits({ cpu: 12 }));
});

test("a limit that was just raised may rise again at once but falls only after its cool-down", () => {
  const first = judge(setLimits({ io: 8 }));
  const raised = { ...instance, limits: { ...all(4), io: 8 } };
  const at = (ms: number) => ({ instances: [raised], state: first.state, now: milliseconds(ms) });
  expect(judge(setLimits({ io: 10 }), at(100_000)).action).toEqual(setLimits({ io: 10 }));
  expect(judge(setLimits({ io: 6 }), at(101_000))).toMatchObject({ action: { kind: "hold" } });
  expect(judge(setLimits({ io: 6 }), at(102_000)).action).toEqual(setLimits({ io: 6 }));
  // Another resource of the same container does not wait for it.
  expect(judge(setLimits({ network: 3 }), at(101_000)).action).toEqual(setLimits({ network: 3 }));
});

test("replicas stay whole, within their bounds, their step and what the nodes have room for", () => {
  const scale = (replicas: number): ServiceAction => ({ kind: "scale-service", service: "text", replicas });
  expect(judge(scale(1.2)).action).toEqual(scale(2));
  // One may become five: four more is the larger of four and double.
  expect(judge(scale(50)).action).toEqual(scale(5));
  // Two more of the least size, 1 of everything, fit into 2.5.
  expect(judge(scale(50), { nodes: [{ node: "n", room: all(2.5) }] }).action).toEqual(scale(3));
  expect(judge(scale(0))).toMatchObject({ action: { kind: "hold" }, changed: [{ why: "bounds", from: 0, to: 1 }] });
});

test("a proposal is refused that names nobody, says no number, or rests on old or future data", () => {
  const refusalOf = (action: ServiceAction, change = {}, measuredAt = seconds(99)) =>
    judge(action, change, measuredAt).refused;
  expect(refusalOf({ kind: "set-limits", instance: "ghost-0", limits: { cpu: 1 } })).toBe("unknown-target");
  expect(refusalOf({ kind: "scale-service", service: "ghost", replicas: 2 })).toBe("unknown-target");
  // One wild number discredits the others.
  expect(refusalOf(setLimits({ cpu: Number.NaN, memory: 8 }))).toBe("not-finite");
  expect(refusalOf(setLimits({ cpu: 5 }), {}, milliseconds(89_999))).toBe("stale-data");
  expect(refusalOf(setLimits({ cpu: 5 }), {}, milliseconds(105_001))).toBe("data-from-the-future");
  expect(refusalOf(setLimits({ cpu: 5 }), { now: milliseconds(Number.NaN) })).toBe("clock-unknown");
  const broken = { ...instance, limits: { ...all(4), cpu: Number.NaN } };
  expect(refusalOf(setLimits({ memory: 5 }), { instances: [broken] })).toBe("current-unknown");
});

test("changes that no cool-down asks for any more are forgotten, so memory stays small while containers come and go", () => {
  let state = freshServiceGuardState;
  for (let i = 0; i < 500; i++) {
    const own = { ...instance, instance: `text-${i}` };
    const verdict = guardServiceAction(
      {
        action: { kind: "set-limits", instance: own.instance, limits: { memory: 5 } },
        measuredAt: seconds(i),
        why: "",
      },
      context({ instances: [own], state, now: seconds(i) }),
    );
    state = verdict.state;
  }
  // The longest cool-down is 30 s, one change a second.
  expect(state.changedAt.size).toBe(30);
});

test("limits that could never be kept are refused with the reason", () => {
  const bad = parseServiceGuardLimits({ step: { up: 0.5, down: 0.5 } });
  expect(bad).toMatchObject({ ok: false, failure: { code: "guard.service-limits" } });
});
