/**
 * A latency at a quantile that requests may not pass.
 * SP as AWARE has it, SLO over latency. Two cases that the formula leaves open:
 *
 * - Requests that were never answered are not in a latency percentile, so shedding load would look fast. The share of
 *   requests answered counts as a factor, up to the SLO's quantile: a p99 forgives one unanswered request in a hundred.
 * - Where requests came and none was answered there is no latency to divide by: that is the worst there is, 0. Where none
 *   came nothing was missed: 1.
 */
import type { Ms } from "../../../base/index.ts";
import { isTarget, type SloKind, type SloMeasures } from "./kind.ts";

export interface LatencySlo {
  readonly kind: "latency";
  /** 0 to 1: 0.99 is the 99th percentile. */
  readonly quantile: number;
  readonly target: Ms;
}

export const latency: SloKind<LatencySlo> = {
  judges: "speed",
  problem({ quantile, target }) {
    if (!isTarget(target)) return `its latency target is ${target}: give a finite number above 0`;
    if (!(quantile > 0 && quantile < 1))
      return `its quantile is ${quantile}: give a share between 0 and 1, such as 0.99`;
    return undefined;
  },
  preservation,
  margin(slo, measures, kept) {
    if (measures.latency === null) return kept === 0 ? -1 : 1;
    const byLatency = (slo.target - measures.latency) / (slo.target + measures.latency);
    // Requests that were not answered are in the preservation and not in the latency.
    return kept < 1 ? Math.min(byLatency, kept - 1) : byLatency;
  },
};

function preservation(
  { quantile, target }: LatencySlo,
  { latency: found, offered, completed, failed }: SloMeasures,
): number | null {
  const finished = (completed ?? 0) + (failed ?? 0);
  if (found === null) {
    if (completed !== null && completed > 0) return null; // answered, so there is a latency: it was not delivered
    if (offered === null && finished === 0) return null;
    return offered === 0 && finished === 0 ? 1 : 0;
  }
  const answered = finished > 0 && completed !== null ? completed / finished : 1;
  const fast = found > 0 ? Math.min(1, target / found) : 1;
  return fast * Math.min(1, answered / quantile);
}
