/**
 * The meta learner for any task: trajectories or samples in, an embedding of ⟨application, environment⟩ out, trained
 * together with whatever is conditioned on it. Start reading at meta-learner.ts, then encoder.ts, then fingerprint.ts;
 * for training, at contextual-learner.ts, then pretraining/pretraining.ts; for workloads that nobody has seen, at
 * shared-model.ts, then adapted-learner.ts.
 */

export type { Familiar, Familiarity } from "./adapted-learner.ts";
export { ADAPTED_REPLAY_STEPS, AdaptedLearner, isFamiliar, openAdapted } from "./adapted-learner.ts";
export { decisionLayout, layoutWidth } from "./features.ts";
export { Fingerprint } from "./fingerprint.ts";
export { KinshipMap } from "./kinship.ts";
export type { MetaConfig } from "./meta-learner.ts";
export { MetaLearner, metaDefaults } from "./meta-learner.ts";
export { planarMap } from "./pca.ts";
export type { PretrainedModel } from "./pretrained.ts";
export { decodePretrained, encodePretrained } from "./pretrained.ts";
export type { PretrainConfig } from "./pretraining/config.ts";
export { pretrainDefaults } from "./pretraining/config.ts";
export { inProcessRunner } from "./pretraining/in-process.ts";
export { playTrajectories } from "./pretraining/play-task.ts";
export type { PoolEntry } from "./pretraining/pretraining.ts";
export { Pretraining } from "./pretraining/pretraining.ts";
export type { GuideRule } from "./pretraining/thread-tasks.ts";
export { pretrainKinds } from "./pretraining/thread-tasks.ts";
export type { Ranking } from "./ranking.ts";
export { rankByCosine } from "./ranking.ts";
export { fineTuning, openSharedModel, SharedModel } from "./shared-model.ts";
export type { TraitGroup, Traits } from "./trait-reader.ts";
export type { Trajectory } from "./trajectory.ts";
export { createTrajectory } from "./trajectory.ts";
