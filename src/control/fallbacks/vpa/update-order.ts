/**
 * Which running pods deserve their recommendation, and who comes first.
 * Owns: what the updater reads about a pod, priorities, the three reasons for an update.
 * Not here: how many may be disrupted (updater.ts).
 */
import type { Ms } from "../../../base/index.ts";
import type { Resources, UpdaterConfig, VpaPolicies } from "./config.ts";
import { policyFor } from "./config.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import { cappedAmount } from "./recommend.ts";

/** What the kubelet says about a resize that was asked for. */
export type ResizeStatus = "none" | "deferred" | "infeasible" | "in-progress" | "error" | "unknown";

export interface UpdaterContainer {
  readonly name: string;
  readonly requests: Partial<Resources>;
  readonly limits?: Partial<Resources>;
  readonly lastTermination?: { readonly isOom: boolean; readonly startedAt: Ms; readonly finishedAt: Ms };
  readonly restartsOnResize?: boolean;
}

/** A scheduled pod that is not being deleted. */
export interface UpdaterPod {
  readonly name: string;
  readonly isPending?: boolean;
  readonly startedAt?: Ms;
  readonly resize?: ResizeStatus;
  readonly containers: readonly UpdaterContainer[];
}

export interface UpdaterInput {
  readonly now: Ms;
  readonly pods: readonly UpdaterPod[];
  /** Replicas that the workload asks for, which the budget is a share of. */
  readonly configuredReplicas: number;
  readonly recommendation: readonly ContainerRecommendation[];
  readonly policies?: VpaPolicies;
}

export type LeftAlone =
  | "mode"
  | "too-few-replicas"
  | "within-range"
  | "unchanged"
  | "no-start-time"
  | "budget"
  | "resizing"
  | "pending"
  | "infeasible-before";

export interface PodPriority {
  readonly isOutsideRange: boolean;
  readonly grows: boolean;
  /** Sum over resources of |request - recommended| / request, of all containers together. */
  readonly change: number;
}

/** Pods that deserve an update: growth first, then the larger change. */
export function updateOrder(
  pods: readonly UpdaterPod[],
  config: UpdaterConfig,
  input: UpdaterInput,
): { readonly order: readonly UpdaterPod[]; readonly skipped: readonly { pod: string; why: LeftAlone }[] } {
  const skipped: { pod: string; why: LeftAlone }[] = [];
  const accepted: { readonly pod: UpdaterPod; readonly priority: PodPriority }[] = [];
  let priority: PodPriority | undefined;
  let containers: UpdaterPod["containers"] | undefined;
  for (const pod of pods) {
    // Whoever makes the pods may let those of one size share their containers.
    if (priority === undefined || pod.containers !== containers) priority = updatePriority(pod, input);
    containers = pod.containers;
    const why = whyNotUpdate(pod, priority, { config, input });
    if (why === undefined) accepted.push({ pod, priority });
    else skipped.push({ pod: pod.name, why });
  }
  accepted.sort((a, b) => Number(b.priority.grows) - Number(a.priority.grows) || b.priority.change - a.priority.change);
  return { order: accepted.map(({ pod }) => pod), skipped };
}

function whyNotUpdate(
  pod: UpdaterPod,
  { isOutsideRange, change }: PodPriority,
  { config, input }: { readonly config: UpdaterConfig; readonly input: UpdaterInput },
): LeftAlone | undefined {
  const policies = input.policies ?? {};
  const quickOom = pod.containers.some(
    ({ name, lastTermination: last }) =>
      last?.isOom === true &&
      last.finishedAt - last.startedAt < config.quickOom &&
      policyFor(policies, name).mode !== "Off",
  );
  if (!isOutsideRange && !quickOom) {
    if (pod.startedAt === undefined) return "no-start-time";
    if (input.now < pod.startedAt + config.longLived || change < config.minChange) return "within-range";
  }
  // Restarting what just crashed with the very same memory would only crash it again.
  return quickOom && change === 0 ? "unchanged" : undefined;
}

export function updatePriority(
  pod: UpdaterPod,
  { recommendation, policies = {} }: Pick<UpdaterInput, "recommendation" | "policies">,
): PodPriority {
  let isOutsideRange = false;
  let grows = false;
  let change = 0;
  for (const resource of ["cpu", "memory"] as const) {
    let requested = 0;
    let recommended: number | undefined;
    for (const { name, requests, limits } of pod.containers) {
      const own = recommendation.find(({ container }) => container === name);
      if (own === undefined) continue;
      const policy = policyFor(policies, name);
      // A request cannot pass a limit that stays.
      const ceiling = policy.controlledValues === "RequestsOnly" && limits !== undefined ? limits : undefined;
      const cap = (value: number | undefined): number | undefined => {
        if (value === undefined) return undefined;
        const within = cappedAmount(value, resource, policy);
        return ceiling === undefined ? within : cappedAmount(within, resource, { maxAllowed: ceiling });
      };
      const target = cap(own.target[resource]);
      if (target === undefined) continue;
      const request = requests[resource];
      requested += request ?? 0;
      recommended = (recommended ?? 0) + target;
      if (request === undefined) {
        grows = true;
        isOutsideRange = true;
        continue;
      }
      if (target > request) grows = true;
      if (request < (cap(own.lower[resource]) ?? 0)) isOutsideRange = true;
      if (request > (cap(own.upper[resource]) ?? Number.POSITIVE_INFINITY)) isOutsideRange = true;
    }
    if (recommended === undefined) continue;
    // Kubernetes compares milli-units and never divides by less than one of them.
    const unit = resource === "memory" ? 1000 : 1;
    const base = Math.max(requested * unit, 1);
    change += Math.abs(base - recommended * unit) / base;
  }
  return { isOutsideRange, grows, change };
}
