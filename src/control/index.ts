/** What every task, every fallback and every agent agree on. Start reading at task.ts. */

export type { Fallback, FallbackStep, FallbackWish } from "./fallback.ts";
export type {
  AdviceJob,
  Advisor,
  AnyTask,
  AsIfAlone,
  EncodeContext,
  Experience,
  LaggardContext,
  RewardedStep,
  Seen,
  Shield,
  Shortfall,
  Task,
  TaskReading,
  Wish,
} from "./task.ts";
export type { AnyTaskView, KnobTitle, Measured, MeasuredStep, Symptom, TaskView } from "./task-view.ts";
export type { DeviationThreshold, RewardThreshold, ThresholdProblem, Thresholds } from "./thresholds.ts";
export { thresholdProblems } from "./thresholds.ts";
