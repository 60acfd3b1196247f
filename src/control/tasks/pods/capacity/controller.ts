/**
 * The capacity model as a controller of its own: its plan, and until it has one the rules that it was given.
 * Pure. Not here: the plan (planner.ts).
 */
import type { Allocation } from "../../../../act/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { Fallback } from "../../../index.ts";
import type { CapacityMemory, CapacityOptions, CapacityPlan } from "./planner.ts";
import { capacityPlanner } from "./planner.ts";

export interface CapacityControllerOptions<F> extends CapacityOptions {
  /** Who acts until enough was seen. */
  readonly rules: Fallback<F, WorkloadReading, Allocation>;
}

/** Plain data: it is saved. */
export interface CapacityState<F> {
  readonly rules: F;
  readonly memory: CapacityMemory;
}

/** In its own words. */
export type CapacityReason = Omit<CapacityPlan, "setting"> & { readonly by: "capacity" };

export function capacityController<F>(
  options: CapacityControllerOptions<F>,
): Fallback<CapacityState<F>, WorkloadReading, Allocation> {
  const { rules } = options;
  const planner = capacityPlanner(options);
  return {
    name: `capacity model, before it ${rules.name}`,
    start: () => ({ rules: rules.start(), memory: planner.fresh }),
    step(before, reading, now) {
      const ruled = rules.step(before.rules, reading, now);
      const { memory, plan } = planner.step(before.memory, reading, now);
      const state = { rules: ruled.state, memory };
      if (plan === null) return { ...ruled, state };
      const { setting, ...expected } = plan;
      const reason: CapacityReason = { by: "capacity", ...expected };
      return { want: setting, reasons: [reason], state };
    },
  };
}
