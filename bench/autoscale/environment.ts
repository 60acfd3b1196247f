/** The full autoscaling environment over the fluid world: decode, guard, apply, a control step, read, encode, reward. */

import { seededRng } from "../../src/base/index.ts";
import { type AutoscaleEnv, autoscaleEnv } from "../../src/control/tasks/pods/index.ts";
import { drawScene, guardLimits, openWorld, taskOf } from "../../src/pretraining/index.ts";
import { interleave, local } from "../measure.ts";
import { type BenchContext, type Figure, round } from "../report.ts";

const TARGET = 100_000;
const SCENES = [0, 1, 2, 3];
const FIRST_STEPS = 2_000;
/** Not one that studies report. */
const SEED = 1_000;

export async function environmentFigures({ quick, signal, log }: BenchContext): Promise<Figure[]> {
  const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 60 : 200, warmupMs: quick ? 500 : 1_500, signal };
  log("steps of the whole environment over the fluid world");
  const entries = SCENES.map((slot) => ({ key: String(slot), contender: local(stepper(slot)), task: "step" }));
  const { timings } = await interleave(entries, rounds);
  // Scenes differ in cost; a study spends its time on all of them, so their mean time per step is what counts.
  const mean = (of: "best" | "median") =>
    SCENES.reduce((sum, slot) => sum + (timings.get(String(slot))?.[of] ?? Number.NaN), 0) / SCENES.length;
  const value = 1e9 / mean("best");
  return [
    {
      id: "autoscale.environment",
      what: `control steps of the whole environment over the fluid world, mean of ${SCENES.length} scenes`,
      value: round(value),
      unit: "steps/s",
      median: round(1e9 / mean("median")),
      target: `at least ${TARGET} steps/s per core`,
      holds: value >= TARGET,
    },
  ];
}

function stepper(slot: number): (iterations: number) => void {
  const scene = drawScene({ seed: SEED, slot });
  const env: AutoscaleEnv = autoscaleEnv({
    id: "AutoscaleFluid-v0",
    task: taskOf(scene),
    workload: scene.workload,
    makeWorld: (rng) => openWorld(scene, { seed: rng.int(2 ** 31), rung: "fluid" }),
    limits: guardLimits,
    // As in a life: a new world per episode would be measured as well.
    continues: true,
  });
  const rng = seededRng(SEED).fork("actions");
  const plans = Array.from({ length: 256 }, () => Float32Array.from({ length: 3 }, () => 2 * rng.next() - 1));
  env.reset({ seed: SEED });
  let at = 0;
  const run = (iterations: number) => {
    for (let i = 0; i < iterations; i++) if (env.step(plans[at++ % plans.length]!).end !== "no") env.reset();
  };
  // The fluid world's tables are made when first needed, once per application and process; training pays that once.
  run(FIRST_STEPS);
  return run;
}
