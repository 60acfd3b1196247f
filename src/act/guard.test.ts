/** The guard on three knobs it does not know: those of pods, without what their constraints do (constraints/). */
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
import type { PodBounds, PodLimitOptions } from "../control/tasks/pods/index.ts";
import { podLimits } from "../control/tasks/pods/index.ts";
import type { Allocation } from "./allocation.ts";
import type { GuardContext, GuardState, Verdict } from "./guard.ts";
import { freshGuardState, guard } from "./guard.ts";

const workload = unwrap(parseWorkloadId("shop"));
const now = milliseconds(1_700_000_000_000);
const have: Allocation = { replicas: 4, cpu: millicores(1000), memory: mebibytes(1024) };
const bounds: PodBounds = {
  replicas: { min: 1, max: 20 },
  cpu: { min: millicores(100), max: millicores(4000) },
  memory: { min: mebibytes(128), max: mebibytes(8192) },
};

interface Given extends Partial<Omit<GuardContext<Allocation>, "limits">> {
  readonly want?: Partial<Allocation>;
  readonly measuredAt?: Ms;
}
function ask({ want = {}, measuredAt, ...rest }: Given): Verdict<Allocation> {
  const limits = unwrap(podLimits({ bounds }));
  const context: GuardContext<Allocation> = {
    limits,
    state: freshGuardState,
    have,
    nodes: "unlimited",
    now,
    ...rest,
  };
  return guard({ workload, want, measuredAt: measuredAt ?? context.now }, context);
}
const changedAgo = (ms: Ms): GuardState => ({
  ...freshGuardState,
  changedAt: { replicas: milliseconds(now - ms), cpu: milliseconds(now - ms) },
});

test("a proposal within all limits passes untouched", () => {
  const verdict = ask({ want: { replicas: 5, cpu: millicores(1200) } });
  expect(verdict.changed).toEqual([]);
  expect(verdict.action).toEqual({ kind: "set", workload, set: { replicas: 5, cpu: 1200 } });
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
      what: "a knob without limits",
      given: { want: { replicas: 5, threads: 2 } as Partial<Allocation> },
      why: "unknown-knob",
    },
    {
      what: "a knob without limits, whatever its value",
      given: { want: { threads: Number.NaN } as Partial<Allocation> },
      why: "unknown-knob",
    },
    {
      what: "a knob that is not there",
      given: { have: { replicas: 4, cpu: millicores(1000) } as Allocation, want: { replicas: 5 } },
      why: "current-unknown",
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
    expect(verdict.setting).toBe("have" in given ? given.have : have);
    expect(verdict.state).toBe(freshGuardState);
  });

  test("data at the edge of its age is still good", () => {
    expect(ask({ measuredAt: milliseconds(now - 90_000), want: { replicas: 5 } }).refused).toBeUndefined();
  });
});

describe("corrected, and written down", () => {
  test("half a replica becomes a whole one, upwards", () => {
    expect(ask({ want: { replicas: 4.2 } })).toMatchObject({
      setting: { replicas: 5 },
      changed: [{ knob: "replicas", from: 4.2, to: 5, rule: "grain" }],
    });
  });

  test("bounds, then the step", () => {
    // 1e9 -> at most 4000 by the bound -> 1000 + max(250, 500) by the step
    expect(ask({ want: { cpu: millicores(1e9) } }).changed).toEqual([
      { knob: "cpu", from: 1e9, to: 4000, rule: "bounds" },
      { knob: "cpu", from: 4000, to: 1500, rule: "step" },
    ]);
  });

  test("a small value moves by the absolute step, a large one by the relative", () => {
    const small = { ...have, cpu: millicores(100) };
    expect(ask({ have: small, want: { cpu: millicores(4000) } }).setting.cpu).toBe(350);
    const large = { ...have, cpu: millicores(2000) };
    expect(ask({ have: large, want: { cpu: millicores(4000) } }).setting.cpu).toBe(3000);
  });

  test.each([
    { what: "may rise after 15 s", ago: seconds(15), want: 5, granted: 5 },
    { what: "may not rise before", ago: milliseconds(14_999), want: 5, granted: 4 },
    { what: "may fall after 5 min", ago: minutes(5), want: 3, granted: 3 },
    { what: "may not fall before", ago: milliseconds(minutes(5) - 1), want: 3, granted: 4 },
  ])("a value that was changed $what", ({ ago, want, granted }) => {
    const verdict = ask({ state: changedAgo(ago), want: { replicas: want } });
    expect(verdict.setting.replicas).toBe(granted);
    expect(verdict.changed).toEqual(
      granted === want ? [] : [{ knob: "replicas", from: want, to: 4, rule: "cool-down" }],
    );
  });

  test("the cool-down of one value does not hold another", () => {
    expect(
      ask({ state: changedAgo(seconds(1)), want: { cpu: millicores(1100), memory: mebibytes(1100) } }).setting,
    ).toMatchObject({
      cpu: 1000,
      memory: mebibytes(1100),
    });
  });
});

test("an allocation out of bounds is led back a step at a time", () => {
  const outside = { ...have, cpu: millicores(8000) };
  // 8000 -> the bound 4000 is exactly the step of 50 %
  expect(ask({ have: outside, want: { cpu: millicores(6000) } }).setting.cpu).toBe(4000);
  expect(ask({ have: { ...have, cpu: millicores(20_000) }, want: { cpu: millicores(6000) } }).setting.cpu).toBe(10_000);
});

test("corrections are listed knob by knob, in the order of the limits", () => {
  const { changed } = ask({ want: { memory: bytes(1), cpu: millicores(0.5), replicas: 99 } });
  expect(changed.map(({ knob, rule }) => `${knob} ${rule}`)).toEqual([
    "replicas bounds",
    "replicas step",
    "cpu grain",
    "cpu bounds",
    "cpu step",
    "memory bounds",
    "memory step",
  ]);
});

test("a wish that is left undefined is none", () => {
  const want = { replicas: undefined, threads: undefined } as unknown as Partial<Allocation>;
  expect(ask({ want })).toMatchObject({ action: { kind: "hold" }, changed: [] });
});

test("a step in which nothing happens leaves the same state", () => {
  const { state } = ask({ want: { replicas: 5 } });
  expect(ask({ state, want: {}, now: milliseconds(now + 1000) }).state).toBe(state);
});

test("what was not asked for is not touched, even out of bounds", () => {
  const outside = { ...have, cpu: millicores(8000) };
  expect(ask({ have: outside, want: { replicas: 5 } }).setting).toEqual({ ...outside, replicas: 5 });
});

test("a clock that went back neither frees nor freezes: the wait starts again", () => {
  const state = {
    changedAt: { replicas: milliseconds(now + minutes(60)) },
    constraints: {},
  };
  const first = ask({ state, want: { replicas: 5 } });
  expect(first.setting.replicas).toBe(4);
  expect(first.state.changedAt.replicas).toBe(now);
  const later = milliseconds(now + 15_000);
  expect(ask({ state: first.state, now: later, want: { replicas: 5 } }).setting.replicas).toBe(5);
});

describe("limits of pods that cannot be kept", () => {
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
    { what: "a negative budget", options: { disruption: { members: -1, window: minutes(1) } } },
    { what: "a budget without a window", options: { disruption: { members: 1, window: minutes(0) } } },
    { what: "data that may have no age", options: { maxDataAge: seconds(0) } },
    { what: "a negative skew", options: { maxDataSkew: seconds(-1) } },
  ])("$what", ({ options }) => {
    const asked: PodLimitOptions = { bounds, ...options };
    expect(podLimits(asked)).toMatchObject({ ok: false, failure: { code: "guard.limits" } });
  });
});
