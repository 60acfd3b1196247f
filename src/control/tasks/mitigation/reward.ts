/**
 * What the mitigating agent is paid (dissertation 3.2.4): r = α·SM·|R| + (1 − α)·Σ RU/RLT over the five resources.
 * Owns: the formula. Its second part is the utilisation that the reading has: use over limit.
 *
 * The text asks for "min SM"; SM is the SLO over the latency, so less of it is worse, and the formula rewards more: the
 * printed min is a slip. α is not printed; see `usualAlpha`.
 */
import type { Resource } from "../../../base/index.ts";
import { resources } from "../../../base/index.ts";

/** Four fifths for the SLO: halving the latency margin costs more than all that tight limits can bring. */
export const usualAlpha = 0.8;

export interface MitigationRewardInput {
  readonly sloMaintenance: number;
  readonly use: { readonly [R in Resource]: number };
}

export function mitigationReward({ sloMaintenance, use }: MitigationRewardInput, alpha: number = usualAlpha): number {
  let utilisation = 0;
  for (const resource of resources) utilisation += Math.min(1, use[resource]);
  return alpha * sloMaintenance * resources.length + (1 - alpha) * utilisation;
}
