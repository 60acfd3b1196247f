/**
 * How near a workload is to its SLO, on one scale for every kind of it.
 * Owns: the scale. Strain is the logarithm of measured over allowed: 0 is right at the SLO, −0.22 is a latency of four fifths
 * of its target, 0.7 is twice the target. Not here: what a kind of SLO judges (observe/telemetry/slo).
 */
import type { Slo, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import { sloJudges, sloMargin, sloPreservation } from "../../../../observe/telemetry/index.ts";

type SloMeasures = Pick<WorkloadReading, "latency" | "offered" | "completed" | "failed">;

/** Beyond this a latency says only that requests piled up, and no longer by how much too little was given. */
export const MOST_STRAIN = 0.6;
export const LEAST_STRAIN = -1.5;
/** Where answers are missing it is not "just met", and where none is it is not missed. */
const LEAST_MISS = 0.05;
const MOST_KEPT = -0.02;
/**
 * Answers give no warning before they fail to come, but latency does: three times the usual one means that requests queue,
 * while clients still wait (their patience was 8 to 12 times the usual latency in the event world, 30 s is common elsewhere).
 */
const SLOWER = Math.log(3);
/** Fewer requests than this that are not answered yet may all be under way. */
const UNDER_WAY = 3;
/** Seconds that rates are means over. */
const RATE_SECONDS = 30;

/**
 * null where nothing was asked, or the measurements do not say. `usual` is the logarithm of the latency that an SLO of answers
 * is compared with; null before it is known.
 */
export function strainOf(slo: Slo, measures: SloMeasures, usual: number | null = null): number | null {
  const { latency, offered, completed, failed } = measures;
  const judged = sloJudges(slo);
  const preservation = sloPreservation(slo, measures);
  if (judged === "nothing" || preservation === null) return null;
  const isAsked = latency !== null || (offered ?? 0) > 0 || (completed ?? 0) > 0 || (failed ?? 0) > 0;
  if (!isAsked) return null;
  const hasFailed = (failed ?? 0) > 0;
  if (preservation < 1 && !hasFailed) {
    // No answer yet is no latency; and a few requests are not missing only because they came just now.
    if (judged === "speed" && latency === null) return null;
    if (judged === "answers" && ((offered ?? 0) - (completed ?? 0)) * RATE_SECONDS < UNDER_WAY) return null;
  }
  if (judged === "answers" && preservation >= 1) {
    if (latency === null || usual === null) return within(-SLOWER);
    return Math.min(within(Math.log(Math.max(latency, 1e-3)) - usual - SLOWER), MOST_KEPT);
  }
  // Preservation is allowed over measured, cut at 1: below it the margin goes on.
  if (preservation < 1)
    return within(Math.max(-Math.log(Math.max(preservation, 1e-9)), judged === "answers" ? LEAST_MISS : 0));
  const margin = sloMargin(slo, measures, preservation) ?? 0;
  return within(Math.log((1 - margin) / Math.max(1 + margin, 1e-9)));
}

const within = (strain: number): number => Math.min(Math.max(strain, LEAST_STRAIN), MOST_STRAIN);
