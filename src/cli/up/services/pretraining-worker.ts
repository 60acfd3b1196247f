/**
 * Entry of the thread in which the localizer, then the mitigating agent learn, once, at the start of `up`. It ends when both
 * have, and all its memory with it.
 * Owns: their order and the size of the training. Not here: the trainings (control/localize, control/tasks/mitigation), their worlds (sim).
 *
 * No file is shipped in its place: it would have to fit every version of what agents see and say.
 */
import { parentPort, workerData } from "node:worker_threads";
import { giveWay, loadKernels } from "../../../adapters/runtime/index.ts";
import { failure, failureOf, milliseconds } from "../../../base/index.ts";
import { encodeLocalizer, pretrainLocalizer } from "../../../control/localize/index.ts";
import {
  ALL,
  type MitigationTraining,
  trainMitigation,
  usualTraining,
} from "../../../control/tasks/mitigation/index.ts";
import { applicationNamed, disturbedApplication, simulatedGround } from "../../../sim/index.ts";
import type { FromPretraining, PretrainingSettings } from "./pretraining-messages.ts";

/** As other trainings: everything else goes first. */
const NICE = 19;

/**
 * Three seconds of CPU on Hotel Reservation: of requests under anomalies 0.5 % miss their SLO afterwards and 1.7 % with
 * nobody acting, on seeds for tuning. The studies train on a larger application for longer.
 */
const TRAINING: MitigationTraining = {
  ...usualTraining,
  episodes: 24,
  curriculum: { ...usualTraining.curriculum, longest: 30 },
  scene: { ...usualTraining.scene, samples: 150 },
};
const CHECKPOINT_EVERY = 6;
const EVALUATION = { length: 30, scenes: 3 } as const;

const post = (message: FromPretraining): void => parentPort?.postMessage(message);

if (parentPort !== null) {
  giveWay(NICE);
  try {
    pretrain(workerData as PretrainingSettings);
  } catch (thrown) {
    const { code, message, retry } =
      failureOf(thrown) ?? failure("services.lost", thrown instanceof Error ? thrown.message : String(thrown));
    post({ kind: "failed", failure: { code, message, retry } });
  }
}

function pretrain({ application: name, seed, start, wantsPolicy }: PretrainingSettings): void {
  const application = applicationNamed(name);
  const world = disturbedApplication({ application, seed, start: milliseconds(start) });
  post({ kind: "localizer", bytes: encodeLocalizer(pretrainLocalizer({ world, seed })) });
  if (!wantsPolicy) return;
  const { best } = trainMitigation({
    ...TRAINING,
    ground: simulatedGround(application),
    seed,
    kernels: loadKernels(),
    checkpointEvery: CHECKPOINT_EVERY,
    evaluation: EVALUATION,
  });
  const policy = best[ALL];
  if (policy === undefined) throw new RangeError("the training left no policy for all services");
  post({ kind: "policy", policy });
}
