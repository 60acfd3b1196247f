/**
 * The replica calculator: from one metric to a replica count.
 * Owns: utilisation with its truncations, tolerance, what is assumed of missing and unready pods, totals.
 * Not here: several metrics (metrics.ts), stabilisation and rates (behavior.ts).
 *
 * The integer truncations are part of the algorithm: 80.9 % used against a target of 80 % is 80 %, so no change.
 */
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { HpaTotalTarget } from "./config.ts";
import type { GroupingContext, HpaPod, PodGroups, PodReading, RequestOf } from "./pods.ts";
import { countServing, groupPods, requestOf } from "./pods.ts";

const maxInt32 = 2_147_483_647;

export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

export interface ReplicaProposal {
  readonly replicas: number;
  /** What was measured, for people: percent, or milli-units per pod (totals: milli-units in all). */
  readonly observed: number;
}

export interface PodMetricInput {
  readonly current: number;
  readonly pods: readonly HpaPod[];
  readonly readings: ReadonlyMap<string, PodReading>;
  readonly tolerances: Tolerances;
  readonly grouping: GroupingContext;
  readonly container?: string | undefined;
}

const isWithin = ({ up, down }: Tolerances, ratio: number): boolean => 1 - down <= ratio && ratio <= 1 + up;

/** floor(a·b / c) of whole numbers, also where the product leaves the exact range of a double. */
function mulDivFloor(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / c);
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

const wholeReplicas = (count: number): number => Math.min(Math.ceil(count), maxInt32);

interface Measure {
  readonly ratio: number;
  readonly observed: number;
}

/** A measure of usage over a set of readings, and what it assumes of a pod without one when load is low. */
interface Gauge {
  readonly measure: (usage: Usage) => Result<Measure>;
  readonly whenMissing: (pod: string) => number;
}

const nothingAssumed: ReadonlyMap<string, number> = new Map();

/** What pods use: the readings of those that count, and what is assumed of others. Nothing is copied for it. */
class Usage {
  readonly #readings: ReadonlyMap<string, PodReading>;
  readonly #groups: Pick<PodGroups, "ignored" | "unready">;
  #assumed: ReadonlyMap<string, number> = nothingAssumed;

  constructor(readings: ReadonlyMap<string, PodReading>, groups: Pick<PodGroups, "ignored" | "unready">) {
    this.#readings = readings;
    this.#groups = groups;
  }

  /** For a pod without a reading that counts. */
  assume(pod: string, milli: number): void {
    if (this.#assumed === nothingAssumed) this.#assumed = new Map<string, number>();
    (this.#assumed as Map<string, number>).set(pod, milli);
  }

  /** Rounded up as Kubernetes rounds a quantity to milli-units; live sources give whole ones anyway. */
  of(pod: string): number | undefined {
    const reading = this.#readings.get(pod);
    return reading !== undefined && this.#counts(pod) ? Math.ceil(reading.milli) : this.#assumed.get(pod);
  }

  get size(): number {
    let size = this.#assumed.size;
    for (const pod of this.#readings.keys()) if (this.#counts(pod)) size += 1;
    return size;
  }

  total(): number {
    let total = 0;
    for (const pod of this.#readings.keys()) if (this.#counts(pod)) total += this.of(pod) ?? 0;
    for (const milli of this.#assumed.values()) total += milli;
    return total;
  }

  #counts(pod: string): boolean {
    const { ignored, unready } = this.#groups;
    return !ignored.has(pod) && !unready.has(pod);
  }
}

export function utilizationReplicas(input: PodMetricInput & { readonly percent: number }): Result<ReplicaProposal> {
  const { percent, pods, container, grouping } = input;
  const resource = grouping.resource;
  if (resource === undefined) throw new Error("utilisation is a share of a request: it needs a resource");
  const which = { resource, container };
  return byPods(input, {
    measure: (usage) => utilization(usage, { pods, which, percent }),
    // Missing pods count as fully used, or at the target where that is above 100 %: losing data must not shrink.
    whenMissing: (name) => {
      const pod = pods.find((one) => one.name === name);
      const request = pod && requestOf(pod, which);
      return mulDivFloor(request?.ok ? request.value : 0, Math.max(100, percent), 100);
    },
  });
}

interface Utilized {
  readonly pods: readonly HpaPod[];
  readonly which: RequestOf;
  readonly percent: number;
}

/** One pod without a request leaves utilisation undefined for all. */
function utilization(usage: Usage, { pods, which, percent }: Utilized): Result<Measure> {
  let used = 0;
  let requested = 0;
  for (const pod of pods) {
    const request = requestOf(pod, which);
    if (!request.ok) return request;
    const milli = usage.of(pod.name);
    if (milli === undefined) continue;
    used += milli;
    requested += request.value;
  }
  if (requested === 0)
    return err(
      failure("hpa.no-metrics", "no reading belongs to a known pod with a request: check the metric's source", {
        retry: true,
      }),
    );
  const observed = mulDivFloor(used, 100, requested);
  return ok({ ratio: observed / percent, observed });
}

export function averageReplicas(input: PodMetricInput & { readonly milli: number }): Result<ReplicaProposal> {
  const { milli } = input;
  return byPods(input, {
    measure: (usage) => {
      const observed = Math.trunc(usage.total() / usage.size);
      return ok({ ratio: observed / milli, observed });
    },
    whenMissing: () => milli,
  });
}

function byPods(input: PodMetricInput, gauge: Gauge): Result<ReplicaProposal> {
  const { current, pods, readings, tolerances, grouping } = input;
  if (pods.length === 0) return noPods();
  const groups = groupPods(pods, readings, grouping);
  const { readyCount, unready, missing } = groups;
  const usage = new Usage(readings, groups);
  if (usage.size === 0)
    return err(
      failure("hpa.no-metrics", "no pod that counts has a reading: the pods may not be ready yet", { retry: true }),
    );
  const first = gauge.measure(usage);
  if (!first.ok) return first;
  const { ratio, observed } = first.value;

  const growsWithUnready = unready.size > 0 && ratio > 1;
  if (!growsWithUnready && missing.size === 0) {
    if (isWithin(tolerances, ratio)) return ok({ replicas: current, observed });
    return ok({ replicas: wholeReplicas(ratio * readyCount), observed });
  }

  // What is not known is assumed to speak against the change: idle when growing, loaded when shrinking.
  if (ratio < 1) for (const pod of missing) usage.assume(pod, gauge.whenMissing(pod));
  else if (ratio > 1) for (const pod of missing) usage.assume(pod, 0);
  if (growsWithUnready) for (const pod of unready) usage.assume(pod, 0);

  const second = gauge.measure(usage);
  if (!second.ok) return second;
  const assumed = second.value.ratio;
  const turned = (ratio < 1 && assumed > 1) || (ratio > 1 && assumed < 1);
  if (isWithin(tolerances, assumed) || turned) return ok({ replicas: current, observed });
  const replicas = wholeReplicas(assumed * usage.size);
  const opposes = (assumed < 1 && replicas > current) || (assumed > 1 && replicas < current);
  return ok({ replicas: opposes ? current : replicas, observed });
}

export interface TotalMetricInput {
  readonly current: number;
  /** Replicas that exist, which an average is over; `current` is the number asked for. */
  readonly statusReplicas: number;
  readonly pods: readonly HpaPod[];
  readonly totalMilli: number;
  readonly target: HpaTotalTarget;
  readonly tolerances: Tolerances;
}

export function totalReplicas(input: TotalMetricInput): Result<ReplicaProposal> {
  const { current, statusReplicas, pods, totalMilli, target, tolerances } = input;
  if (target.kind === "average") {
    const ratio = totalMilli / (target.milli * statusReplicas);
    const replicas = isWithin(tolerances, ratio) ? statusReplicas : wholeReplicas(totalMilli / target.milli);
    return ok({ replicas, observed: Math.ceil(totalMilli / statusReplicas) });
  }
  const ratio = totalMilli / target.milli;
  if (current === 0) return ok({ replicas: wholeReplicas(ratio), observed: totalMilli });
  if (isWithin(tolerances, ratio)) return ok({ replicas: current, observed: totalMilli });
  if (pods.length === 0) return noPods();
  return ok({ replicas: wholeReplicas(ratio * countServing(pods)), observed: totalMilli });
}

const noPods = (): Result<never> =>
  err(
    failure("hpa.no-pods", "no pod belongs to the scaled workload: check its selector, or wait for the first pod", {
      retry: true,
    }),
  );
