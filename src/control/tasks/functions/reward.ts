/**
 * What an agent of a function is paid (SIMPPO, 3.1): r = α·SP + (1 − α)/2 · (RU of CPU + RU of memory) + penalty.
 * Owns: the formula. The penalty is the paper's arm; where choices are masked, nothing is done that deserves one.
 */
import type { FunctionMeasures } from "./observation.ts";

/** Table 2. */
export const functionAlpha = 0.3;
export const PENALTY = -1;

export const functionReward = (
  { preservation, cpu, memory }: Pick<FunctionMeasures, "preservation" | "cpu" | "memory">,
  { alpha = functionAlpha, isPenalised = false }: { readonly alpha?: number; readonly isPenalised?: boolean } = {},
): number => alpha * preservation + ((1 - alpha) / 2) * (cpu + memory) + (isPenalised ? PENALTY : 0);
