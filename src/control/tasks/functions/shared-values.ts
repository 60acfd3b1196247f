/**
 * What the agent of a function tells all others, for their critics (SIMPPO, Table 1, third row).
 * Owns: the six quantities and their scales. Not here: sums and means over the others (control/agents).
 *
 * The paper adds up limits and actions as they are, so that ten times the agents see ten times the numbers, and a network trained
 * among 20 would be lost among 110. Here limits are parts of the pool, whose sum says how much of it the others ask for; actions and
 * the rest are means. Where the pool grows with its functions, as the paper's does (7.4), both stay in the same range.
 */
import { type FunctionBounds, type FunctionSetting, functionKnobs } from "./action.ts";
import type { FunctionMeasures } from "./observation.ts";

/** What all functions share. */
export interface Pool {
  readonly cores: number;
  /** MiB. */
  readonly memory: number;
}

/** In this order: of the others, limits are summed and the rest is averaged. */
export const sharedFeatures = [
  { name: "aggregated CPU limits", combine: "sum" },
  { name: "aggregated memory limits", combine: "sum" },
  { name: "aggregated vertical actions", combine: "mean" },
  { name: "aggregated horizontal actions", combine: "mean" },
  { name: "mean SLO preservation", combine: "mean" },
  { name: "mean resource utilisation", combine: "mean" },
] as const;

export interface SharedContext {
  /** Before the step; the same as now where there was none. */
  readonly before: FunctionSetting;
  readonly pool: Pool;
  readonly bounds: FunctionBounds;
}

/** As much of what an agent sees of its function as the others may know. */
export interface SharedSight {
  readonly have: FunctionSetting;
  readonly measures: Pick<FunctionMeasures, "preservation" | "cpu" | "memory">;
}

export function sharedValues({ have, measures }: SharedSight, { before, pool, bounds }: SharedContext): Float64Array {
  const [shares, memory, containers] = functionKnobs.map((knob) => (have[knob] - before[knob]) / bounds[knob].step) as [
    number,
    number,
    number,
  ];
  return Float64Array.of(
    (have.containers * have.shares) / SHARES_PER_CORE / pool.cores,
    (have.containers * have.memory) / pool.memory,
    shares + memory,
    containers,
    measures.preservation,
    (measures.cpu + measures.memory) / 2,
  );
}

const SHARES_PER_CORE = 1_024;
