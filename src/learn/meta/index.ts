/**
 * The meta learner for any task: trajectories or samples in, an embedding of ⟨application, environment⟩ out, trained
 * together with whatever is conditioned on it. Start reading at meta-learner.ts, then encoder.ts, then fingerprint.ts;
 * for training, at contextual-learner.ts, then pretraining/pretraining.ts; for workloads that nobody has seen, at
 * shared-model.ts, then adapted-learner.ts.
 */

export type { AdaptedOptions, Familiar, Familiarity } from "./adapted-learner.ts";
export { ADAPTED_REPLAY_STEPS, AdaptedLearner, isFamiliar, openAdapted } from "./adapted-learner.ts";
export type { Insertion } from "./bundle.ts";
export { BUNDLE_SIZE, Bundle, bestOf } from "./bundle.ts";
export type { Conditioned, ContextLoss, ContextualLearner, JointPass, JointTask } from "./contextual-learner.ts";
export { jointPass, jointStep } from "./contextual-learner.ts";
export type { EncoderShape } from "./encoder.ts";
export type { FeatureLayout, FeaturePart } from "./features.ts";
export { decisionLayout, joinRow, layoutWidth, sampleLayout } from "./features.ts";
export type { Embedder, Embedding, FingerprintOptions } from "./fingerprint.ts";
export { Fingerprint } from "./fingerprint.ts";
export type { Kinship, Neighbour } from "./kinship.ts";
export { KinshipMap } from "./kinship.ts";
export type { MetaConfig, MetaLearnerOptions, MetaStep } from "./meta-learner.ts";
export { MetaLearner, metaDefaults } from "./meta-learner.ts";
export type { PlanarMap } from "./pca.ts";
export { planarMap } from "./pca.ts";
export type { KnownEnvironment, PretrainedModel } from "./pretrained.ts";
export { decodePretrained, encodePretrained } from "./pretrained.ts";
export type { PretrainConfig } from "./pretraining/config.ts";
export { pretrainDefaults } from "./pretraining/config.ts";
export type { Episode } from "./pretraining/episode.ts";
export { inProcessRunner } from "./pretraining/in-process.ts";
export type { MakeWorld, Visit } from "./pretraining/play-task.ts";
export { playTrajectories } from "./pretraining/play-task.ts";
export type { PoolEntry, PretrainOptions } from "./pretraining/pretraining.ts";
export { Pretraining } from "./pretraining/pretraining.ts";
export type { Phase, Round } from "./pretraining/rounds.ts";
export type { Curve, EvaluationRow } from "./pretraining/saved-state.ts";
export { pretrainKinds } from "./pretraining/thread-tasks.ts";
export type { Ranking } from "./ranking.ts";
export { areaUnderCurve, rankByCosine } from "./ranking.ts";
export { fineTuning, openSharedModel, SharedModel } from "./shared-model.ts";
export { cosineSimilarity } from "./similarity.ts";
export type { TraitGroup, Traits } from "./trait-reader.ts";
export { TraitReader } from "./trait-reader.ts";
export type { Trajectory, TrajectoryOptions } from "./trajectory.ts";
export { createTrajectory } from "./trajectory.ts";
