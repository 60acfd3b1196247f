/**
 * How fast a policy is trained in the whole environment over the fluid world, learning as it goes: an update of 256
 * transitions for every 64 steps, and from it how long 50 million steps would take. One thread steps and learns in turn, and its
 * processor time counts. Pre-training has an application for each thread, so that two cores take twice as many steps; one
 * policy on two threads in rounds (learn/rl's parallel training) is not measured here, for there only the wall's time counts.
 */

import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { registerEnv } from "../../src/learn/env/index.ts";
import { ddpgDefaults, Training } from "../../src/learn/rl/index.ts";
import { poolWorld } from "../../src/pretraining/index.ts";
import { interleave, local } from "../measure.ts";
import { type BenchContext, type Figure, round } from "../report.ts";

const ENV = "BenchPretraining-v0";
const STEPS = 50_000_000;
const CORES = 2;
const TARGET_MINUTES = 30;
const UPDATE = { batch: 256, every: 64 } as const;
/** The response tables of the fluid world are made when first needed, once per application and process. */
const FIRST_STEPS = { quick: 20_000, full: 100_000 } as const;
/** Not one that studies report. */
const SEED = 1_000;

registerEnv({
  id: ENV,
  env: () => poolWorld({ seed: SEED, index: 0, part: "known", actions: "demand", rung: "fluid" }),
});

export async function pretrainingFigures({ quick, signal, log }: BenchContext): Promise<Figure[]> {
  log("pre-training steps with updates");
  const training = new Training({
    envId: ENV,
    algorithm: {
      kind: "ddpg",
      config: { ...ddpgDefaults, batch: UPDATE.batch, trainEvery: UPDATE.every, gradientSteps: 1 },
    },
    seed: SEED,
    kernels: loadKernels(),
    totalSteps: STEPS,
  });
  training.advance(quick ? FIRST_STEPS.quick : FIRST_STEPS.full);
  // Updates come once in so many steps: whole ones are timed.
  const contender = local((iterations) => training.advance(iterations * UPDATE.every));
  const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 200 : 1_000, warmupMs: 500, signal };
  const { timings } = await interleave([{ key: "training", contender, task: "update" }], rounds);
  const timing = timings.get("training");
  training.learner.dispose();
  if (timing === undefined) throw new Error("the pre-training could not be measured");
  const rate = (ns: number): number => (UPDATE.every * 1e9) / ns;
  const minutes = (ns: number): number => STEPS / (CORES * rate(ns)) / 60;
  const what = `an update of ${UPDATE.batch} transitions for every ${UPDATE.every}`;
  return [
    {
      id: "autoscale.pretraining",
      what: `pre-training steps in the whole environment, ${what}, one thread`,
      value: round(rate(timing.best)),
      unit: "steps/s",
      median: round(rate(timing.median)),
    },
    {
      id: "autoscale.pretraining.minutes",
      what: "50 M of them on two cores, with an application for each, extrapolated",
      value: round(minutes(timing.best)),
      unit: "min",
      median: round(minutes(timing.median)),
      target: `at most ${TARGET_MINUTES} min`,
      holds: minutes(timing.best) <= TARGET_MINUTES,
    },
  ];
}
