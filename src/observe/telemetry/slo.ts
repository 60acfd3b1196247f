/**
 * What a workload promises its clients, and how well a measurement keeps the promise.
 * Owns: the shape of an SLO, its check, SLO preservation (SP: 1 is met, less is how far it was missed).
 * Not here: where the measurements come from (reading.ts), what a reward makes of SP (control/tasks).
 */
import type { Ms, PerSecond, Result } from "../../base/index.ts";
import { assertNever, err, failure, minutes, ok } from "../../base/index.ts";
import type { WorkloadReading } from "./reading.ts";

export type Slo =
  | { readonly kind: "latency" /** 0.99 is the 99th. */; readonly percentile: number; readonly target: Ms }
  | { readonly kind: "throughput"; readonly target: PerSecond }
  | { readonly kind: "none" };

/** The trailing time over which an SLO is judged, in readings and in the truth alike. */
export const sloWindow: Ms = minutes(1);

export function parseSlo(slo: Slo): Result<Slo> {
  const problem = problemOf(slo);
  return problem === undefined ? ok(slo) : err(failure("slo.invalid", `the SLO can not be judged: ${problem}`));
}

function problemOf(slo: Slo): string | undefined {
  if (slo.kind === "none") return undefined;
  if (!(slo.target > 0 && Number.isFinite(slo.target)))
    return `its ${slo.kind} target is ${slo.target}: give a finite number above 0`;
  if (slo.kind === "latency" && !(slo.percentile > 0 && slo.percentile < 1))
    return `its percentile is ${slo.percentile}: give a share between 0 and 1, such as 0.99`;
  return undefined;
}

export type SloMeasures = Pick<WorkloadReading, "latency" | "offered" | "completed" | "failed">;

/**
 * SP as AWARE has it: SLO over latency, throughput over SLO, never above 1, and 1 without an SLO. Null when the
 * measurements do not say. Three cases that the formula leaves open:
 *
 * - A throughput SLO is judged against what was offered where that is less: nobody can answer requests that were not
 *   sent, and an idle night is no violation. A twentieth of them is forgiven: some are always still under way.
 * - Requests that were never answered are not in a latency percentile, so shedding load would look fast. The share of
 *   requests answered counts as a factor, up to the SLO's percentile: a p99 forgives one unanswered request in a hundred.
 * - Where requests came and none was answered there is no latency to divide by: that is the worst there is, 0. Where none
 *   came nothing was missed: 1.
 */
export function sloPreservation(slo: Slo, measures: SloMeasures): number | null {
  switch (slo.kind) {
    case "none":
      return 1;
    case "latency":
      return latencyPreservation(slo, measures);
    case "throughput":
      return throughputPreservation(slo.target, measures);
    default:
      return assertNever(slo);
  }
}

function latencyPreservation(
  { percentile, target }: Slo & { readonly kind: "latency" },
  { latency, offered, completed, failed }: SloMeasures,
): number | null {
  const finished = (completed ?? 0) + (failed ?? 0);
  if (latency === null) {
    if (completed !== null && completed > 0) return null; // answered, so there is a latency: it was not delivered
    if (offered === null && finished === 0) return null;
    return offered === 0 && finished === 0 ? 1 : 0;
  }
  const answered = finished > 0 && completed !== null ? completed / finished : 1;
  const fast = latency > 0 ? Math.min(1, target / latency) : 1;
  return fast * Math.min(1, answered / percentile);
}

const UNDER_WAY = 0.05;

function throughputPreservation(target: PerSecond, { offered, completed }: SloMeasures): number | null {
  if (completed === null) return offered === 0 ? 1 : null;
  if (completed >= target) return 1;
  if (offered === null) return null;
  const due = Math.min(target, (1 - UNDER_WAY) * offered);
  return due > 0 ? Math.min(1, completed / due) : 1;
}
