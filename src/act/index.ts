/** What may be done: knobs and settings, the guard that every action passes, and the port through which it is done. */

export type { Action, Followers } from "./action.ts";
export { afterAction, reconcile } from "./action.ts";
export type { Actuator } from "./actuator.ts";
export { memoryActuator } from "./actuator.ts";
export type { Allocation } from "./allocation.ts";
export { dimensions } from "./allocation.ts";
export type { DisruptionBudget } from "./constraints/disruption-budget.ts";
export { disruptionBudget, disruptionProblem } from "./constraints/disruption-budget.ts";
export { followersOf } from "./constraints/followers.ts";
export { nodeCapacity } from "./constraints/node-capacity.ts";
export { MEMBERS_HERE, roomInPlace } from "./constraints/room-in-place.ts";
export type { Draft } from "./draft.ts";
export type { Constraint, GuardContext, GuardLimits, GuardState, NodeRoom, Proposal, Verdict } from "./guard.ts";
export { freshGuardState, guard } from "./guard.ts";
export type { Cooldown, Knob, Setting } from "./knob.ts";
export { parseGuardLimits } from "./limits.ts";
export type { Range, Reach } from "./reach.ts";
export { reachOf } from "./reach.ts";
