/**
 * What every answer of the API has in common, and the figures that are about the whole.
 * Owns: shapes only. Not here: the documents of the plane (plane.ts), which status a failure has (server/problem.ts).
 */
import type { Stage } from "../base/index.ts";
import type { StudyTally } from "./study.ts";

/** A list in portions: `next` is the cursor of the following one, null at the end. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** RFC 9457; `code` is one of docs/guide/failures.md. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
}

/** The whole, in figures: /v1/metrics. */
export interface MetricsDocument {
  /** One after another: steps of one task are of another length than those of another, so their sums mean nothing. */
  readonly tasks: readonly TaskMetrics[];
  readonly server: {
    readonly streams: number;
    /** Samples that slow readers of the stream did not get, since the start. */
    readonly samplesDropped: number;
    readonly updatesRefused: number;
  };
}

/** The workloads of one task and their agents. What is null has no data yet. */
export interface TaskMetrics {
  readonly task: string;
  /** The newest time at which one of them was measured. */
  readonly at: number | null;
  readonly workloads: number;
  readonly inTrouble: number;
  readonly agentsByStage: { readonly [stage in Stage]: number };
  readonly agentsPaused: number;
  readonly learned: MetricsSide;
  /** Over the workloads that have a twin. */
  readonly twin: MetricsSide;
}

export interface MetricsSide {
  readonly steps: number;
  /** Share of steps within the SLO. */
  readonly attainment: number | null;
  /** What was used of what was granted, by name: `cpu`, `memory`; whatever the tasks add up. */
  readonly utilisation: { readonly [name: string]: number | null };
  readonly cost: number;
}

/** One line of /v1/studies; the whole is at /v1/studies/{id}, its figures at /v1/studies/{id}/figures/{name}. */
export interface StudySummary extends StudyTally {
  readonly id: string;
  readonly title: string;
  readonly quick: boolean;
  readonly version: string;
  readonly seeds: number;
  readonly figures: readonly string[];
}

/** The answer to every command that was carried out. */
export interface CommandDone {
  /** Of the agent or workload, after it. */
  readonly revision: number;
}
