/** Many agents on one platform: who is in the fleet, and what each sees of all the others. */

export type {
  ClosedStep,
  Coordinator,
  CoordinatorOptions,
  CoordinatorSnapshot,
  Membership,
} from "./coordinator.ts";
export { createCoordinator } from "./coordinator.ts";
export type { GlobalFeature } from "./global-state.ts";
export type { AgentReport } from "./report.ts";
