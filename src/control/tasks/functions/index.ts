/** Serverless functions, SIMPPO's task: CPU shares, memory and containers of one function, or of many, on a shared platform. */

export type { FunctionBounds, FunctionSetting } from "./action.ts";
export { functionChoices, usualBounds } from "./action.ts";
export type { BootstrapWork } from "./bootstrap/index.ts";
export { FUNCTION_BOOTSTRAP, functionBootstrap } from "./bootstrap/index.ts";
export { functionsEnv } from "./env.ts";
export type {
  FleetAction,
  FleetDecision,
  FleetFunction,
  FleetOptions,
  FleetOutcome,
  FleetStep,
  FleetWorld,
} from "./fleet.ts";
export { Fleet } from "./fleet.ts";
export type { FunctionsAlgorithm, FunctionsLearner } from "./learner.ts";
export { functionsLearner, functionsPpo } from "./learner.ts";
export { functionLimits } from "./limits.ts";
export type { DecisionCharge, FunctionsPort } from "./managed-function.ts";
export { functionFeatures, functionSpace } from "./observation.ts";
export type { RewardForm } from "./reward.ts";
export type { Pool } from "./shared-values.ts";
export { sharedFeatures, sharedValues } from "./shared-values.ts";
export type { BadChoices } from "./task.ts";
export { functionsTask } from "./task.ts";
export { functionView } from "./view.ts";
