/**
 * The meta learner for any task: trajectories or samples in, an embedding of ⟨application, environment⟩ out, trained
 * together with whatever is conditioned on it. Start reading at meta-learner.ts, then encoder.ts, then fingerprint.ts.
 */

export type { Insertion } from "./bundle.ts";
export { BUNDLE_SIZE, Bundle, bestOf } from "./bundle.ts";
export type { EncoderShape } from "./encoder.ts";
export type { FeatureLayout, FeaturePart } from "./features.ts";
export { decisionLayout, joinRow, layoutWidth, sampleLayout } from "./features.ts";
export type { Embedder, Embedding, FingerprintOptions } from "./fingerprint.ts";
export { Fingerprint } from "./fingerprint.ts";
export type { MetaConfig, MetaLearnerOptions, MetaStep } from "./meta-learner.ts";
export { MetaLearner, metaDefaults } from "./meta-learner.ts";
export { cosineSimilarity } from "./similarity.ts";
export type { Trajectory, TrajectoryOptions } from "./trajectory.ts";
export { createTrajectory } from "./trajectory.ts";
