/** `coxswain/plane`: worlds of your own for `coxswain up`, with all that is managed in them. */

export type { FaultName, ReleaseDocument, Severity } from "../contract/index.ts";
export type {
  ActiveFault,
  FleetLook,
  HostLook,
  HostWork,
  LearnerWish,
  OpenedWorld,
  OpenWorldOptions,
  Target,
  TaskTargetOptions,
  TrainingPace,
  Truth,
  World,
  WorldClock,
  WorldEntry,
  WorldEvent,
  WorldEvents,
  WorldFaults,
  WorldFleet,
  WorldSide,
} from "../plane/index.ts";
export { taskTarget } from "../plane/index.ts";
