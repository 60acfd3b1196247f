/**
 * Whose plan is acted on: the planner's, or by the newest advice a prior's.
 * Owns: what is remembered for it, and going back to the planner where misses come. Pure. Not here: the advice (portfolio.ts).
 */
import type { Ms } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { CapacityMemory, CapacityPlan, CapacityPlanner, PlannedStep } from "../capacity/planner.ts";
import type { PodBounds } from "../limits.ts";
import type { Advice } from "./portfolio.ts";
import { priorPlan } from "./prior.ts";
import type { Records } from "./records.ts";
import { noRecords, recordsAfter } from "./records.ts";

/** Plain data: it is saved. */
export interface CalibrationMemory {
  readonly records: Records;
  /** null until there was one. */
  readonly advice: Advice | null;
  /** Steps that were missed since then beyond the error budget. */
  readonly excess: number;
}

/** So many missed steps beyond the budget, and the planner plans until the next advice: it follows misses, a prior does not. */
const RETREAT = 12;

interface Looked {
  readonly before: CapacityMemory;
  readonly after: CapacityMemory;
  readonly reading: WorkloadReading;
  /** The share of steps that may miss the SLO. */
  readonly budget: number;
}

export function calibrationAfter(known: CalibrationMemory | undefined, looked: Looked): CalibrationMemory {
  const { before, after, budget } = looked;
  const { records, advice, excess } = known ?? nothingKnown;
  const isMissed = after.seenAt !== before.seenAt && after.strain !== null && after.strain.is > 0;
  return {
    records: recordsAfter(records, looked),
    advice,
    excess: advice === null ? 0 : Math.max(0, excess + (isMissed ? 1 : 0) - budget),
  };
}

const nothingKnown: CalibrationMemory = Object.freeze({ records: noRecords, advice: null, excess: 0 });

interface Seated {
  readonly calibration: CalibrationMemory | undefined;
  readonly bounds?: PodBounds;
  readonly planner: CapacityPlanner;
  readonly reading: WorkloadReading;
  readonly now: Ms;
}

/** `rules` is no plan: whether they act instead is the lifecycle's choice, which knows what they really cost. */
export function seatedPlan(
  { plan, memory }: PlannedStep,
  { calibration, bounds, planner, reading, now }: Seated,
): { readonly plan: CapacityPlan | null; readonly by: "plan" | "prior" } {
  const prior = calibration?.advice?.seat === "prior" ? calibration.advice.prior : null;
  if (plan === null || !calibration || !bounds || prior === null) return { plan, by: "plan" };
  // Something piles up, or misses come: the planner knows what to do about it.
  if (calibration.excess > RETREAT || memory.overload !== null || memory.cure != null) return { plan, by: "plan" };
  return { plan: priorPlan(prior, { memory, reading, now, bounds, planner, plan }), by: "prior" };
}
