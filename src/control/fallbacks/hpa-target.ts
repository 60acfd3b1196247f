/**
 * The HPA's CPU target of one workload, as AWARE sets it: the highest CPU utilisation at which the SLO was still met.
 * Owns: the search in a table of measurements.
 * Not here: measuring (a study drives the workload from low to high utilisation and writes the pairs down).
 */
import type { Ratio, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";

export interface SloMeasurement {
  /** CPU used over CPU requested. */
  readonly utilization: Ratio;
  /** SLO preservation: 1 is met, less is how far it was missed. */
  readonly preservation: Ratio;
}

export interface HpaTargetFound {
  readonly percent: number;
  /** The lowest utilisation that missed the SLO. Below `percent` it says that the measurements are noisy. */
  readonly firstMiss?: number;
}

/**
 * Measurements are grouped by whole percent, as the HPA sees them; a group counts by its mean. `required` below 1
 * accepts that much of a miss, for SLOs that no utilisation meets every time.
 */
export function findHpaTarget(measured: readonly SloMeasurement[], required = 1): Result<HpaTargetFound> {
  const groups = new Map<number, { sum: number; count: number }>();
  for (const { utilization, preservation } of measured) {
    if (!Number.isFinite(utilization) || !Number.isFinite(preservation)) continue;
    // The HPA cuts to whole percent. The guard keeps 0.29 · 100 = 28.999… at 29.
    const percent = Math.floor(utilization * 100 + 1e-9);
    const group = groups.get(percent) ?? { sum: 0, count: 0 };
    groups.set(percent, { sum: group.sum + preservation, count: group.count + 1 });
  }
  let best: number | undefined;
  let firstMiss: number | undefined;
  for (const [percent, { sum, count }] of groups) {
    const isMet = sum / count >= required;
    if (isMet && percent >= 1) best = Math.max(best ?? percent, percent);
    if (!isMet) firstMiss = Math.min(firstMiss ?? percent, percent);
  }
  if (best === undefined)
    return err(
      failure(
        "hpa.no-target",
        `no CPU utilisation among ${groups.size} measured meets the SLO: measure lower ones, or check that it can be met at all`,
      ),
    );
  return ok(firstMiss === undefined ? { percent: best } : { percent: best, firstMiss });
}
