/** From recorded steps to a policy that learned in a simulator fitted to them, on a course whose physics is known. */
import { describe, expect, test } from "vitest";
import {
  type Ms,
  milliseconds,
  parseWorkloadId,
  perSecond,
  type Rng,
  ratio,
  seconds,
  seededRng,
  unwrap,
} from "../../../../base/index.ts";
import { createLearner } from "../../../../learn/rl/index.ts";
import { referenceKernels } from "../../../../learn/tensor/index.ts";
import type { FunctionReading } from "../../../../observe/telemetry/index.ts";
import { ensureController } from "../../../fallbacks/index.ts";
import { type FunctionSetting, usualBounds } from "../action.ts";
import { functionsLearner } from "../learner.ts";
import type { FunctionMemory } from "../observation.ts";
import { functionsTask } from "../task.ts";
import type { BootstrapEstimate, Bootstrapped } from "./advice.ts";
import { FUNCTION_BOOTSTRAP } from "./advisor.ts";
import { fitFunction } from "./fit.ts";
import { type FunctionModel, ModelWorld, settingFactor } from "./model.ts";
import { extentOf, type FunctionRecords, noFunctionRecords, recordsAfter, stepsOf } from "./records.ts";
import { functionBootstrap, seatOf } from "./train.ts";
import type { BootstrapWork } from "./work.ts";

const workload = unwrap(parseWorkloadId("primes"));
const step = seconds(10);
const slo = milliseconds(600);
const truth: FunctionModel = {
  way: 10,
  execution: 500,
  spread: 0.08,
  unevenness: 0,
  sharesPower: 0,
  shares: { least: 256, most: 2_048 },
  memory: { idle: 60, call: 40, least: 160 },
  coldStart: 1_500,
};
const initial: FunctionSetting = { shares: 1_024, memory: 256, containers: 6 };

function worldOf(
  model: FunctionModel,
  { rng, from = initial }: { readonly rng: Rng; readonly from?: FunctionSetting },
) {
  const course = Array.from({ length: 400 }, (_, i) => ({
    offered: 8 + 6 * Math.sin(i / 9) + 2 * rng.fork(i).next(),
    slowdown: 1,
    cpu: 400,
  }));
  return new ModelWorld({ model, course, from: 0, initial: from, workload, slo, step, rng: rng.fork("calls") });
}

/** A function under ENSURE, as it is recorded. */
function recorded(steps: number, disturb: (reading: FunctionReading, i: number) => FunctionReading = (one) => one) {
  const world = worldOf(truth, { rng: seededRng(5) });
  const rules = ensureController();
  let state = rules.start();
  let records: FunctionRecords = noFunctionRecords;
  for (let i = 0; i < steps; i++) {
    world.advance(milliseconds(world.now + step));
    const reading = disturb(world.read(), i);
    records = recordsAfter(records, reading);
    const wish = rules.step(state, reading, world.now);
    state = wish.state;
    world.apply(workload, wish.want);
  }
  return records;
}

const policy = (seed: number): Uint8Array => {
  const { algorithm, action } = functionsLearner("ppo", { badChoices: "masked", minibatch: 10 });
  const { observationSize: obs } = functionsTask();
  const shape = { obs, action, actorContext: 0, criticContext: 0 };
  return createLearner(algorithm, { kernels: referenceKernels(), shape, seed }).save();
};

const workOf = (records: FunctionRecords, parts: Partial<BootstrapWork> = {}): BootstrapWork => ({
  records,
  workload,
  slo,
  step,
  bounds: usualBounds,
  seed: 1,
  reward: "strict",
  episodes: 2,
  policy: policy(3),
  ...parts,
});

const read = (at: number, parts: Partial<FunctionReading> = {}): FunctionReading => ({
  ...worldOf(truth, { rng: seededRng(1) }).read(),
  at: milliseconds(at),
  offered: perSecond(1.236),
  use: { cpu: ratio(0.1234), memory: null },
  ...parts,
});

describe("what is recorded", () => {
  test("a row for each step, rounded, two hours of them, and all of it is JSON", () => {
    let records = noFunctionRecords;
    for (let i = 1; i <= 800; i++) records = recordsAfter(records, read(10_000 * i));
    const copy = JSON.parse(JSON.stringify(records)) as FunctionRecords;
    const steps = stepsOf(copy);
    // Eleven full blocks of 60 and the open one: of 800 the last 680.
    expect(steps).toHaveLength(680);
    expect(extentOf(records)).toEqual({ count: 680, newest: 8_000 });
    expect(steps.at(-1)).toMatchObject({ at: 8_000, offered: 1.24, cpu: 0.123, memory: null, latency: null });
  });

  test("a reading that was seen already is no step, and a clock that went back begins anew", () => {
    const once = recordsAfter(noFunctionRecords, read(10_000));
    expect(recordsAfter(once, read(10_000))).toBe(once);
    expect(stepsOf(recordsAfter(once, read(5_000))).map(({ at }) => at)).toEqual([5]);
  });
});

describe("the simulator of one function", () => {
  const quiet = (containers: number) =>
    worldOf({ ...truth, spread: 0 }, { rng: seededRng(2), from: { ...initial, containers } });

  test("calls wait where containers are few, and are as fast as a lone one where there are many", () => {
    const [few, many] = [quiet(2), quiet(40)];
    for (const world of [few, many]) world.advance(seconds(100));
    // Without any spread an execution is its 99th percentile: 500 ms, and 10 on the way.
    expect(many.read().latency).toBeCloseTo(510, 9);
    expect(few.read().latency).toBeGreaterThan(2_000);
    // Two containers of a core each, always busy, at 400 core-ms a call of 500: 0.8 of what is granted.
    expect(few.read().use.cpu).toBeCloseTo(0.8, 9);
    // 60 MiB and 40 for the call that each is at, of 256.
    expect(few.read().use.memory).toBeCloseTo(100 / 256, 9);
  });

  test("a container that was there lately is back at once, another one takes its start", () => {
    const world = quiet(8);
    world.advance(seconds(10));
    world.apply(workload, { containers: 2 });
    world.advance(seconds(20));
    world.apply(workload, { containers: 8 });
    world.advance(seconds(60));
    expect(world.read().ready).toBe(8);
    expect(world.read().latency).toBeLessThan(2_000);
  });

  test("too little memory slows down and then kills; what was never tried of shares costs only where others are in the way", () => {
    expect(settingFactor(truth, { shares: 256, memory: 160 })).toBe(1);
    // Half way from 160 MiB to 115, where calls begin to be killed: half way from 1 to 3.
    expect(settingFactor(truth, { shares: 256, memory: 137.5 })).toBeCloseTo(2, 12);
    const world = worldOf(truth, { rng: seededRng(2), from: { ...initial, memory: 96 } });
    world.advance(seconds(30));
    expect(world.read().latency).toBeNull();
    expect(world.read().kills).toBeGreaterThan(0);
  });
});

describe("fitting", () => {
  test("what made the records is found again, with the error that it has on steps it was not fitted to", () => {
    const { model, error, heldOut } = unwrap(fitFunction(stepsOf(recorded(300)), { workload, slo, step, seed: 1 }));
    expect(heldOut).toBe(225);
    expect(model.execution).toBeGreaterThan(0.9 * truth.execution);
    expect(model.execution).toBeLessThan(1.1 * truth.execution);
    expect(Math.abs(model.memory.idle + model.memory.call - 100)).toBeLessThan(10);
    expect(error.latency).toBeLessThan(0.1);
    expect(error.cpu).toBeLessThan(0.05);
    expect(Math.abs(error.missed - error.said)).toBeLessThan(0.1);
  });

  test("too few steps are refused, and so is a function whose latency has another cause", () => {
    const options = { workload, slo, step, seed: 1 };
    const few = fitFunction(stepsOf(recorded(60)), options);
    expect(few).toMatchObject({ ok: false, failure: { code: "functions.bootstrap.records" } });
    // Seconds that are neither executions nor waiting for containers, in three of four steps.
    const odd = recorded(300, (one, i) =>
      i % 4 === 0 || one.latency === null ? one : { ...one, latency: milliseconds(one.latency + 3_000) },
    );
    const wrong = fitFunction(stepsOf(odd), options);
    expect(wrong).toMatchObject({ ok: false, failure: { code: "functions.bootstrap.inaccurate" } });
  });
});

describe("who is to act", () => {
  const of = (reward: number, missed = 0.1, cost = 10): BootstrapEstimate => ({ reward, missed, cost });

  test.each([
    ["the candidate where it earns more than both", of(0.5), of(0.4), of(0.3), "candidate"],
    ["who acts where the candidate's gain is noise", of(0.405), of(0.4), of(0.3), "policy"],
    ["the rules where both earn less", of(0.2), of(0.1), of(0.3), "rules"],
    ["not a candidate that misses more than the rules", of(0.5, 0.2), of(0.4), of(0.3), "policy"],
    ["not one that costs more than the rules", of(0.5, 0.1, 12), of(0.2), of(0.3), "rules"],
    ["a sound candidate in place of a policy that is not", of(0.35), of(0.6, 0.5), of(0.3), "candidate"],
  ] as const)("%s", (_, candidate, before, rules, seat) => {
    expect(seatOf({ candidate, policy: before, rules })).toBe(seat);
  });

  test("the same records give the same policy, to the byte, also through a copy; another seed another", () => {
    const kernels = referenceKernels();
    const records = recorded(200);
    const outcome = functionBootstrap(workOf(records), { kernels });
    expect(outcome.advice).toMatchObject({ refused: null, at: 2_000 });
    expect(functionBootstrap(structuredClone(workOf(records)), { kernels })).toEqual(outcome);
    expect(functionBootstrap(workOf(records, { seed: 2 }), { kernels }).advice).not.toEqual(outcome.advice);
  }, 60_000);

  test("where no simulator is believed, who acts goes on", () => {
    const { advice, policy: made } = functionBootstrap(workOf(recorded(60)), { kernels: referenceKernels() });
    expect(advice).toMatchObject({ seat: "policy", estimates: null, refused: "functions.bootstrap.records" });
    expect(made).toBeNull();
  });
});

describe("in the task", () => {
  const task = functionsTask({ bootstrap: { workload, slo, seed: 1, after: 20, every: 30 } });

  function watched(steps: number, { from = 0, memory = task.freshMemory as unknown } = {}): FunctionMemory {
    let known = memory;
    for (let i = from + 1; i <= from + steps; i++)
      known = unwrap(task.encode(read(10_000 * i), { memory: known, now: (10_000 * i) as Ms })).memory;
    return known as FunctionMemory;
  }
  const outcome = (seat: "candidate" | "rules", at: number): Bootstrapped => ({
    advice: { at, seat, error: null, estimates: null, refused: null },
    policy: seat === "candidate" ? Uint8Array.of(1, 2) : null,
  });
  const ready = (memory: FunctionMemory): boolean | undefined => task.isReady?.({ memory } as never);

  test("it is due after some steps and then now and then, with the policy that acts", () => {
    expect(task.advisor?.work(watched(19), () => Uint8Array.of(7))).toBeUndefined();
    const memory = watched(20);
    const job = task.advisor?.work(memory, () => Uint8Array.of(7));
    expect(job).toMatchObject({ kind: FUNCTION_BOOTSTRAP, config: { policy: Uint8Array.of(7), episodes: 80 } });
    const after = task.advisor?.advised(memory, outcome("rules", 200)) as FunctionMemory;
    expect(task.advisor?.work(after, () => Uint8Array.of(7))).toBeUndefined();
    expect(task.advisor?.work(watched(30, { from: 20, memory: after }), () => Uint8Array.of(7))).toBeDefined();
    // Where nobody says what acts now, as in an environment, there is nothing to go on from.
    expect(task.advisor?.work(memory)).toBeUndefined();
  });

  test("a life that was saved without records begins them, and one without a bootstrap keeps none", () => {
    const plain = unwrap(functionsTask().encode(read(10_000), { memory: watched(3), now: milliseconds(10_000) }));
    expect((plain.memory as FunctionMemory).bootstrap).toBeUndefined();
    const again = unwrap(task.encode(read(20_000), { memory: plain.memory, now: milliseconds(20_000) }));
    expect(stepsOf((again.memory as FunctionMemory).bootstrap?.records ?? noFunctionRecords)).toHaveLength(1);
  });

  test("a candidate's policy goes to the learner and not into the memory; what is no advice changes nothing", () => {
    const memory = watched(20);
    const made = outcome("candidate", 200);
    expect(task.advisor?.policyIn?.(made)).toEqual(Uint8Array.of(1, 2));
    expect(JSON.stringify(task.advisor?.advised(memory, made))).not.toContain('"policy":');
    expect(task.advisor?.policyIn?.(outcome("rules", 200))).toBeUndefined();
    expect(task.advisor?.policyIn?.("nonsense")).toBeUndefined();
    expect(task.advisor?.advised(memory, "nonsense")).toBe(memory);
  });

  test("a policy does not act where the rules would do better, and one that knows nothing waits for the first advice", () => {
    const memory = watched(20);
    const [rules, candidate] = (["rules", "candidate"] as const).map(
      (seat) => task.advisor?.advised(memory, outcome(seat, 200)) as FunctionMemory,
    );
    expect([ready(memory), ready(rules as FunctionMemory), ready(candidate as FunctionMemory)]).toEqual([
      true,
      false,
      true,
    ]);
    const waiting = functionsTask({ bootstrap: { workload, slo, seed: 1, waits: true } });
    expect(waiting.isReady?.({ memory } as never)).toBe(false);
    expect(waiting.isReady?.({ memory: candidate } as never)).toBe(true);
    expect(functionsTask().isReady).toBeUndefined();
  });
});
