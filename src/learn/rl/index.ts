/**
 * Reinforcement learning: DDPG (with TD3's options), PPO, DQN and BCQ behind one Learner contract, and training.
 * Start reading at learner.ts, then one algorithm from top to bottom (ppo.ts, ddpg.ts, dqn.ts, bcq.ts), then train.ts.
 */

export type { Algorithm } from "./algorithms.ts";
export { createLearner, openLearner } from "./algorithms.ts";
export type { BcqConfig } from "./bcq.ts";
export { Bcq, bcqDefaults } from "./bcq.ts";
export type { Checkpoint, JsonValue, NumberBlock } from "./checkpoint.ts";
export { CHECKPOINT_SCHEMA, decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
export { crc32c } from "./crc32c.ts";
export { Ddpg } from "./ddpg.ts";
export type { DdpgConfig } from "./ddpg-config.ts";
export { ddpgDefaults, td3Options } from "./ddpg-config.ts";
export type { DqnConfig } from "./dqn.ts";
export { dqnDefaults } from "./dqn.ts";
export type { ContextWeights, EnvironmentRows, Guide } from "./drawn-rows.ts";
export type { Evaluation } from "./evaluate.ts";
export { evaluate } from "./evaluate.ts";
export { Frozen } from "./frozen.ts";
export type {
  ActionShape,
  ActOptions,
  Decision,
  Explorer,
  Learner,
  LearnerShape,
  LearnsFrom,
  SaveOptions,
  Transition,
  UpdateStats,
} from "./learner.ts";
export { actionShapeOf, actionSize, checkTransition } from "./learner.ts";
export type { LearnerConfig, LearnerEntry, LearnerOptions } from "./learner-registry.ts";
export { learnerKinds, registerLearner } from "./learner-registry.ts";
export type { Noise, NoiseConfig } from "./noise.ts";
export { createNoise } from "./noise.ts";
export type { Normaliser } from "./normaliser.ts";
export { createNormaliser } from "./normaliser.ts";
export type { OffPolicyConfig } from "./off-policy/config.ts";
export { estimateReturn, policyOf } from "./off-policy/estimate.ts";
export type { FeatureMap } from "./off-policy/fourier-features.ts";
export { fourierFeatures } from "./off-policy/fourier-features.ts";
export type { ParallelTrainOptions } from "./parallel-training.ts";
export { ParallelTraining, trainParallel } from "./parallel-training.ts";
export type { PpoConfig } from "./ppo.ts";
export { Ppo, ppoDefaults } from "./ppo.ts";
export { Replay } from "./replay.ts";
export { rolloutKinds } from "./rollout-task.ts";
export { constant } from "./schedule.ts";
export { encodeScalars, eventFileHeader, eventFileName } from "./tensorboard.ts";
export { Training, train } from "./train.ts";
export type { AlgorithmName } from "./tuned.ts";
export { algorithmNames, tunedFor } from "./tuned.ts";
