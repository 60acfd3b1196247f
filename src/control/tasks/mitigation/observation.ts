/**
 * What the mitigating agent sees of one container (dissertation, Table 3.2): SLO maintenance, workload change, request
 * composition and five utilisations, eight numbers.
 * Owns: their definitions and scales. Training and serving both come here, so they cannot drift apart.
 * Not here: who is to blame (control/localize, or the labels of a training), what is done (action.ts).
 */
import type { Resource } from "../../../base/index.ts";
import { resources } from "../../../base/index.ts";
import type { RequestReading } from "../../../observe/telemetry/index.ts";

export const MITIGATION_FEATURES = 3 + resources.length;

export interface MitigationSight {
  /** SLO over current latency, where the container is to blame; 1 where it is not. */
  readonly sloMaintenance: number;
  /** Arrival rate now over the one a step before. */
  readonly workloadChange: number;
  /** Of the request types' shares, from 0 to 1; see `compositionOf`. */
  readonly composition: number;
  /** Use over limit. */
  readonly use: { readonly [R in Resource]: number };
}

/**
 * SM of one request type. Capped at 1: with the printed, uncapped ratio twice the speed that anybody asked for pays twice,
 * and the best an agent can do is to give everybody everything. Nothing was answered: as bad as it gets, but not 0, which
 * no measurable latency reaches.
 */
export function sloMaintenanceOf(
  slo: number,
  latency: number | null,
  { cap = 1 }: { readonly cap?: number } = {},
): number {
  if (latency === null) return LEAST_MAINTENANCE;
  if (!(latency > 0)) return cap;
  return Math.min(cap, Math.max(LEAST_MAINTENANCE, slo / latency));
}

const LEAST_MAINTENANCE = 0.02;

/** WC: 1 where one of the rates is not known or nothing came before. */
export const workloadChangeOf = (now: number | null, before: number | null): number =>
  now === null || before === null || !(before > 0) || !(now >= 0) ? 1 : now / before;

/** Requests per second of all types; null before the first came. */
export function offeredOf(requests: readonly RequestReading[]): number | null {
  if (requests.length === 0) return null;
  return requests.reduce((sum, { offered }) => sum + offered, 0);
}

/** Shares are told to a tenth, as a digit. */
const DIGITS = 10;

/**
 * RC: the shares as one number, as the paper has it by numpy.ravel_multi_index over an array of percentages: each share is
 * a digit, the first type's the highest; here over the largest such number, so that applications with more types do not
 * have larger ones. Two mixes that differ by less than a tenth in every share may have one number.
 */
export function compositionOf(offered: readonly number[]): number {
  const sum = offered.reduce((all, one) => all + one, 0);
  if (!(sum > 0)) return 0;
  let code = 0;
  let weight = 1;
  for (const one of offered) {
    weight /= DIGITS;
    code += Math.min(DIGITS - 1, Math.floor((one / sum) * DIGITS)) * weight;
  }
  return code / (1 - weight);
}

/** Rates may leap from a hundredth to a hundred; a network wants small numbers. */
const MOST_CHANGE = 3;

export function encodeMitigation(
  { sloMaintenance, workloadChange, composition, use }: MitigationSight,
  into: Float32Array = new Float32Array(MITIGATION_FEATURES),
): Float32Array {
  into[0] = sloMaintenance;
  into[1] = Math.min(workloadChange, MOST_CHANGE) - 1;
  into[2] = composition;
  for (const [i, resource] of resources.entries()) into[3 + i] = use[resource];
  return into;
}
