/** `coxswain/control`: the contracts of a task, its fallback and its knobs; an agent's life and the loop that drives it. */

export type {
  Action,
  Actuator,
  Constraint,
  Draft,
  GuardContext,
  GuardLimits,
  Knob,
  NodeRoom,
  Range,
  Reach,
  Setting,
} from "../act/index.ts";
export { parseGuardLimits } from "../act/index.ts";
export type {
  AdviceJob,
  Advisor,
  AsIfAlone,
  EncodeContext,
  Experience,
  Fallback,
  FallbackStep,
  FallbackWish,
  KnobTitle,
  LaggardContext,
  Measured,
  MeasuredStep,
  RewardedStep,
  Seen,
  Shield,
  Shortfall,
  Symptom,
  Task,
  TaskReading,
  TaskView,
  Wish,
} from "../control/index.ts";
export type { LifecycleProfile } from "../control/lifecycle/index.ts";
export { Agent, offPolicyEstimator, parseLifecycleProfile } from "../control/lifecycle/index.ts";
export type { NodeSource } from "../control/loop/index.ts";
export { ControlLoop, loopAgent } from "../control/loop/index.ts";
