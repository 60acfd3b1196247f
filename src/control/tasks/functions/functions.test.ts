import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freshGuardState, guard } from "../../../act/index.ts";
import { milliseconds, parseWorkloadId, perSecond, ratio, unwrap } from "../../../base/index.ts";
import type { FunctionReading } from "../../../observe/telemetry/index.ts";
import {
  afterChoice,
  choiceOf,
  choiceProblem,
  type FunctionSetting,
  functionChoices,
  HOLD,
  usualBounds,
} from "./action.ts";
import { functionLimits } from "./limits.ts";
import { freshFunctionMemory } from "./observation.ts";
import { functionReward } from "./reward.ts";
import { functionsTask } from "./task.ts";

const [UP, DOWN, MEMORY_UP, MEMORY_DOWN, OUT, IN] = [1, 2, 3, 4, 5, 6] as const;
const now = milliseconds(10_000);
const setting: FunctionSetting = { shares: 1_024, memory: 512, containers: 9 };
const workload = unwrap(parseWorkloadId("primes"));

const reading = (parts: Partial<FunctionReading> = {}): FunctionReading => ({
  workload,
  at: now,
  setting,
  slo: milliseconds(1_000),
  ready: 9,
  starting: 0,
  use: { cpu: ratio(0.4), memory: ratio(0.2) },
  latency: milliseconds(800),
  execution: milliseconds(700),
  waiting: milliseconds(100),
  coldStart: milliseconds(0),
  offered: perSecond(5),
  completed: perSecond(5),
  failed: perSecond(0),
  kills: 0,
  ...parts,
});

const see = (parts: Partial<FunctionReading> = {}, memory: unknown = freshFunctionMemory) =>
  unwrap(functionsTask().encode(reading(parts), { memory, now }));

describe("what is seen", () => {
  test("the paper's seven numbers, then what may be done", () => {
    const { values } = see();
    expect([...values].map((x) => +x.toFixed(4))).toEqual([
      1, // kept
      0.4,
      0.2,
      0, // nothing to compare with
      0.4667, // (1,024 − 128) / 1,920
      0.4667, // (512 − 64) / 960
      0.3333, // log 10 / log 1,001
      ...[1, 1, 1, 1, 1, 1, 1],
    ]);
    expect(
      unwrap(functionsTask({ badChoices: "penalised" }).encode(reading(), { memory: freshFunctionMemory, now })).values,
    ).toHaveLength(7);
  });

  test("preservation is the SLO over the latency where that is worse, and counts those who got no answer", () => {
    const preservation = (parts: Partial<FunctionReading>) => see(parts).measures.preservation;
    expect(preservation({ latency: milliseconds(4_000) })).toBe(0.25);
    expect(preservation({ latency: null, offered: perSecond(0), completed: perSecond(0) })).toBe(1);
    expect(preservation({ latency: null, completed: perSecond(0), failed: perSecond(0) })).toBe(0);
    expect(preservation({ completed: perSecond(3), failed: perSecond(1) })).toBe(0.75);
  });

  test("the change of the load is over the larger of both, and a missing sample is as the last one was", () => {
    const first = see();
    expect(see({ offered: perSecond(10) }, first.memory).measures.loadChange).toBe(0.5);
    expect(see({ offered: perSecond(1) }, first.memory).measures.loadChange).toBe(-0.8);
    expect(see({ use: { cpu: null, memory: null } }, first.memory).measures).toMatchObject({ cpu: 0.4, memory: 0.2 });
    // Of no container nothing is used.
    expect(see({ use: { cpu: null, memory: null }, ready: 0 }, first.memory).measures).toMatchObject({
      cpu: 0,
      memory: 0,
    });
    expect(see({ use: { cpu: ratio(3), memory: ratio(0.1) } }).measures.cpu).toBe(1);
  });

  test("before anything was measured there is nothing to see, and it is worth asking again", () => {
    const seen = functionsTask().encode(reading({ offered: null }), { memory: freshFunctionMemory, now });
    expect(seen).toMatchObject({ ok: false, failure: { code: "functions.no-sample", retry: true } });
  });
});

describe("what may be done", () => {
  test("beyond a bound, or anything but out with no container, is illegal", () => {
    const problem = (choice: number, have: Partial<FunctionSetting>) =>
      choiceProblem(choice, { have: { ...setting, ...have }, last: HOLD }, usualBounds);
    expect(problem(UP, { shares: 2_048 })).toBe("illegal");
    expect(problem(DOWN, { shares: 128 })).toBe("illegal");
    expect(problem(MEMORY_DOWN, { memory: 64 })).toBe("illegal");
    expect(problem(OUT, { containers: 1_000 })).toBe("illegal");
    for (const choice of [UP, DOWN, MEMORY_UP, MEMORY_DOWN, IN])
      expect(problem(choice, { containers: 0 })).toBe("illegal");
    for (const choice of [HOLD, OUT]) expect(problem(choice, { containers: 0 })).toBeUndefined();
    for (const choice of functionChoices.keys()) expect(problem(choice, {})).toBeUndefined();
  });

  test("the opposite of the last choice is oscillating, told by what has changed, and masked", () => {
    const before = see();
    const after = see({ setting: { ...setting, shares: 1_152 } }, before.memory);
    expect(after.last).toBe(UP);
    expect([...after.values.slice(7)]).toEqual([1, 1, 0, 1, 1, 1, 1]);
    // A step later it may be undone.
    expect([...see({ setting: { ...setting, shares: 1_152 } }, after.memory).values.slice(7)]).toEqual([
      1, 1, 1, 1, 1, 1, 1,
    ]);
  });

  test("a choice moves one setting by its step, and can be told from it; a bad one moves nothing", () => {
    const { decode, encodeSetting } = functionsTask();
    const seen = see();
    for (const choice of functionChoices.keys()) {
      const meant = decode([choice], seen);
      expect(meant).toEqual(afterChoice(choice, setting, usualBounds));
      expect([...encodeSetting(meant, seen)]).toEqual([choice]);
    }
    expect(decode([IN], see({ setting: { ...setting, containers: 0 } }))).toEqual({ ...setting, containers: 0 });
    expect(decode([Number.NaN], seen).shares).toBeNaN();
    // What rules do is several steps of several settings: the one that moved the furthest.
    expect(choiceOf({ shares: 1_152, memory: 512, containers: 14 }, setting, usualBounds)).toBe(OUT);
  });

  test("whatever is allowed passes the guard unchanged", () => {
    const limits = unwrap(functionLimits(usualBounds));
    const range = ({ min, max, step }: { min: number; max: number; step: number }) =>
      fc.integer({ min: 0, max: (max - min) / step }).map((steps) => min + steps * step);
    const have = fc.record({
      shares: range(usualBounds.shares),
      memory: range(usualBounds.memory),
      containers: range(usualBounds.containers),
    });
    fc.assert(
      fc.property(have, fc.nat(6), fc.nat(6), (there, choice, last) => {
        fc.pre(choiceProblem(choice, { have: there, last }, usualBounds) === undefined);
        const want = afterChoice(choice, there, usualBounds);
        const context = { limits, state: freshGuardState, have: there, nodes: "unlimited" as const, now };
        const verdict = guard({ workload, want, measuredAt: now }, context);
        expect(verdict.changed).toEqual([]);
        expect(verdict.setting).toEqual(want);
      }),
    );
  });
});

describe("what is earned", () => {
  test("in the paper 0.3 for the SLO, 0.35 for each use, less 1 for a bad choice", () => {
    const measures = { preservation: 0.5, cpu: 0.4, memory: 0.2 };
    expect(functionReward(measures, { form: "paper" })).toBeCloseTo(0.15 + 0.35 * 0.6, 12);
    expect(functionReward(measures, { form: "paper", isPenalised: true })).toBeCloseTo(0.15 + 0.35 * 0.6 - 1, 12);
  });

  test("in the strict form uses count only in steps that keep the SLO", () => {
    const uses = { cpu: 0.4, memory: 0.2 };
    expect(functionReward({ preservation: 1, ...uses }, { form: "strict" })).toBeCloseTo(0.3 + 0.35 * 0.6, 12);
    // A hair above the SLO, and the 0.21 for uses are gone.
    expect(functionReward({ preservation: 0.99, ...uses }, { form: "strict" })).toBeCloseTo(0.297, 12);
  });

  test("by default uses count as far as the SLO is kept: starving a function does not pay", () => {
    const kept = { preservation: 1, cpu: 0.3, memory: 0.3 };
    const starved = { preservation: 0.02, cpu: 1, memory: 0.6 };
    // 0.3 + 0.35 · 0.6 where it is kept, in both forms; 0.02 · (0.3 + 0.35 · 1.6) against 0.006 + 0.56 where it is starved.
    expect(functionReward(kept)).toBeCloseTo(0.51, 12);
    expect(functionReward(kept, { form: "paper" })).toBeCloseTo(0.51, 12);
    expect(functionReward(starved)).toBeCloseTo(0.0172, 12);
    expect(functionReward(starved, { form: "paper" })).toBeCloseTo(0.566, 12);
  });

  test("all else equal, a worse violation and an oscillation earn less, in every form", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const form = fc.constantFrom("kept" as const, "paper" as const, "strict" as const);
    fc.assert(
      fc.property(form, fc.tuple(share, share), share, share, (form, [cpu, memory], one, other) => {
        const [worse, better] = [Math.min(one, other), Math.max(one, other)];
        const of = (preservation: number, isPenalised = false) =>
          functionReward({ preservation, cpu, memory }, { form, isPenalised });
        expect(of(worse)).toBeLessThanOrEqual(of(better));
        if (better - worse > 1e-9) expect(of(worse)).toBeLessThan(of(better));
        expect(of(better, true)).toBeLessThan(of(better));
      }),
    );
  });
});

test("readings from outside are looked at field by field", () => {
  const { parse } = functionsTask();
  expect(parse(reading())).toEqual({ ok: true, value: reading() });
  expect(parse({ ...reading(), kills: Number.NaN })).toMatchObject({ ok: false });
  expect(parse({ ...reading(), setting: { shares: 1 } })).toMatchObject({ failure: { code: "telemetry.malformed" } });
});
