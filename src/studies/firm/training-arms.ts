/**
 * The three ways to train of 3.3.3, one after another under one seed, and what the common agent does elsewhere.
 * Owns: which training begins with what, and by what they are judged. Not here: training (control/tasks/mitigation), claims.
 */
import {
  ALL,
  type Checkpoints,
  type EvaluationConfig,
  type Judgement,
  judgeMitigation,
  type MitigationTraining,
  openMitigationAgent,
  type TrainedMitigation,
  trainMitigation,
} from "../../control/tasks/mitigation/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { type MicroserviceApplication, simulatedGround, trainTicket } from "../../sim/index.ts";
import type { Curve } from "./training-curves.ts";

export interface ArmsOptions {
  readonly training: MitigationTraining;
  readonly transferEpisodes: number;
  readonly checkpointEvery: number;
  readonly transferCheckpointEvery: number;
  readonly evaluation: EvaluationConfig;
  readonly services: readonly string[];
  readonly seed: number;
  readonly kernels: Kernels;
  readonly signal: AbortSignal;
  readonly progress: (fraction: number) => void;
}

export interface Arms {
  readonly curves: { readonly [arm in "all" | "each" | "transferred"]: Curve };
  readonly gradientSteps: number;
  /** The common agent at its best checkpoint. */
  readonly best: Checkpoints;
}

/** Parts of the whole that the three take, roughly. */
const SHARES = { all: 0.5, each: 0.4, transferred: 0.1 } as const;

export function trainThree(options: ArmsOptions): Arms {
  const { training, transferEpisodes, checkpointEvery, transferCheckpointEvery, services, progress } = options;
  const { evaluation, seed, kernels, signal } = options;
  // All three are judged on the same services under the same anomalies.
  const judged = { ...evaluation, services };
  const parts = { ...training, ground: simulatedGround(trainTicket), seed, kernels, signal, evaluation: judged };
  const told = (from: number, share: number, episodes: number) => ({
    onEpisode: ({ episode }: { readonly episode: number }) => progress(from + (share * (episode + 1)) / episodes),
  });
  const all = trainMitigation({ ...parts, checkpointEvery, ...told(0, SHARES.all, training.episodes) });
  const each = trainMitigation({
    ...parts,
    checkpointEvery,
    services,
    each: true,
    ...told(SHARES.all, SHARES.each, training.episodes),
  });
  const transferred = trainMitigation({
    ...parts,
    services,
    each: true,
    from: { [ALL]: all.best[ALL] as Uint8Array },
    episodes: transferEpisodes,
    checkpointEvery: transferCheckpointEvery,
    // Its policies are good from the start, so its episodes are as long as they get.
    curriculum: { ...training.curriculum, shortest: training.curriculum.longest },
    ...told(1 - SHARES.transferred, SHARES.transferred, transferEpisodes),
  });
  return {
    curves: { all: curveOf(all), each: curveOf(each), transferred: curveOf(transferred) },
    gradientSteps: all.gradientSteps + each.gradientSteps + transferred.gradientSteps,
    best: all.best,
  };
}

const curveOf = ({ judgements }: TrainedMitigation): Curve =>
  judgements.map(({ episodes, reward, missedShare }) => ({ episodes, reward, missedShare }));

/** How an application fared. */
type Fared = Pick<Judgement, "reward" | "missedShare" | "requestedCores">;

export interface AppliedResult {
  readonly application: string;
  readonly agent: Fared;
  /** The same anomalies, and nobody changes anything. */
  readonly idle: Fared;
}

export interface ApplyOptions {
  readonly application: MicroserviceApplication;
  readonly training: MitigationTraining;
  readonly evaluation: EvaluationConfig;
  readonly kernels: Kernels;
}

export function applyAgents(
  best: Checkpoints,
  { application, training, evaluation, kernels }: ApplyOptions,
): AppliedResult {
  const options = { ...training, ground: simulatedGround(application), evaluation, episodes: training.episodes };
  const agent = openMitigationAgent(best, { kernels, ddpg: training.ddpg });
  try {
    const managed = fared(judgeMitigation(agent, options));
    return { application: application.name, agent: managed, idle: fared(judgeMitigation(null, options)) };
  } finally {
    agent.dispose();
  }
}

const fared = ({ reward, missedShare, requestedCores }: Judgement): Fared => ({ reward, missedShare, requestedCores });
