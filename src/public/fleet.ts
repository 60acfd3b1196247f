/** `coxswain/fleet`: many agents on one serverless platform, trained together; and the coordinator for agents of one's own. */

export type {
  AgentEpisode,
  AgentReport,
  ClosedStep,
  Coordinator,
  CoordinatorOptions,
  CoordinatorSnapshot,
  EpisodeOptions,
  FleetEpisode,
  FleetTrainingOptions,
  GlobalFeature,
  Membership,
  ResourceKind,
  Sensitivity,
  SensitivityRecords,
  Variant,
  VariantName,
} from "../control/agents/index.ts";
export {
  createCoordinator,
  FleetTraining,
  groupsBySensitivity,
  sensitivityOf,
  usualCharge,
  usualSensitivity,
  variantNames,
  variants,
} from "../control/agents/index.ts";
export type {
  FleetAction,
  FleetDecision,
  FleetFunction,
  FleetOptions,
  FleetOutcome,
  FleetStep,
  FleetWorld,
  FunctionBounds,
  FunctionSetting,
  FunctionsPort,
  Pool,
} from "../control/tasks/functions/index.ts";
export { Fleet, functionChoices, usualBounds } from "../control/tasks/functions/index.ts";
