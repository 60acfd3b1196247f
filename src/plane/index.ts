/** The runtime of the product: agents of any task over one world. Start reading at plane.ts, then world.ts and target.ts. */

export { readAccount, writtenAccount } from "./accounts.ts";
export type { CommandAnswer } from "./commands.ts";
export type { History } from "./history.ts";
export { emptyHistory } from "./history.ts";
export { inForce } from "./managed-workload.ts";
export { Plane } from "./plane.ts";
export type { PlaneParts } from "./plane-parts.ts";
export type { Target } from "./target.ts";
export type { LearnerWish, TaskTargetOptions, TrainingPace } from "./task-target.ts";
export { taskTarget } from "./task-target.ts";
export { memoryStates, newestSave } from "./timed-states.ts";
export type { TrajectoryPage, TrajectoryQuery } from "./trajectories.ts";
export { trajectoryPage } from "./trajectories.ts";
export type { TroubleView } from "./trouble.ts";
export { TroubleWatch } from "./trouble.ts";
export { UpdateFeed } from "./update-feed.ts";
export type {
  ActiveFault,
  FleetLook,
  HostLook,
  HostWork,
  Truth,
  World,
  WorldClock,
  WorldEvent,
  WorldEvents,
  WorldFaults,
  WorldFleet,
  WorldSide,
} from "./world.ts";
export type { OpenedWorld, OpenWorldOptions, WorldEntry } from "./world-entry.ts";
