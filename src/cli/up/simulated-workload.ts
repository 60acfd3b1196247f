/**
 * One workload of the simulated cluster: what runs, for whom, under which promise, and what its owner asks of its agent.
 * Owns: the type. Not here: the demonstration's own (demo-workloads.ts), those of a user's file (user-workloads.ts).
 */
import type { Allocation, GuardLimits } from "../../act/index.ts";
import type { WorkloadId } from "../../base/index.ts";
import type { ModeName } from "../../contract/index.ts";
import type { AgentSettings, LifecycleProfile } from "../../control/lifecycle/index.ts";
import type { AutoscaleTask, LearnerChoice, PodBounds, ShieldOptions } from "../../control/tasks/pods/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import type { Application, Load } from "../../sim/index.ts";
import type { ReleasePlan } from "./releases.ts";

export interface SimulatedWorkload {
  readonly id: WorkloadId;
  readonly title: string;
  readonly application: Application;
  readonly load: Load;
  readonly slo: Slo;
  readonly bounds: PodBounds;
  readonly initial: Allocation;
  readonly rules: Rules;
  readonly releases: ReleasePlan;
  readonly life: WorkloadLife;
}

/** HPA and VPA beside the agent, and alone in the twin. */
export interface Rules {
  /** The VPA's minAllowed CPU, in millicores. */
  readonly leastCpu: number;
  /** The HPA's target, in percent of the request. */
  readonly targetPercent: number;
  /** The HPA's minReplicas. */
  readonly leastReplicas: number;
}

/** What its owner asks of its agent. */
export interface WorkloadLife {
  readonly mode: ModeName;
  profile(mode: ModeName): LifecycleProfile;
  task(slo: Slo): AutoscaleTask;
  readonly limits: GuardLimits;
  readonly settings: Partial<AgentSettings>;
  /** Absent: the usual one. */
  readonly shield?: ShieldOptions;
  /** A model's file or folder of its own; absent: the one that all begin with. */
  readonly sharedModel?: string;
  /** Absent: the usual one. */
  readonly learner?: LearnerChoice;
}
