/**
 * Entry of the thread in which the localizer, then the mitigating agent learn, once, at the start of `up`. It ends when both
 * have, and all its memory with it.
 * Owns: their order and the size of the training. Not here: the lessons (localizer-school.ts), the training (studies/firm).
 *
 * No file is shipped in its place: it would have to fit every version of what agents see and say.
 */
import { parentPort, workerData } from "node:worker_threads";
import { giveWay, loadKernels } from "../../../adapters/runtime/index.ts";
import { failure, failureOf, milliseconds } from "../../../base/index.ts";
import { encodeLocalizer } from "../../../control/localize/index.ts";
import { applicationNamed } from "../../../sim/index.ts";
import { type MitigationTraining, trainMitigation, usualTraining } from "../../../studies/index.ts";
import { LocalizerSchool } from "./localizer-school.ts";
import type { FromSchool, SchoolSettings } from "./school-messages.ts";

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

const post = (message: FromSchool): void => parentPort?.postMessage(message);

if (parentPort !== null) {
  giveWay(NICE);
  try {
    teach(workerData as SchoolSettings);
  } catch (thrown) {
    const { code, message, retry } =
      failureOf(thrown) ?? failure("services.lost", thrown instanceof Error ? thrown.message : String(thrown));
    post({ kind: "failed", failure: { code, message, retry } });
  }
}

function teach({ application: name, seed, start, wantsAgent }: SchoolSettings): void {
  const application = applicationNamed(name);
  const school = new LocalizerSchool({ application, seed, start: milliseconds(start) });
  while (!school.isOver) school.lesson();
  post({ kind: "localizer", bytes: encodeLocalizer(school.localizer) });
  if (!wantsAgent) return;
  const { best } = trainMitigation({
    ...TRAINING,
    ...{ application, seed, kernels: loadKernels(), checkpointEvery: CHECKPOINT_EVERY, evaluation: EVALUATION },
  });
  post({ kind: "agent", checkpoints: best });
}
