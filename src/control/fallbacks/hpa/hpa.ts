/**
 * The horizontal pod autoscaler of Kubernetes 1.37, one sync as one pure step. START READING HERE.
 * Owns: the order of things (bounds, metrics, normalisation), several metrics, the step's reasons and state.
 * Not here: reading pods and metrics, writing the scale, the 15 s rhythm: the caller's.
 *
 * The returned state assumes that `desired` was set. A caller whose write failed keeps the state it had.
 */
import type { Failure, Ms, Result } from "../../../base/index.ts";
import { assertNever, err, failure } from "../../../base/index.ts";
import type { HpaLimit, HpaState } from "./behavior.ts";
import { normalize, recordRescale } from "./behavior.ts";
import type { HpaConfig, HpaMetric } from "./config.ts";
import { isTotalMetric } from "./config.ts";
import type { HpaPod, PodReading } from "./pods.ts";
import type { ReplicaProposal, Tolerances } from "./replicas.ts";
import { averageReplicas, totalReplicas, utilizationReplicas } from "./replicas.ts";

export type HpaReading =
  /** By pod; a map is spared being made into one. */
  | { readonly kind: "per-pod"; readonly pods: Readonly<Record<string, PodReading>> | ReadonlyMap<string, PodReading> }
  | { readonly kind: "total"; readonly milli: number }
  | { readonly kind: "failed"; readonly why: string };

export interface HpaInput {
  readonly now: Ms;
  /** Replicas asked for (spec), which the HPA would change. */
  readonly replicas: number;
  /** Replicas that exist (status). */
  readonly statusReplicas: number;
  readonly pods: readonly HpaPod[];
  /** One for each metric of the config, in its order. */
  readonly readings: readonly HpaReading[];
}

export type HpaReason =
  | { readonly kind: "above-max" | "below-min" | "disabled-at-zero" }
  | { readonly kind: "metric"; readonly metric: string; readonly replicas: number; readonly observed: number }
  | { readonly kind: "metric-failed"; readonly metric: string; readonly failure: Failure }
  | { readonly kind: "limited"; readonly by: HpaLimit };

export interface HpaStep {
  readonly desired: number;
  readonly reasons: readonly HpaReason[];
  readonly state: HpaState;
  /** Why no count could be worked out; `desired` is then what was there. */
  readonly failure?: Failure;
}

export const freshHpaState: HpaState = Object.freeze({
  recommendations: [],
  scaleUps: [],
  scaleDowns: [],
  scaledToZero: false,
});

export function hpaStep(config: HpaConfig, before: HpaState, input: HpaInput): HpaStep {
  const { now, replicas: current } = input;
  // The first look counts as a recommendation, so that a restarted controller does not shrink at once.
  const state: HpaState =
    before.recommendations.length > 0 ? before : { ...before, recommendations: [{ at: now, replicas: current }] };

  if (current === 0 && !mayLeaveZero(config, state))
    return { desired: 0, reasons: [{ kind: "disabled-at-zero" }], state };
  if (current > config.maxReplicas)
    return finish({ desired: config.maxReplicas, reasons: [{ kind: "above-max" }], state }, config, input);
  if (current !== 0 && current < config.minReplicas)
    return finish({ desired: config.minReplicas, reasons: [{ kind: "below-min" }], state }, config, input);

  const wanted = replicasForMetrics(config, input);
  if (wanted.failure !== undefined)
    return { desired: current, reasons: wanted.reasons, state, failure: wanted.failure };
  const normalized = normalize({ current, wanted: wanted.replicas, now }, config, state);
  const desired = current === 0 ? Math.max(normalized.desired, config.minReplicas) : normalized.desired;
  const reasons = wanted.reasons.slice();
  for (const by of normalized.limits) reasons.push({ kind: "limited", by });
  const { scaleUps, scaleDowns, scaledToZero } = state;
  const next: HpaState = { recommendations: normalized.recommendations, scaleUps, scaleDowns, scaledToZero };
  return finish({ desired, reasons, state: next }, config, input);
}

function mayLeaveZero({ mayScaleToZero, minReplicas, metrics }: HpaConfig, { scaledToZero }: HpaState): boolean {
  return mayScaleToZero && scaledToZero && (minReplicas !== 0 || metrics.some(isTotalMetric));
}

function finish(step: HpaStep, config: HpaConfig, { now, replicas: from }: HpaInput): HpaStep {
  const { desired: to } = step;
  if (to === from) return step;
  const state = recordRescale({ from, to, now }, config, step.state);
  const scaledToZero = config.mayScaleToZero && from > 0 && to === 0 && config.minReplicas === 0;
  return { ...step, state: { ...state, scaledToZero } };
}

export function tolerancesOf({ tolerance, behavior }: HpaConfig): Tolerances {
  return { up: behavior?.scaleUp.tolerance ?? tolerance, down: behavior?.scaleDown.tolerance ?? tolerance };
}

interface Wanted {
  readonly replicas: number;
  readonly reasons: readonly HpaReason[];
  readonly failure?: Failure;
}

/** The largest proposal wins. A metric that failed may not be outvoted downwards: it could have asked for more. */
function replicasForMetrics(config: HpaConfig, input: HpaInput): Wanted {
  const reasons: HpaReason[] = [];
  let replicas = 0;
  let firstFailure: Failure | undefined;
  let failed = 0;
  let index = 0;
  for (const metric of config.metrics) {
    const proposal = proposalFor(metric, input.readings[index++], { config, input });
    if (proposal.ok) {
      const { replicas: proposed, observed } = proposal.value;
      reasons.push({ kind: "metric", metric: nameOf(metric), replicas: proposed, observed });
      replicas = Math.max(replicas, proposal.value.replicas);
    } else {
      reasons.push({ kind: "metric-failed", metric: nameOf(metric), failure: proposal.failure });
      firstFailure ??= proposal.failure;
      failed += 1;
    }
  }
  const blind = failed === config.metrics.length || (failed > 0 && replicas < input.replicas);
  return blind && firstFailure !== undefined ? { replicas, reasons, failure: firstFailure } : { replicas, reasons };
}

export function nameOf(metric: HpaMetric): string {
  return metric.type === "resource"
    ? `${metric.container === undefined ? "" : `${metric.container}/`}${metric.resource}`
    : metric.name;
}

interface Context {
  readonly config: HpaConfig;
  readonly input: HpaInput;
}

function proposalFor(
  metric: HpaMetric,
  reading: HpaReading | undefined,
  { config, input }: Context,
): Result<ReplicaProposal> {
  if (reading === undefined || reading.kind === "failed") {
    const why = reading?.why ?? "the caller gave no reading";
    return err(failure("hpa.metric-unavailable", `${nameOf(metric)} could not be read: ${why}`, { retry: true }));
  }
  const tolerances = tolerancesOf(config);
  const { pods, replicas: current, statusReplicas, now } = input;
  if (isTotalMetric(metric)) {
    if (reading.kind !== "total" || !Number.isFinite(reading.milli)) return unusable(metric, "one finite total");
    if (metric.target.kind === "utilization") return unusable(metric, "a target that is not a utilisation");
    return totalReplicas({
      current,
      statusReplicas,
      pods,
      totalMilli: reading.milli,
      target: metric.target,
      tolerances,
    });
  }
  if (reading.kind !== "per-pod") return unusable(metric, "readings for each pod");
  const readings = reading.pods instanceof Map ? reading.pods : new Map(Object.entries(reading.pods));
  for (const { milli, at } of readings.values())
    if (!Number.isFinite(milli) || !Number.isFinite(at)) return unusable(metric, "finite numbers for every pod");
  const resource = metric.type === "resource" ? metric.resource : undefined;
  const grouping = { config, resource, now };
  const { target } = metric;
  switch (target.kind) {
    case "utilization": {
      const container = metric.type === "resource" ? metric.container : undefined;
      return utilizationReplicas({ current, pods, readings, tolerances, grouping, container, percent: target.percent });
    }
    case "average":
      return averageReplicas({ current, pods, readings, tolerances, grouping, milli: target.milli });
    case "value":
      return unusable(metric, "a target per pod");
    default:
      return assertNever(target);
  }
}

const unusable = (metric: HpaMetric, expected: string): Result<never> =>
  err(failure("hpa.reading", `the reading of ${nameOf(metric)} cannot be used: expected ${expected}`));
