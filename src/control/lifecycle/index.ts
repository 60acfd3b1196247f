/**
 * An agent's life: when a learner may act, what it must have shown before, and who acts when it may not.
 * Start reading at lifecycle.ts (the stages), then health.ts (this very step), then agent.ts (all of it, for one workload).
 */

export { Agent } from "./agent.ts";
export type { AgentOptions, AgentSettings, Estimator } from "./agent-options.ts";
export { agentDefaults } from "./agent-options.ts";
export type { AutoscaleLearnerOptions } from "./autoscale-learner.ts";
export { autoscaleBcq, autoscaleLearner, replayStepsOf } from "./autoscale-learner.ts";
export type { EstimatorOptions } from "./estimator.ts";
export { offPolicyEstimator } from "./estimator.ts";
export type { FamiliarityReport } from "./familiarity.ts";
export { modelForTask, sharedTaskName } from "./familiarity.ts";
export type { ActingChoice, Health, LearnerReason, TakeoverReason, WorldReason } from "./health.ts";
export { goodHealth, isLearnerFault, mayAct, takeoverReasons, troubleOf } from "./health.ts";
export type { LifecycleStep } from "./lifecycle.ts";
export { canaryBand, lifecycleStep, WHOLE_BAND } from "./lifecycle.ts";
export type {
  CanaryGate,
  Gates,
  LifecycleProfile,
  OffPolicyGate,
  RollbackGate,
  ShadowGate,
} from "./profile.ts";
export { defaultGates, lifecycleOf, noGates, paperProfile, parseLifecycleProfile } from "./profile.ts";
export type { ThresholdLevels } from "./prospects.ts";
export { gatesAhead, thresholdLevels } from "./prospects.ts";
export type { LifecycleFailure } from "./saved.ts";
export { LIFECYCLE_SCHEMA, loadLifecycle, saveLifecycle } from "./saved.ts";
export type { ShieldOptions, ShieldRule } from "./shield.ts";
export { defaultShield, noShield, shieldOf } from "./shield.ts";
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
  OperatorWish,
  ShadowScore,
  Stage,
  StageMove,
  StateOf,
} from "./state.ts";
export { fallbackLevel, freshAgentState, offlineCauses, onlineCauses, stages } from "./state.ts";
export type { AgentEvent, CompletedStep, StepRecord, Tick, TickInput, TrainReport } from "./tick.ts";
export type { TrainingOutcome, TrainingWork } from "./training-task.ts";
export { AGENT_TRAINING_TASK, agentTrainingKinds } from "./training-task.ts";
