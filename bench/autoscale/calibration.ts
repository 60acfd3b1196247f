/**
 * What a workload's own model costs beside the loop: calibrating it and choosing who plans, and how fast its world runs.
 * Processor time, since threads of the loop go first where this is done; two days of records from the fluid world.
 */

import { unwrap } from "../../src/base/index.ts";
import {
  calibrate,
  courseOf,
  expectedLoads,
  minutesOf,
  type PodsAdviceWork,
  podsAdvice,
  podsTask,
  priorController,
  productMode,
  simulate,
} from "../../src/control/tasks/pods/index.ts";
import { drawScene, openWorld, taskOf } from "../../src/pretraining/index.ts";
import { type BenchContext, type Figure, round } from "../report.ts";

const TARGET = { seconds: 10, steps: 1_000_000 } as const;
/** Not one that studies report; a latency SLO. */
const SEED = 1_000;
const SLOT = 0;
const DAY = 5_760;
const PRIOR = { pods: 2, size: 500, utilisation: 0.6, spare: 0, lookBack: 15, yesterday: true } as const;

export async function calibrationFigures({ quick, log }: BenchContext): Promise<Figure[]> {
  log("calibrating a workload's model and searching in it");
  const work = recorded(quick ? DAY : 2 * DAY);
  const advices = Array.from({ length: quick ? 2 : 3 }, () => processorSeconds(() => podsAdvice(work)));
  const seconds = Math.min(...advices);
  const rates = Array.from({ length: quick ? 5 : 15 }, stepper(work));
  const steps = Math.max(...rates);
  return [
    {
      id: "autoscale.advice",
      what: `calibrating a model from ${quick ? "a day" : "two days"} of a workload's records, searching a prior in it and choosing who plans: processor time`,
      value: round(seconds),
      unit: "s",
      median: round(middle(advices)),
      target: `at most ${TARGET.seconds} s of one core`,
      holds: seconds <= TARGET.seconds,
    },
    {
      id: "autoscale.calibrated-world",
      what: "control steps of a prior in a calibrated model",
      value: round(steps),
      unit: "steps/s",
      median: round(middle(rates)),
      target: `at least ${TARGET.steps} steps/s per core`,
      holds: steps >= TARGET.steps,
    },
  ];
}

const middle = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function processorSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** A workload that follows its planner, which keeps the records. */
function recorded(steps: number): PodsAdviceWork {
  const scene = drawScene({ seed: SEED, slot: SLOT });
  const settings = { ...taskOf(scene), ...productMode, portfolio: true };
  const task = podsTask(settings);
  const world = openWorld(scene, { seed: SEED, rung: "fluid" });
  let memory = task.freshMemory;
  for (let i = 0; i < steps; i++) {
    const seen = task.encode(world.read(scene.workload), { memory, now: world.now });
    if (seen.ok) {
      memory = seen.value.memory;
      if (task.isReady?.(seen.value)) {
        const { replicas, cpu, memory: limit } = task.decode([0, 0], seen.value);
        unwrap(world.apply({ kind: "set", workload: scene.workload, set: { replicas, cpu, memory: limit } }));
      }
    }
    world.advance((world.now + settings.controlStep) as typeof world.now);
  }
  const job = task.advisor?.work(memory);
  if (job === undefined) throw new Error("after a day of records advice is due");
  return job.config as PodsAdviceWork;
}

/** Steps of a prior in a second of processor time. */
function stepper({ records, task: { bounds, slo } }: PodsAdviceWork): () => number {
  const allowed = slo.kind === "latency" ? slo.target : 1_000;
  const course = courseOf(unwrap(calibrate(records, { cpu: bounds.cpu, allowed })), minutesOf(records));
  const expected = expectedLoads(course, PRIOR);
  const options = {
    bounds: { pods: bounds.replicas, size: bounds.cpu },
    prices: { core: 0.04, gib: 0.005 },
  };
  const lives = 40;
  return () => {
    const seconds = processorSeconds(() => {
      for (let i = 0; i < lives; i++)
        simulate(course, priorController(PRIOR, { course, expected, most: bounds.cpu.max }), options);
    });
    return (lives * course.steps) / seconds;
  };
}
