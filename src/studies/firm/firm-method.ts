/**
 * FIRM as the studies run it: a policy and a localizer that learned on one application, with agents that manage any.
 * Owns: what they learn from, and making agents of them. Not here: how they learn (control/tasks/mitigation, control/localize).
 *
 * Learning is a pure function of its settings, and every job of a study wants the same outcome: a worker keeps it. The
 * localizer's lessons are looks at several moments of an anomaly, since it is asked from the first second on.
 */
import { type FaultKind, faultKinds, targetName } from "../../act/faults/index.ts";
import { type Ms, milliseconds, seconds, unwrap } from "../../base/index.ts";
import { decodeLocalizer, encodeLocalizer, Localizer } from "../../control/localize/index.ts";
import {
  ALL,
  type Checkpoints,
  type MitigationTraining,
  mitigationLearner,
  type ServicesController,
  trainMitigation,
  usualCurriculum,
  usualTraining,
} from "../../control/tasks/mitigation/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { applicationNamed, simulatedGround } from "../../sim/index.ts";
import type { StudyJob } from "../study.ts";
import { usualRate } from "./applications.ts";
import type { Managing } from "./episode.ts";
import { FirmAgents } from "./firm-agents.ts";
import { drawCase } from "./localization-cases.ts";
import { CALM, culpritsOf, LocalizationScene } from "./localization-scene.ts";
import { type MethodContext, ruleOf } from "./methods.ts";

/** Plain JSON. */
export interface FirmConfig {
  /** Dissertation 3.3.3: trained on Train-Ticket, which is no other study's seed. */
  readonly learnsOn: string;
  readonly seed: number;
  readonly training: MitigationTraining;
  readonly checkpointEvery: number;
  readonly evaluation: { readonly length: number; readonly scenes: number };
  /** Anomalies of each kind that the localizer learns from. */
  readonly lessonsPerKind: number;
}

export const firmConfig = ({ quick }: { readonly quick: boolean }): FirmConfig => ({
  learnsOn: "train-ticket",
  seed: 1_500,
  training: {
    ...usualTraining,
    // As `firm-training`, whose curves say what this is enough for.
    episodes: quick ? 24 : 300,
    curriculum: { ...usualCurriculum, longest: quick ? 30 : 120 },
  },
  checkpointEvery: quick ? 8 : 20,
  evaluation: { length: quick ? 20 : 60, scenes: quick ? 1 : 3 },
  lessonsPerKind: quick ? 1 : 6,
});

interface Learned {
  readonly checkpoints: Checkpoints;
  readonly localizer: Uint8Array;
}

/** By their settings: what was learned in this worker. */
const learnedBefore = new Map<string, Learned>();

function learned(config: FirmConfig, kernels: Kernels): Learned {
  const key = JSON.stringify(config);
  const known = learnedBefore.get(key);
  if (known !== undefined) return known;
  const { training, seed, checkpointEvery, evaluation } = config;
  const ground = simulatedGround(applicationNamed(config.learnsOn));
  const { best } = trainMitigation({ ...training, ground, seed, kernels, checkpointEvery, evaluation });
  const outcome = { checkpoints: best, localizer: encodeLocalizer(taughtLocalizer(config)) };
  learnedBefore.set(key, outcome);
  return outcome;
}

/** Seconds after an anomaly's start at which the localizer is told who it was. */
const TOLD_AFTER = [2, 4, 11] as const;

export function taughtLocalizer({ learnsOn, seed, lessonsPerKind }: FirmConfig): Localizer {
  const application = applicationNamed(learnsOn);
  const perSecond = usualRate[learnsOn] as number;
  const localizer = new Localizer({ seed });
  const longest: Ms = seconds(Math.max(...TOLD_AFTER));
  for (let lesson = 0; lesson < lessonsPerKind * faultKinds.length; lesson++) {
    const kind = faultKinds[lesson % faultKinds.length] as FaultKind;
    const options = { application, seed: seed + 1 + lesson, perSecond };
    const drawn = drawCase({ ...options, kind, start: CALM, duration: longest });
    if (drawn === null) continue;
    const { injection } = drawn;
    const culprits =
      injection.target.on === "requests" ? culpritsOf(options, injection) : [targetName(injection.target)];
    const scene = new LocalizationScene({ ...options, sampling: 1 }, [localizer]);
    scene.run([], CALM);
    scene.settleNormal();
    let isBegun = false;
    for (const after of TOLD_AFTER) {
      const now = milliseconds(CALM + seconds(after));
      const isBroken = scene.run(isBegun ? [] : [injection], now);
      isBegun = true;
      if (isBroken) localizer.learn({ culprits }, now);
    }
  }
  return localizer;
}

/** All agents begin with the one policy that was learned for all services, as the dissertation's transferred ones do. */
function firmAgents(config: FirmConfig, kernels: Kernels): Managing {
  const { checkpoints, localizer } = learned(config, kernels);
  const ddpg = { ...config.training.ddpg, bufferSize: FROZEN };
  return {
    name: "firm",
    manage: (port) =>
      new FirmAgents({
        port,
        localizer: unwrap(decodeLocalizer(localizer)),
        createLearner: () => mitigationLearner({ kernels, seed: 0, config: ddpg, policy: checkpoints[ALL] }),
        actions: config.training.actions,
      }),
  };
}

/** Nothing is learned in a run, so nothing has to be kept for it. */
const FROZEN = 64;

/** Null: nobody changes anything. */
export function controllerOf(
  method: string,
  context: MethodContext & { readonly firm: FirmConfig; readonly job: Pick<StudyJob, "kernels"> },
): ServicesController | Managing | null {
  return method === "firm" ? firmAgents(context.firm, context.job.kernels) : ruleOf(method, context);
}
