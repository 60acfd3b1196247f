/** What may be done: actions, the guard that every action passes, and the port through which it is done. */

export type { Action, Allocation, Dimension, Followers } from "./action.ts";
export { afterAction, dimensions, reconcile } from "./action.ts";
export type { Actuator } from "./actuator.ts";
export { memoryActuator } from "./actuator.ts";
export type { NodeRoom } from "./capacity.ts";
export { fitsOn, replicasThatFit } from "./capacity.ts";
export type { GuardChange, GuardContext, GuardRule, GuardState, Proposal, Refusal, Verdict } from "./guard.ts";
export { disruptedReplicas, freshGuardState, guard } from "./guard.ts";
export type { ServiceAction, ServiceProposal } from "./instance-action.ts";
export type {
  GuardedInstance,
  GuardedNode,
  ServiceGuardChange,
  ServiceGuardContext,
  ServiceGuardRule,
  ServiceGuardState,
  ServiceRefusal,
  ServiceVerdict,
} from "./instance-guard.ts";
export { freshServiceGuardState, guardServiceAction } from "./instance-guard.ts";
export type { ServiceGuardLimits } from "./instance-limits.ts";
export { parseServiceGuardLimits } from "./instance-limits.ts";
export type { Cooldown, DisruptionBudget, GuardLimits, GuardOptions, StepLimit } from "./limits.ts";
export { parseGuardLimits } from "./limits.ts";
