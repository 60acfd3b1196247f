/**
 * Which pods a metric speaks for.
 * Owns: what the HPA reads about a pod, the four groups (ready, unready, missing, ignored), requests, readings.
 * Not here: what follows from the groups (replicas.ts).
 */
import type { Bytes, Millicores, Ms, Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { HpaConfig, HpaResource } from "./config.ts";
import { milliBytes } from "./config.ts";

export interface HpaContainer {
  readonly name: string;
  readonly requests: { readonly cpu?: Millicores; readonly memory?: Bytes };
}

export interface HpaPod {
  readonly name: string;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly isDeleting?: boolean;
  readonly startedAt?: Ms;
  /** The Ready condition; absent until the kubelet has written one. */
  readonly ready?: { readonly status: "True" | "False" | "Unknown"; readonly since: Ms };
  readonly containers: readonly HpaContainer[];
}

/** One pod's value of a metric, averaged over `window` and ending at `at`. */
export interface PodReading {
  readonly milli: number;
  readonly at: Ms;
  readonly window: Ms;
}

export interface PodGroups {
  readonly readyCount: number;
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

export interface GroupingContext {
  readonly config: Pick<HpaConfig, "cpuInitializationPeriod" | "initialReadinessDelay">;
  /** Readiness only disqualifies CPU readings: start-up burns CPU that says nothing about load. */
  readonly resource: HpaResource | undefined;
  readonly now: Ms;
}

export function groupPods(
  pods: readonly HpaPod[],
  readings: ReadonlyMap<string, PodReading>,
  context: GroupingContext,
): PodGroups {
  let readyCount = 0;
  let unready = nobody;
  let missing = nobody;
  let ignored = nobody;
  for (const pod of pods) {
    if (pod.isDeleting === true || pod.phase === "Failed") {
      ignored = withPod(ignored, pod);
      continue;
    }
    if (pod.phase === "Pending") {
      unready = withPod(unready, pod);
      continue;
    }
    const reading = readings.get(pod.name);
    if (reading === undefined) missing = withPod(missing, pod);
    else if (context.resource === "cpu" && isUnready(pod, reading, context)) unready = withPod(unready, pod);
    else readyCount += 1;
  }
  return { readyCount, unready, missing, ignored };
}

/** Nearly always all pods are ready, and three empty sets in every sync would be made for nothing. */
const nobody: ReadonlySet<string> = new Set<string>();

function withPod(group: ReadonlySet<string>, { name }: HpaPod): ReadonlySet<string> {
  return group === nobody ? new Set([name]) : (group as Set<string>).add(name);
}

function isUnready(pod: HpaPod, reading: PodReading, { config, now }: GroupingContext): boolean {
  if (pod.ready === undefined || pod.startedAt === undefined) return true;
  const { status, since } = pod.ready;
  if (pod.startedAt + config.cpuInitializationPeriod > now) {
    // The pod may still be starting: believe nothing that was measured before it had been ready for a whole window.
    return status === "False" || reading.at < since + reading.window;
  }
  // Later, only a pod that has never been ready is left out: its condition is still the one it started with.
  return status === "False" && pod.startedAt + config.initialReadinessDelay > since;
}

export function countServing(pods: readonly HpaPod[]): number {
  return pods.filter(({ phase, ready }) => phase === "Running" && ready?.status === "True").length;
}

export interface RequestOf {
  readonly resource: HpaResource;
  readonly container?: string | undefined;
}

/** What a pod requests, in milli-units. */
export function requestOf(pod: HpaPod, { resource, container }: RequestOf): Result<number> {
  let counted = 0;
  let total = 0;
  for (const { name, requests } of pod.containers) {
    if (container !== undefined && name !== container) continue;
    counted += 1;
    const amount = requests[resource];
    if (amount === undefined)
      return err(
        failure(
          "hpa.no-request",
          `container ${name} of pod ${pod.name} requests no ${resource}: utilisation needs a request`,
        ),
      );
    total += Math.ceil(resource === "memory" ? milliBytes(amount as Bytes) : amount);
  }
  if (container !== undefined && counted === 0)
    return err(
      failure("hpa.no-container", `pod ${pod.name} has no container ${container}: correct the metric's container`),
    );
  return ok(total);
}
