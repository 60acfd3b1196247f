/**
 * What an agent of a function is paid.
 * Owns: the three forms and their constants. The penalty is the paper's arm; where choices are masked, nothing is done that
 * deserves one.
 *
 * The paper's (SIMPPO, 3.1) is r = α·SP + (1 − α)/2 · (RU of CPU + RU of memory) + penalty. With its α of 0.3 starving a function
 * pays: on the simulated platform the constant setting that earns the most under it loses four calls of five, because busy
 * containers that answer nobody are well utilised (docs/results/simppo.md). By default utilisation therefore counts only as far as
 * the SLO is kept: r = SP · (α + (1 − α)/2 · (RU of CPU + RU of memory)) + penalty, the same where the SLO is kept.
 *
 * Both hardly tell a 99th percentile just above the SLO from one just below it, and agents run functions hot: they earn more than
 * ENSURE and miss the SLO more often. The strict form counts utilisation only in steps that keep the SLO; policies that act beside
 * people's functions (models/functions) are taught by it.
 */
import type { FunctionMeasures } from "./observation.ts";

/** Table 2. */
export const functionAlpha = 0.3;
export const PENALTY = -1;

/** `paper`: SLO and utilisation are added up. `kept`: utilisation counts as far as the SLO is kept. `strict`: only where it is. */
export type RewardForm = "kept" | "paper" | "strict";

export interface RewardOptions {
  readonly form?: RewardForm;
  readonly alpha?: number;
  readonly isPenalised?: boolean;
}

export function functionReward(
  { preservation, cpu, memory }: Pick<FunctionMeasures, "preservation" | "cpu" | "memory">,
  { form = "kept", alpha = functionAlpha, isPenalised = false }: RewardOptions = {},
): number {
  const utilisation = ((1 - alpha) / 2) * (cpu + memory);
  return earned(form, { preservation, alpha, utilisation }) + (isPenalised ? PENALTY : 0);
}

function earned(
  form: RewardForm,
  { preservation, alpha, utilisation }: Readonly<Record<"preservation" | "alpha" | "utilisation", number>>,
): number {
  switch (form) {
    case "paper":
      return alpha * preservation + utilisation;
    case "kept":
      return preservation * (alpha + utilisation);
    case "strict":
      return alpha * preservation + (preservation < 1 ? 0 : utilisation);
  }
}
