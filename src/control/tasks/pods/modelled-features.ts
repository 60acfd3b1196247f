/** What the capacity model adds to an observation, by name, and what actions need of it. */
import type { Allocation, Reach } from "../../../act/index.ts";
import type { CapacityMemory, CapacityPlan } from "./capacity/planner.ts";

export const modelledFeatureNames = [
  "planned-cpu",
  "planned-strain",
  "planned-risk",
  "expected-load",
  "caution",
] as const;
export type ModelledFeature = (typeof modelledFeatureNames)[number];

export interface Modelled {
  /** null while too little was seen. */
  readonly plan: CapacityPlan | null;
  readonly have: Allocation;
  readonly memory: CapacityMemory;
  /** Whose plan it is. */
  readonly by: "plan" | "prior";
  /** What the guard would leave now; undefined where nobody can tell. */
  readonly reach: Reach | undefined;
}
