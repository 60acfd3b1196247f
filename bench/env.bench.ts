/** `coxswain bench env`: environment steps per second on one core, without learning. */

import { seededRng } from "../src/base/index.ts";
import { makeEnv, makeVectorEnv } from "../src/learn/env/index.ts";
import { interleave, local } from "./measure.ts";
import { type Bench, type BenchReport, describeMachine, type Figure, round } from "./report.ts";
import type { Timing } from "./statistics.ts";

/** Copies stepped together: enough to spread the cost of the call, few enough to stay in the first-level cache. */
const COPIES = 64;
/** Rounds of actions drawn beforehand, so that drawing them is not part of a step. */
const PLANS = 256;
const TARGET = 5e6;

export const envBench: Bench = {
  title: "environment steps per second on one core, without learning",
  async run({ quick, signal, log }): Promise<BenchReport> {
    const machine = describeMachine();
    const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 60 : 200, warmupMs: quick ? 150 : 500, signal };
    const cases = [
      { key: "CartPole-v1 vector", steps: COPIES, run: vectorStepper("CartPole-v1") },
      { key: "CartPole-v1 single", steps: 1, run: singleStepper() },
      { key: "Acrobot-v1 vector", steps: COPIES, run: vectorStepper("Acrobot-v1") },
      { key: "Pendulum-v1 vector", steps: COPIES, run: vectorStepper("Pendulum-v1") },
      { key: "MountainCarContinuous-v0 vector", steps: COPIES, run: vectorStepper("MountainCarContinuous-v0") },
    ];
    log(`stepping ${cases.length} environments`);
    const entries = cases.map(({ key, run }) => ({ key, contender: local(run), task: "step" }));
    const { timings } = await interleave(entries, rounds);
    const figures = cases.map(({ key, steps }) => stepsPerSecond(key, steps, timings.get(key) as Timing));
    return { figures, absent: [], machine: machine() };
  },
};

function stepsPerSecond(key: string, steps: number, timing: Timing): Figure {
  const rate = (ns: number) => (steps * 1e9) / ns;
  const value = rate(timing.best);
  const isTargeted = key === "CartPole-v1 vector";
  return {
    id: `env.${key.replace(" ", ".")}`,
    what: steps > 1 ? `${key}, ${steps} copies stepped together` : `${key}, one environment with fresh arrays per step`,
    value: round(value),
    unit: "steps/s",
    median: round(rate(timing.median)),
    ...(isTargeted ? { target: "at least 5 M steps/s per core", holds: value >= TARGET } : {}),
  };
}

/** Random actions throughout: episodes end and begin again as they do while an agent explores. */
function vectorStepper(id: string): (iterations: number) => void {
  const env = makeVectorEnv(id, { count: COPIES });
  const rng = seededRng(1).fork(id);
  const plans = Array.from({ length: PLANS }, () => {
    const flat: number[] = [];
    for (let i = 0; i < COPIES; i++) {
      const action = env.actionSpace.sample(rng);
      if (typeof action === "number") flat.push(action);
      else flat.push(...action);
    }
    return Float32Array.from(flat);
  });
  env.reset({ seed: 1 });
  let at = 0;
  return (iterations) => {
    for (let i = 0; i < iterations; i++) env.step(plans[at++ % PLANS]!);
  };
}

function singleStepper(): (iterations: number) => void {
  const env = makeEnv("CartPole-v1");
  const rng = seededRng(1);
  const plan = Uint8Array.from({ length: 4096 }, () => rng.int(2));
  env.reset({ seed: 1 });
  let at = 0;
  return (iterations) => {
    for (let i = 0; i < iterations; i++) {
      if (env.step(plan[at++ % 4096]!).end !== "no") env.reset();
    }
  };
}
