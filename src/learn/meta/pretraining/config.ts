/**
 * The settings of pre-training: how long, how much of each environment in a round, and the two learners.
 * Not here: which environments (whoever starts it), what the settings do (pretraining.ts).
 */

import { CodedError, failure } from "../../../base/index.ts";
import type { ActionShape, ContextWeights, DdpgConfig } from "../../rl/index.ts";
import { ddpgDefaults, td3Options } from "../../rl/index.ts";
import { BUNDLE_SIZE } from "../bundle.ts";
import type { MetaConfig } from "../meta-learner.ts";
import { metaDefaults } from "../meta-learner.ts";

export interface PretrainConfig {
  /** Sizes and optimiser of the encoder. */
  readonly meta: Pick<MetaConfig, "hidden" | "layers" | "dense" | "embedding" | "steps" | "lr" | "maxGradNorm">;
  /** The shared base learner. Its own replay is not used: every environment has one. */
  readonly learner: DdpgConfig;
  /** M: trajectories that an embedding is computed from. */
  readonly bundle: number;
  /** Environments whose losses make one step of the meta learner. */
  readonly environmentsPerRound: number;
  /** Rounds that each environment takes part in. */
  readonly visits: number;
  readonly episodesPerVisit: number;
  /**
   * Beside those an environment plays one episode a visit under the neutral embedding, as a newcomer does, and in this
   * share of its rounds the encoder reads some of the last such trajectories in place of the best.
   */
  readonly newcomer: { readonly share: number; readonly trajectories: number };
  /** Trajectories of the bundle that one pass of training reads, drawn anew each time: a mean over fewer is as right, and sooner read. */
  readonly readAtMost: number;
  /** Steps kept of each environment. */
  readonly replaySteps: number;
  /** Batches of the base learner that an environment's loss is the mean of. */
  readonly lossBatches: number;
  /** How much of the actor's and the critics' loss reaches the encoder. */
  readonly weights: ContextWeights;
  /**
   * The longest gradient with respect to an embedding that one environment's base loss may have. Critics' errors grow with
   * what is at stake in an environment, and a few of those would decide where the encoder goes.
   */
  readonly longestGradient: number;
  /**
   * How strongly embeddings are pulled back to the neutral one, as half their squared length times this. Without it critics
   * push all of them one way for as long as training lasts, and what tells them apart becomes small beside it.
   */
  readonly pull: number;
  /** How much of the traits' loss reaches the encoder, where environments have traits, and how fast they are learned to be read. */
  readonly traits: { readonly weight: number; readonly lr: number };
  /**
   * How much the shared policy is to do what each environment's guide would do, where environments have one: the weight of
   * the squared distance beside −Q over its mean size. 0, the default, is AWARE's loss.
   */
  readonly guide: { readonly weight: number };
  /** Gradient steps of the base learner in a round. */
  readonly learnSteps: number;
  /** Environments in one batch of those; a whole part of the batch. */
  readonly learnGroups: number;
  /** Share of them that is read under the neutral embedding, so that a policy without one knows what to do. */
  readonly neutralShare: number;
  /** Deviation of the noise on actions, in the policy's scale, from the first round to the last. */
  readonly exploration: { readonly from: number; readonly to: number };
  /** Gradient steps of the base learner after the encoder is frozen and every embedding was computed anew. */
  readonly settleSteps: number;
}

/** AWARE's Table 2 where it says something; the rest is argued in docs/adr/0018-pre-training.md. */
export const pretrainDefaults: PretrainConfig = {
  meta: metaDefaults,
  learner: {
    ...ddpgDefaults,
    ...td3Options,
    actorLr: 3e-4,
    criticLr: 3e-3,
    tau: 3e-3,
    batch: 128,
    bufferSize: 1,
    learningStarts: 0,
    noise: { kind: "none" },
  },
  bundle: BUNDLE_SIZE,
  environmentsPerRound: 8,
  visits: 24,
  episodesPerVisit: 1,
  newcomer: { share: 0.5, trajectories: 4 },
  readAtMost: 4,
  replaySteps: 2_000,
  lossBatches: 4,
  weights: { actor: 1, critic: 1 },
  longestGradient: 1,
  pull: 0.2,
  traits: { weight: 1, lr: 1e-3 },
  guide: { weight: 0 },
  learnSteps: 256,
  learnGroups: 16,
  neutralShare: 0.1,
  exploration: { from: 0.5, to: 0.1 },
  settleSteps: 4_000,
};

/** Refuses settings that make no sense together, before anything is computed. */
export function checkPretrainConfig(
  config: PretrainConfig,
  { pool, shape }: { readonly pool: readonly unknown[]; readonly shape: { readonly action: ActionShape } },
): void {
  const problem = problemOf(config) ?? actionProblem(shape.action);
  const empty = pool.length === 0 ? "there is no environment to train on" : undefined;
  const found = empty ?? problem;
  if (found !== undefined)
    throw new CodedError(failure("meta.pretrain-config", `pre-training cannot begin: ${found}; correct that setting`));
}

const counts = [
  "bundle",
  "environmentsPerRound",
  "visits",
  "episodesPerVisit",
  "replaySteps",
  "lossBatches",
  "learnGroups",
  "readAtMost",
] as const satisfies readonly (keyof PretrainConfig)[];

function problemOf(config: PretrainConfig): string | undefined {
  for (const key of counts) {
    if (!(Number.isInteger(config[key]) && config[key] >= 1)) return `${key} is ${config[key]} and has to be 1 or more`;
  }
  for (const key of ["learnSteps", "settleSteps"] as const) {
    if (!(Number.isInteger(config[key]) && config[key] >= 0)) return `${key} is ${config[key]} and has to be 0 or more`;
  }
  const { learner, learnGroups, neutralShare, exploration, newcomer } = config;
  if (!(newcomer.share >= 0 && newcomer.share <= 1)) return `newcomer.share is ${newcomer.share}, not from 0 to 1`;
  if (!(newcomer.trajectories >= 1 && newcomer.trajectories <= config.bundle))
    return `newcomer.trajectories is ${newcomer.trajectories}, not from 1 to the bundle's ${config.bundle}`;
  if (learner.batch % learnGroups !== 0)
    return `a batch of ${learner.batch} cannot be shared evenly by ${learnGroups} environments`;
  if (!(neutralShare >= 0 && neutralShare <= 1)) return `neutralShare is ${neutralShare} and has to be from 0 to 1`;
  if (!(config.longestGradient > 0)) return `longestGradient is ${config.longestGradient} and has to be above 0`;
  if (!(config.pull >= 0)) return `pull is ${config.pull} and has to be 0 or more`;
  if (!(config.traits.weight >= 0 && config.traits.lr > 0))
    return `traits have the weight ${config.traits.weight} and the rate ${config.traits.lr}`;
  if (!(config.guide.weight >= 0)) return `guide.weight is ${config.guide.weight} and has to be 0 or more`;
  if (!(exploration.from >= 0 && exploration.to >= 0)) return "exploration cannot be negative";
  return undefined;
}

/** Replay rows hold actions in the policy's scale; environments of another one are wrapped by `rescaleAction`. */
function actionProblem(action: ActionShape): string | undefined {
  if (action.kind !== "continuous") return `actions are ${action.kind} and the shared learner's are continuous`;
  const isUnit = action.low.every((low) => low === -1) && action.high.every((high) => high === 1);
  return isUnit ? undefined : "actions do not lie between -1 and 1; wrap the environments in rescaleAction";
}
