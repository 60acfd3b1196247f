/**
 * An agent's life: when a learner may act, what it must have shown before, and who acts when it may not.
 * Start reading at lifecycle.ts (the stages), then health.ts (this very step), then agent.ts (all of it, for one workload).
 */

export { Agent } from "./agent.ts";
export type { AgentSettings } from "./agent-options.ts";
export { agentDefaults } from "./agent-options.ts";
export type { EstimatorOptions } from "./estimator.ts";
export { offPolicyEstimator } from "./estimator.ts";
export type { FamiliarityReport } from "./familiarity.ts";
export { modelForTask } from "./familiarity.ts";
export type { TakeoverReason } from "./health.ts";
export { takeoverReasons } from "./health.ts";
export { canaryBand, WHOLE_BAND } from "./lifecycle.ts";
export type { Gates, LifecycleProfile } from "./profile.ts";
export {
  defaultGates,
  lifecycleOf,
  modelGates,
  noGates,
  paperProfile,
  parseLifecycleProfile,
} from "./profile.ts";
export { gatesAhead, thresholdLevels } from "./prospects.ts";
export type { AgentState, Judgement, OperatorWish, StageMove } from "./state.ts";
export { offlineCauses, onlineCauses } from "./state.ts";
export type { Tick, TickInput } from "./tick.ts";
export type { TrainingOutcome, TrainingWork } from "./training-task.ts";
export { AGENT_TRAINING_TASK, agentTrainingKinds } from "./training-task.ts";
