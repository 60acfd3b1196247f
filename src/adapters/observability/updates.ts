/**
 * What the metrics look at of what the control plane tells.
 * Owns: shapes only, each a part of the server's documents (server/plane-contract.ts), written down again because an
 * adapter may not import the server; cli/up hands the one over as the other, so the compiler compares them.
 */
import type { TimingFigures } from "./registry.ts";

export interface StepSeen {
  readonly load: number | null;
  readonly latency: number | null;
  readonly preservation: number | null;
  readonly ready: number;
  readonly have: { readonly replicas: number; readonly cpu: number; readonly memory: number };
  readonly reward: number | null;
}

export interface SumsSeen {
  readonly steps: number;
  readonly violations: number;
  readonly cost: number;
  readonly cpuUsed: number;
  readonly cpuGranted: number;
  readonly memoryUsed: number;
  readonly memoryGranted: number;
}

export interface WorkloadSeen {
  readonly id: string;
  readonly slo: { readonly kind: "latency"; readonly target: number } | { readonly kind: "throughput" | "none" };
  readonly trouble: unknown;
}

export interface AgentSeen {
  readonly id: string;
  readonly workload: string;
  readonly stage: string;
  readonly acting: string;
  readonly isPaused: boolean;
  readonly guardTripRate: number;
  readonly rollbacks: number;
  readonly updates: number;
}

export interface DecisionSeen {
  readonly workload: string;
  readonly agent: string;
  readonly stage: string;
  readonly who: string;
  /** First why this one acts, then what shield and guard changed. */
  readonly why: readonly string[];
  readonly failure: string | null;
}

/** The loop's condition: sums since it started, and what waits now. */
export interface LoopFigures {
  readonly turns: number;
  readonly skipped: number;
  readonly crashes: number;
  readonly abandoned: number;
  readonly ports: {
    readonly failures: { readonly [port: string]: number };
    readonly failing: { readonly [port: string]: number };
  };
  readonly recorder: {
    readonly durable: number;
    readonly lost: number;
    readonly refused: number;
    readonly waiting: number;
    readonly reopened: number;
  };
  readonly events: {
    readonly delivered: number;
    readonly dropped: number;
    readonly lost: number;
    readonly waiting: number;
  };
  readonly training: {
    readonly underWay: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly turnedAway: number;
  } | null;
  readonly ticks: TimingFigures;
  readonly wholeTurns: TimingFigures;
  readonly lag: number;
}

export type UpdateSeen =
  | {
      readonly kind: "samples";
      readonly samples: readonly {
        readonly workload: string;
        readonly sample: StepSeen;
        readonly twin: StepSeen | null;
        readonly account: SumsSeen;
        readonly twinAccount: SumsSeen | null;
      }[];
    }
  | { readonly kind: "workload"; readonly workload: WorkloadSeen }
  | { readonly kind: "agent"; readonly agent: AgentSeen }
  | { readonly kind: "decision"; readonly decision: DecisionSeen }
  | { readonly kind: "event"; readonly event: { readonly kind: string; readonly severity: string } }
  | { readonly kind: "loop"; readonly loop: LoopFigures };
