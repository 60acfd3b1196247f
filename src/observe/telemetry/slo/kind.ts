/**
 * What a kind of SLO has to say for itself.
 * Owns: the contract of a kind, and what kinds judge by.
 * Not here: the kinds (a file each), their list (index.ts), their fields and words for people (contract/slo.ts).
 */
import type { WorkloadReading } from "../reading.ts";

export type SloMeasures = Pick<WorkloadReading, "latency" | "offered" | "completed" | "failed">;

export interface SloKind<S> {
  /** How fast answers are, or how many there are: a policy has one feature for each (control/tasks/pods). */
  readonly judges: "speed" | "answers" | "nothing";
  /** Why nothing can be judged by it; undefined where all is well. */
  problem(slo: S): string | undefined;
  /** SLO preservation: 1 is met, less is how far it was missed, null where the measurements do not say. */
  preservation(slo: S, measures: SloMeasures): number | null;
  /**
   * Preservation ends at 1, so it cannot say how near the edge is: this goes on, from -1 (far beyond the SLO) over 0 (just
   * met) to 1 (far within).
   */
  margin(slo: S, measures: SloMeasures, preservation: number): number;
}

export const isTarget = (target: number): boolean => target > 0 && Number.isFinite(target);

/** Answers give no warning: as far as anybody can see, all is well until it is not. */
export const marginOfAnswers = (preservation: number): number => (preservation < 1 ? preservation - 1 : 1);

/** The share of what was offered that may still be under way, and is not due yet. */
export const UNDER_WAY = 0.05;
