/**
 * What a workload promises its clients, and how well a measurement keeps the promise.
 * Owns: the list of kinds, the look-up by kind, SLO preservation (SP: 1 is met, less is how far it was missed).
 * Not here: a kind's own rules (a file each), its fields and words for people (contract/slo.ts), where the measurements
 * come from (reading.ts), what a reward makes of SP (control/tasks).
 */
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import { availability } from "./availability.ts";
import type { SloKind, SloMeasures } from "./kind.ts";
import { latency } from "./latency.ts";
import { none } from "./none.ts";
import { throughput } from "./throughput.ts";

export type { SloMeasures } from "./kind.ts";

const kinds = { latency, throughput, availability, none };

type Shape<K> = K extends SloKind<infer S> ? S : never;
export type Slo = Shape<(typeof kinds)[keyof typeof kinds]>;

const kindOf = (slo: Slo): SloKind<Slo> => kinds[slo.kind];

export function parseSlo(slo: Slo): Result<Slo> {
  const problem = kindOf(slo).problem(slo);
  return problem === undefined ? ok(slo) : err(failure("slo.invalid", `the SLO cannot be judged: ${problem}`));
}

/** Never above 1, and 1 without an SLO. Null when the measurements do not say. */
export const sloPreservation = (slo: Slo, measures: SloMeasures): number | null =>
  kindOf(slo).preservation(slo, measures);

/** How near the edge it is, from -1 (far beyond the SLO) to 1 (far within); null when the measurements do not say. */
export const sloMargin = (slo: Slo, measures: SloMeasures, preservation: number | null): number | null =>
  preservation === null ? null : kindOf(slo).margin(slo, measures, preservation);

export const sloJudges = (slo: Slo): SloKind<Slo>["judges"] => kindOf(slo).judges;

/** The quantile that latency is reported at: the SLO's own, or the 99th where it has none. */
export const sloQuantile = (slo: Slo): number => ("quantile" in slo ? slo.quantile : 0.99);

/** The latency that a request may take; infinite where nobody asks how fast it is. */
export const latencyAllowed = (slo: Slo): number => (slo.kind === "latency" ? slo.target : Number.POSITIVE_INFINITY);
