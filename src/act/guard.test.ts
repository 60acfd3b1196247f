import { describe, expect, test } from "vitest";
import type { Ms } from "../base/index.ts";
import {
  bytes,
  mebibytes,
  millicores,
  milliseconds,
  minutes,
  parseWorkloadId,
  ratio,
  seconds,
  unwrap,
} from "../base/index.ts";
import type { Allocation } from "./action.ts";
import { afterAction, reconcile } from "./action.ts";
import { fitsOn, replicasThatFit } from "./capacity.ts";
import type { GuardContext, GuardState, Verdict } from "./guard.ts";
import { freshGuardState, guard } from "./guard.ts";
import type { GuardOptions } from "./limits.ts";
import { parseGuardLimits } from "./limits.ts";

const workload = unwrap(parseWorkloadId("shop"));
const now = milliseconds(1_700_000_000_000);
const have: Allocation = { replicas: 4, cpu: millicores(1000), memory: mebibytes(1024) };
const bounds: GuardOptions["bounds"] = {
  replicas: { min: 1, max: 20 },
  cpu: { min: millicores(100), max: millicores(4000) },
  memory: { min: mebibytes(128), max: mebibytes(8192) },
};

interface Given extends Partial<Omit<GuardContext, "limits">> {
  readonly want?: Partial<Allocation>;
  readonly measuredAt?: Ms;
  readonly options?: Partial<GuardOptions>;
}
function ask({ want = {}, measuredAt, options, ...rest }: Given): Verdict {
  const limits = unwrap(parseGuardLimits({ bounds, ...options }));
  const context: GuardContext = { limits, state: freshGuardState, have, nodes: "unlimited", now, ...rest };
  return guard({ workload, want, measuredAt: measuredAt ?? context.now }, context);
}
const changedAgo = (ms: Ms): GuardState => ({
  ...freshGuardState,
  changedAt: { replicas: milliseconds(now - ms), cpu: milliseconds(now - ms) },
});

test("a proposal within all limits passes untouched", () => {
  const verdict = ask({ want: { replicas: 5, cpu: millicores(1200) } });
  expect(verdict.changed).toEqual([]);
  expect(verdict.action).toEqual({ kind: "reshape", workload, replicas: 5, cpu: 1200, memory: have.memory });
  expect(verdict.state.changedAt).toEqual({ replicas: now, cpu: now });
});

describe("refused, and everything stays", () => {
  test.each([
    { what: "NaN", given: { want: { cpu: millicores(Number.NaN) } }, why: "not-finite" },
    { what: "infinity", given: { want: { replicas: Number.POSITIVE_INFINITY } }, why: "not-finite" },
    {
      what: "one good value beside a bad one",
      given: { want: { replicas: 5, memory: bytes(Number.NaN) } },
      why: "not-finite",
    },
    {
      what: "data older than allowed",
      given: { measuredAt: milliseconds(now - 90_001), want: { replicas: 5 } },
      why: "stale-data",
    },
    {
      what: "data of no time",
      given: { measuredAt: milliseconds(Number.NaN), want: { replicas: 5 } },
      why: "stale-data",
    },
    {
      what: "data from the future",
      given: { measuredAt: milliseconds(now + 5001), want: { replicas: 5 } },
      why: "data-from-the-future",
    },
    {
      what: "a clock that says nothing",
      given: { now: milliseconds(Number.NaN), want: { replicas: 5 } },
      why: "clock-unknown",
    },
    {
      what: "an allocation that could not be read",
      given: { have: { ...have, cpu: millicores(Number.NaN) }, want: { replicas: 5 } },
      why: "current-unknown",
    },
  ])("$what", ({ given, why }) => {
    const verdict = ask(given);
    expect(verdict).toMatchObject({ action: { kind: "hold" }, refused: why, changed: [] });
    expect(verdict.allocation).toBe("have" in given ? given.have : have);
    expect(verdict.state).toBe(freshGuardState);
  });

  test("data at the edge of its age is still good", () => {
    expect(ask({ measuredAt: milliseconds(now - 90_000), want: { replicas: 5 } }).refused).toBeUndefined();
  });
});

describe("corrected, and written down", () => {
  test("half a replica becomes a whole one, upwards", () => {
    expect(ask({ want: { replicas: 4.2 } })).toMatchObject({
      allocation: { replicas: 5 },
      changed: [{ dimension: "replicas", from: 4.2, to: 5, why: "whole-units" }],
    });
  });

  test("bounds, then the step", () => {
    // 1e9 -> at most 4000 by the bound -> 1000 + max(250, 500) by the step
    expect(ask({ want: { cpu: millicores(1e9) } }).changed).toEqual([
      { dimension: "cpu", from: 1e9, to: 4000, why: "bounds" },
      { dimension: "cpu", from: 4000, to: 1500, why: "step" },
    ]);
  });

  test("a small value moves by the absolute step, a large one by the relative", () => {
    const small = { ...have, cpu: millicores(100) };
    expect(ask({ have: small, want: { cpu: millicores(4000) } }).allocation.cpu).toBe(350);
    const large = { ...have, cpu: millicores(2000) };
    expect(ask({ have: large, want: { cpu: millicores(4000) } }).allocation.cpu).toBe(3000);
  });

  test.each([
    { what: "may rise after 15 s", ago: seconds(15), want: 5, granted: 5 },
    { what: "may not rise before", ago: milliseconds(14_999), want: 5, granted: 4 },
    { what: "may fall after 5 min", ago: minutes(5), want: 3, granted: 3 },
    { what: "may not fall before", ago: milliseconds(minutes(5) - 1), want: 3, granted: 4 },
  ])("a value that was changed $what", ({ ago, want, granted }) => {
    const verdict = ask({ state: changedAgo(ago), want: { replicas: want } });
    expect(verdict.allocation.replicas).toBe(granted);
    expect(verdict.changed).toEqual(
      granted === want ? [] : [{ dimension: "replicas", from: want, to: 4, why: "cool-down" }],
    );
  });

  test("the cool-down of one value does not hold another", () => {
    expect(
      ask({ state: changedAgo(seconds(1)), want: { cpu: millicores(1100), memory: mebibytes(1100) } }).allocation,
    ).toMatchObject({
      cpu: 1000,
      memory: mebibytes(1100),
    });
  });

  test("removals end with the budget", () => {
    const state = { ...freshGuardState, disruptions: [{ at: milliseconds(now - 1000), replicas: 18 }] };
    expect(ask({ state, want: { replicas: 1 } })).toMatchObject({
      allocation: { replicas: 2 },
      changed: [{ dimension: "replicas", from: 1, to: 2, why: "budget" }],
    });
  });

  test("the budget comes back when its window has passed", () => {
    const state = { ...freshGuardState, disruptions: [{ at: milliseconds(now - minutes(10)), replicas: 20 }] };
    const verdict = ask({ state, want: { replicas: 1 } });
    expect(verdict.allocation.replicas).toBe(1);
    expect(verdict.state.disruptions).toEqual([{ at: now, replicas: 3 }]);
  });

  test("a resize that restarts every replica waits for a budget that allows it; one in place does not", () => {
    const disruption = { replicas: 3, window: minutes(10) };
    const recreate = { disruption, restarts: { cpu: true, memory: true } };
    expect(ask({ options: recreate, want: { cpu: millicores(1200), memory: mebibytes(1100) } })).toMatchObject({
      action: { kind: "hold" },
      changed: [
        { dimension: "cpu", why: "budget" },
        { dimension: "memory", why: "budget" },
      ],
    });
    expect(ask({ options: { disruption }, want: { cpu: millicores(1200) } }).allocation.cpu).toBe(1200);
  });

  test("replicas beyond the nodes' room are not added", () => {
    // 2 nodes of 3 cores hold 3 each of 1 core
    const nodes = [
      { cpu: millicores(3500), memory: mebibytes(9000) },
      { cpu: millicores(3500), memory: mebibytes(9000) },
    ];
    expect(ask({ nodes, want: { replicas: 8 } })).toMatchObject({
      allocation: { replicas: 6 },
      changed: [{ dimension: "replicas", from: 8, to: 6, why: "capacity" }],
    });
  });

  test("replicas that are there are not made larger than the nodes' room", () => {
    const nodes = [{ cpu: millicores(4200), memory: mebibytes(9000) }];
    expect(ask({ nodes, want: { cpu: millicores(1100), memory: mebibytes(1200) } }).changed).toEqual([
      { dimension: "cpu", from: 1100, to: 1000, why: "capacity" },
    ]);
  });

  test("an allocation that no longer fits may shrink, and is not torn down", () => {
    const nodes = [{ cpu: millicores(1000), memory: mebibytes(1024) }];
    expect(ask({ nodes, want: { replicas: 3 } }).allocation.replicas).toBe(3);
    expect(ask({ nodes, want: { replicas: 5 } }).allocation.replicas).toBe(4);
  });
});

test("an allocation out of bounds is led back a step at a time", () => {
  const outside = { ...have, cpu: millicores(8000) };
  // 8000 -> the bound 4000 is exactly the step of 50 %
  expect(ask({ have: outside, want: { cpu: millicores(6000) } }).allocation.cpu).toBe(4000);
  expect(ask({ have: { ...have, cpu: millicores(20_000) }, want: { cpu: millicores(6000) } }).allocation.cpu).toBe(
    10_000,
  );
});

test("what was not asked for is not touched, even out of bounds", () => {
  const outside = { ...have, cpu: millicores(8000) };
  expect(ask({ have: outside, want: { replicas: 5 } }).allocation).toEqual({ ...outside, replicas: 5 });
});

test("a clock that went back neither frees nor freezes: the wait starts again", () => {
  const state = {
    changedAt: { replicas: milliseconds(now + minutes(60)) },
    disruptions: [{ at: milliseconds(now + minutes(60)), replicas: 20 }],
  };
  const first = ask({ state, want: { replicas: 5 } });
  expect(first.allocation.replicas).toBe(4);
  expect(first.state.changedAt.replicas).toBe(now);
  const later = milliseconds(now + 15_000);
  expect(ask({ state: first.state, now: later, want: { replicas: 5 } }).allocation.replicas).toBe(5);
});

describe("room on nodes", () => {
  const size = { cpu: millicores(1000), memory: mebibytes(1000) };
  test.each([
    { what: "is the scarcer resource", nodes: [[5000, 2500]], count: 2 },
    {
      what: "is not shared between nodes",
      nodes: [
        [1500, 5000],
        [1500, 5000],
      ],
      count: 2,
    },
    {
      what: "is none on a node with odd figures",
      nodes: [
        [Number.NaN, 5000],
        [-5, 5000],
      ],
      count: 0,
    },
  ])("$what", ({ nodes, count }) => {
    const rooms = nodes.map(([cpu, memory]) => ({ cpu: millicores(cpu ?? 0), memory: mebibytes(memory ?? 0) }));
    expect(replicasThatFit(size, rooms)).toBe(count);
    expect(fitsOn({ ...size, replicas: count }, rooms)).toBe(true);
    expect(fitsOn({ ...size, replicas: count + 1 }, rooms)).toBe(false);
  });
});

describe("reconcile", () => {
  test.each([
    { want: have, kind: "hold" },
    { want: { ...have, replicas: 2 }, kind: "scale" },
    { want: { ...have, memory: mebibytes(1) }, kind: "set-resources" },
    { want: { replicas: 1, cpu: millicores(1), memory: bytes(1) }, kind: "reshape" },
  ])("leads with one $kind to what is wanted, and then holds", ({ want, kind }) => {
    const action = reconcile(workload, want, have);
    expect(action.kind).toBe(kind);
    expect(afterAction(have, action)).toEqual(want);
    expect(reconcile(workload, want, afterAction(have, action))).toEqual({ kind: "hold", workload });
  });
});

describe("limits that can not be kept", () => {
  test.each([
    { what: "half a replica as bound", options: { bounds: { ...bounds, replicas: { min: 0.5, max: 3 } } } },
    {
      what: "bounds the wrong way round",
      options: { bounds: { ...bounds, cpu: { min: millicores(500), max: millicores(100) } } },
    },
    {
      what: "a replica without memory",
      options: { bounds: { ...bounds, memory: { min: bytes(0), max: bytes(100) } } },
    },
    {
      what: "bounds that are no numbers",
      options: { bounds: { ...bounds, memory: { min: bytes(1), max: bytes(Number.NaN) } } },
    },
    {
      what: "a step of nothing",
      options: {
        step: {
          replicas: { absolute: 0, relative: ratio(1) },
          cpu: { absolute: millicores(1), relative: ratio(0) },
          memory: { absolute: bytes(1), relative: ratio(0) },
        },
      },
    },
    { what: "a negative budget", options: { disruption: { replicas: -1, window: minutes(1) } } },
    { what: "a budget without a window", options: { disruption: { replicas: 1, window: minutes(0) } } },
    { what: "data that may have no age", options: { maxDataAge: seconds(0) } },
    { what: "a negative skew", options: { maxDataSkew: seconds(-1) } },
  ])("$what", ({ options }) => {
    expect(parseGuardLimits({ bounds, ...options })).toMatchObject({ ok: false, failure: { code: "guard.limits" } });
  });
});
