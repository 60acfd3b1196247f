/** Many agents on one platform: who is in the fleet, what each sees of all the others, and how they are trained together. */

export type {
  ClosedStep,
  Coordinator,
  CoordinatorOptions,
  CoordinatorSnapshot,
  Membership,
} from "./coordinator.ts";
export { createCoordinator } from "./coordinator.ts";
export type { HostState, KeptMember } from "./fleet-host.ts";
export { FleetHost } from "./fleet-host.ts";
export type { JoinAnswer, JoinRequest, MemberReport, StepAnswer, StepRequest } from "./fleet-protocol.ts";
export type { EpisodeOptions, FleetEpisode, FleetTrainingOptions } from "./fleet-training.ts";
export { FleetTraining } from "./fleet-training.ts";
export type { GlobalFeature } from "./global-state.ts";
export { JointTraining } from "./joint-training.ts";
export type { FleetTransition, MemberPast } from "./remote-member.ts";
export { RemoteMember } from "./remote-member.ts";
export { RemoteParty } from "./remote-party.ts";
export type { AgentReport } from "./report.ts";
export type { ResourceKind, Sensitivity, SensitivityRecords } from "./sensitivity.ts";
export { groupsBySensitivity, sensitivityOf, usualSensitivity } from "./sensitivity.ts";
export type { AgentEpisode } from "./tally.ts";
export type { Variant, VariantName } from "./variants.ts";
export { coordinatorOf, usualCharge, variantNames, variants } from "./variants.ts";
