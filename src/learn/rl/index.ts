/**
 * Reinforcement learning: DDPG (with TD3's options), PPO, DQN and BCQ behind one Learner contract, and training.
 * Start reading at learner.ts, then one algorithm from top to bottom (ppo.ts, ddpg.ts, dqn.ts, bcq.ts), then train.ts.
 */

export type { Algorithm, LearnerOptions } from "./algorithms.ts";
export { createLearner, openLearner, streamsOf } from "./algorithms.ts";
export type { BcqConfig, BcqOptions } from "./bcq.ts";
export { Bcq, bcqDefaults } from "./bcq.ts";
export type { Checkpoint, CheckpointFailure, JsonValue, NumberBlock } from "./checkpoint.ts";
export { CHECKPOINT_SCHEMA, decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
export type { EpisodeReport, TrainCallbacks, TrainOutcome, Verdict } from "./course.ts";
export { crc32c } from "./crc32c.ts";
export type { DdpgOptions } from "./ddpg.ts";
export { Ddpg } from "./ddpg.ts";
export type { DdpgConfig } from "./ddpg-config.ts";
export { ddpgDefaults, td3Options } from "./ddpg-config.ts";
export type { DqnConfig, DqnOptions } from "./dqn.ts";
export { Dqn, dqnDefaults } from "./dqn.ts";
export type { ContextGradient, ContextWeights, EnvironmentRows } from "./drawn-rows.ts";
export type { Evaluation, EvaluationOptions } from "./evaluate.ts";
export { evaluate } from "./evaluate.ts";
export type { AdvantageInput, AdvantageOutput } from "./gae.ts";
export { estimateAdvantages } from "./gae.ts";
export type {
  ActionShape,
  ActOptions,
  Decision,
  Explorer,
  Learner,
  LearnerShape,
  SaveOptions,
  Transition,
  UpdateStats,
} from "./learner.ts";
export { actionShapeOf, actionSize, checkTransition, clipAction } from "./learner.ts";
export type { Noise, NoiseConfig } from "./noise.ts";
export { createNoise } from "./noise.ts";
export type { Normaliser, RewardScaler } from "./normaliser.ts";
export { createNormaliser, createRewardScaler } from "./normaliser.ts";
export type { OffPolicyConfig } from "./off-policy/config.ts";
export { offPolicyDefaults } from "./off-policy/config.ts";
export type { EstimateOptions, ReturnEstimate } from "./off-policy/estimate.ts";
export { estimateReturn, policyOf } from "./off-policy/estimate.ts";
export type { FeatureMap, FeatureOptions } from "./off-policy/fourier-features.ts";
export { fourierFeatures } from "./off-policy/fourier-features.ts";
export type { Interval } from "./off-policy/intervals.ts";
export type { PolicyFunction } from "./off-policy/step-table.ts";
export type { ParallelTrainOptions, RoundShape } from "./parallel-training.ts";
export { ParallelTraining, trainParallel } from "./parallel-training.ts";
export type { PpoConfig, PpoOptions } from "./ppo.ts";
export { Ppo, ppoDefaults } from "./ppo.ts";
export type { PriorityConfig, ReplayColumn, ReplayOptions, ReplayWidths } from "./replay.ts";
export { Replay } from "./replay.ts";
export { ROLLOUT_TASK, rolloutKinds } from "./rollout-task.ts";
export type { Schedule } from "./schedule.ts";
export { annealed, constant, valueAt } from "./schedule.ts";
export type { ScalarEvent } from "./tensorboard.ts";
export { encodeScalars, eventFileHeader, eventFileName } from "./tensorboard.ts";
export type { ContextSource, TrainOptions, TrainRun } from "./train.ts";
export { Training, train } from "./train.ts";
export type { AlgorithmName, Tuned } from "./tuned.ts";
export { algorithmNames, tunedFor } from "./tuned.ts";
