/**
 * An agent's life: when a learner may act, what it must have shown before, and who acts when it may not.
 * Start reading at lifecycle.ts (the stages), then health.ts (this very step).
 */

export type { ActingChoice, FallbackReason, Health, LearnerReason, WorldReason } from "./health.ts";
export { fallbackReasons, goodHealth, isLearnerFault, mayAct, troubleOf } from "./health.ts";
export type { LifecycleStep } from "./lifecycle.ts";
export { canaryBand, lifecycleStep, WHOLE_BAND } from "./lifecycle.ts";
export type {
  CanaryGate,
  DeviationLimit,
  Gates,
  LifecycleProfile,
  RollbackGate,
  ShadowGate,
  Threshold,
} from "./profile.ts";
export { defaultGates, noGates, paperProfile, parseLifecycleProfile } from "./profile.ts";
export type { LifecycleFailure } from "./saved.ts";
export { LIFECYCLE_SCHEMA, loadLifecycle, saveLifecycle } from "./saved.ts";
export type {
  AgentState,
  Canary,
  EpisodeScore,
  Evidence,
  FallbackLevel,
  Judgement,
  LifecycleEvent,
  OfflineCause,
  OffPolicyScore,
  OnlineCause,
  ShadowScore,
  Stage,
  StateOf,
} from "./state.ts";
export { fallbackLevel, freshAgentState } from "./state.ts";
