/** Tasks: per problem what is seen, what can be done and what is rewarded; and environments made of them. */

export type { AugmentedFeature } from "./augmented/augmented.ts";
export type { ActionKind, AutoscaleOptions, AutoscaleTask, FeatureSet } from "./autoscale.ts";
export { autoscaleTask, mostPerEpisode, paperMode, sharpSwitchCost, usualHeadroom } from "./autoscale.ts";
export { actionOrder, actionSpace, decodeAction, encodeAction } from "./autoscale-action.ts";
export type { AutoscaleEnv, AutoscaleEnvOptions, AutoscaleStep, MakeWorld } from "./autoscale-env.ts";
export { autoscaleEnv } from "./autoscale-env.ts";
export type {
  Feature,
  Measures,
  Observation,
  ObservationContext,
  ObservationFailure,
  ObservationMemory,
} from "./autoscale-observation.ts";
export {
  encodeObservation,
  featuresOf,
  freshObservationMemory,
  observationSpace,
} from "./autoscale-observation.ts";
export type { RewardInput, RewardParts } from "./autoscale-reward.ts";
export { allocationGap, reward, rewardParts } from "./autoscale-reward.ts";
export type { Demand } from "./demand.ts";
export type { DecodedMove, MitigationActions, MitigationMove } from "./mitigation/action.ts";
export { decodeMitigation, headroomRange, MITIGATION_ACTIONS } from "./mitigation/action.ts";
export type { MitigationAgent } from "./mitigation/agent.ts";
export type { MitigationSight } from "./mitigation/observation.ts";
export {
  compositionOf,
  encodeMitigation,
  MITIGATION_FEATURES,
  offeredOf,
  sloMaintenanceOf,
  workloadChangeOf,
} from "./mitigation/observation.ts";
export type { ServicesController, ServicesPort, ServicesView } from "./mitigation/port.ts";
export type { MitigationRewardInput } from "./mitigation/reward.ts";
export { mitigationReward, usualAlpha } from "./mitigation/reward.ts";
export { UseMemory } from "./mitigation/use-memory.ts";
export type { ProfileProblem, WorkloadProfile } from "./profile.ts";
export { profileProblems, profileTask } from "./profile.ts";
export type { DeviationThreshold, RewardThreshold, ThresholdProblem, Thresholds } from "./thresholds.ts";
export { thresholdProblems } from "./thresholds.ts";
export type { WorkloadPort } from "./workload-port.ts";
