/** `coxswain/pods`: the task of autoscaling pods, and the rules that act first: HPA and VPA. */

export type { Allocation } from "../act/index.ts";
export { hpaVpaController, parseHpaConfig } from "../control/fallbacks/index.ts";
export {
  actionOrder,
  actionSpace,
  autoscaleTask,
  mostPerEpisode,
  observationSpace,
  podLimits,
  podsTask,
} from "../control/tasks/pods/index.ts";
export type { WorkloadReading } from "../observe/telemetry/index.ts";
