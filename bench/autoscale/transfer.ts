/**
 * What the features of TL+ cost: an observation with its share of ARIMA fits, and an update of wider networks. The
 * updates' ratio is beside the one that the study counts in multiply-adds, which stand for CPU cycles in its table.
 */

import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { type Ms, milliseconds, parseWorkloadId, seededRng, unwrap } from "../../src/base/index.ts";
import {
  autoscaleBcq,
  autoscaleLearner,
  encodeObservation,
  type FeatureSet,
  freshObservationMemory,
  observationSpace,
} from "../../src/control/tasks/pods/index.ts";
import { constant } from "../../src/learn/rl/index.ts";
import { drawScene, taskOf } from "../../src/pretraining/index.ts";
import { updateWork } from "../../src/studies/aware/adaptation-methods.ts";
import { MICROSECONDS, timeRatio } from "../comparison.ts";
import { interleave, local } from "../measure.ts";
import { type BenchContext, type Figure, round } from "../report.ts";
import { CONTROL_STEP, Readings } from "./agents.ts";

/** Not one that studies report. */
const SEED = 1_000;
const ROWS = 2_000;
const sets = { extended: "TL's features", augmented: "TL+'s features" } as const;
const workload = unwrap(parseWorkloadId("bench"));

export async function transferFigures({ quick, signal, log }: BenchContext): Promise<Figure[]> {
  const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 60 : 200, warmupMs: quick ? 300 : 1_000, signal };
  log("observations and updates with the features of TL and of TL+");
  const kernels = loadKernels();
  const entries = (Object.keys(sets) as (keyof typeof sets)[]).flatMap((features) => [
    { key: `observe ${features}`, contender: local(observer(features)), task: "observe" },
    { key: `update ${features}`, contender: local(updater(features, kernels)), task: "update" },
  ]);
  const { timings } = await interleave(entries, rounds);
  const work = (features: FeatureSet) => updateWork({ learner: autoscaleBcq }, features);
  const counted = round(work("augmented") / work("extended"));
  const compare = (task: "observe" | "update", what: string): Figure[] => {
    const [plain, plus] = [timings.get(`${task} extended`), timings.get(`${task} augmented`)];
    if (!plain || !plus) return [];
    return [
      timeRatio(
        { ours: { label: sets.augmented, timing: plus }, peer: { label: sets.extended, timing: plain } },
        { id: `autoscale.transfer.${task}`, what, unit: MICROSECONDS },
      ),
    ];
  };
  return [
    ...compare("observe", "one observation, ARIMA fits included"),
    ...compare("update", `one update, ${counted} times the multiply-adds`),
  ];
}

function observer(features: FeatureSet): (iterations: number) => void {
  const task = taskOf(drawScene({ seed: SEED, slot: 0 }), { features });
  const readings = new Readings(SEED);
  let memory = freshObservationMemory;
  let now: Ms = milliseconds(0);
  return (iterations) => {
    for (let i = 0; i < iterations; i++) {
      now = milliseconds(now + CONTROL_STEP);
      ({ memory } = unwrap(encodeObservation(task, readings.at(workload, now), { memory, now })));
    }
  };
}

/** Without the constraint, as the learners of the study are. */
function updater(features: FeatureSet, kernels: ReturnType<typeof loadKernels>): (iterations: number) => void {
  const config = { constraint: constant(0) };
  const learner = autoscaleLearner({ kernels, task: { features, actions: "demand" }, seed: SEED, config });
  const rng = seededRng(SEED).fork("steps");
  const { size } = observationSpace({ features });
  const numbers = (length: number) => Float32Array.from({ length }, () => 2 * rng.next() - 1);
  for (let row = 0; row < ROWS; row++) {
    unwrap(
      learner.observe({
        obs: numbers(size),
        action: numbers(3),
        reward: rng.next(),
        nextObs: numbers(size),
        end: "no",
      }),
    );
  }
  return (iterations) => {
    for (let i = 0; i < iterations; i++) learner.update();
  };
}
