/**
 * From the agent's five numbers in [−1, 1] to limits of one container, or to more or fewer containers of its service.
 * Owns: the two meanings of an action, the way to scale-out and scale-in, cores capped by threads.
 * Not here: whether it may be done (act/instance-guard.ts).
 *
 * `limits`, as printed: a number is a place between the container's lower and upper limit. The eight things an agent sees do
 * not tell how large the present limit is, so a limit that suits what is used now can not be read off them, and whatever a
 * network says swings (ADR 0021). `headroom`, the default: a number is how many times what was lately used is granted, which is then
 * kept between the lower and the upper limit. Both are geometric: as many steps from 1 to 2 cores as from 2 to 4.
 */
import type { ServiceAction } from "../../../act/index.ts";
import type { Limits, Resource } from "../../../base/index.ts";
import { resources } from "../../../base/index.ts";
import type { InstanceReading } from "../../../observe/telemetry/index.ts";

export type MitigationActions = "limits" | "headroom";

export const MITIGATION_ACTIONS = resources.length;

/**
 * What a limit may be over what was lately used. Below the least a busier second than the last ten is throttled at once: at
 * 1.05 times the busiest period one request in twenty misses its SLO in applications of short requests, at 1.6 none more
 * than without any control. The most is reached in two steps from the defaults to their upper bounds.
 */
export const headroomRange = { least: 1.4, most: 4 } as const;

export interface MitigationMove {
  readonly kind: MitigationActions;
  readonly instance: InstanceReading;
  /** What it has lately used at most: what headroom is a factor on (use-memory.ts). */
  readonly used: Limits;
  /** The limits that it was deployed with. */
  readonly deployed: Limits;
  /** Not promised to anybody on the container's node. */
  readonly room: Limits;
  /** Of the container's service, started or starting. */
  readonly replicas: number;
  readonly sloMaintenance: number;
  /** Of which it may have needed more than it was let use, while an SLO is broken: any, unless said. */
  readonly lacking?: ReadonlySet<Resource>;
}

export interface DecodedMove {
  /** In the order in which they are to be guarded. */
  readonly actions: readonly ServiceAction[];
  /** Resources of which the node has not what is wanted, or that are all used at their upper limit. */
  readonly oversubscribed: readonly Resource[];
}

/** `limits` reach a little below the lower limit, or nobody could ask for fewer containers. */
const BELOW = 0.9;
/** What is all used: telemetry's noise is about two per cent. */
const ALL_USED = 0.95;
/** Changes below this part are noise, and a write to a machine for nothing. */
const LEAST_CHANGE = 0.03;

/**
 * Who is short uses what it is let, so use tells too little: requests that take so many times their SLO are taken to need so
 * many times as much, up to the most below. More than is needed is taken back once nobody is harmed; less costs a second each time.
 */
export function shortageOf({ kind, sloMaintenance }: Pick<MitigationMove, "kind" | "sloMaintenance">): number {
  return kind === "limits" || sloMaintenance >= 1 ? 1 : Math.min(MOST_SHORTAGE, 1 / sloMaintenance);
}
const MOST_SHORTAGE = 4;

/** What the numbers say each limit should be, before any bound. */
export function wantedLimits(action: ArrayLike<number>, move: MitigationMove): Limits {
  const { kind, instance, used, lacking } = move;
  const { lower, upper } = instance;
  const shortage = shortageOf(move);
  const of = (resource: Resource, i: number): number => {
    const share = (Math.min(1, Math.max(-1, action[i] as number)) + 1) / 2;
    if (kind === "limits") return lower[resource] * BELOW * (upper[resource] / (lower[resource] * BELOW)) ** share;
    const { least, most } = headroomRange;
    const isLacking = shortage > 1 && (lacking === undefined || lacking.has(resource));
    if (!isLacking) return used[resource] * least * (most / least) ** share;
    // The busiest period of CPU is as new as the scrape; the others' means come when somebody has long been late.
    const needed = resource === "cpu" ? used.cpu : Math.max(used[resource], instance.limits[resource]);
    return needed * shortage * least * (most / least) ** share;
  };
  return { cpu: of("cpu", 0), memory: of("memory", 1), llc: of("llc", 2), io: of("io", 3), network: of("network", 4) };
}

export function decodeMitigation(action: ArrayLike<number>, move: MitigationMove): DecodedMove {
  const { instance, room, replicas, sloMaintenance } = move;
  const { service, limits, lower, upper, threads, use } = instance;
  const wanted = wantedLimits(action, move);
  const oversubscribed: Resource[] = [];
  const next: Partial<Record<Resource, number>> = {};
  for (const resource of resources) {
    const have = limits[resource];
    // Cores beyond the threads do nothing.
    const most = resource === "cpu" ? Math.max(lower.cpu, Math.min(upper.cpu, threads)) : upper[resource];
    const want = Math.min(Math.max(wanted[resource], leastOf(resource, move)), most);
    const available = have + Math.max(0, room[resource]);
    // "If the amount of resources reaches the total available amount": of the node, or of what one container may have.
    const isAtTheTop = have >= most * (1 - LEAST_CHANGE) && wanted[resource] > have;
    const isShort = sloMaintenance < 1 && (use?.[resource] ?? 0) >= ALL_USED;
    if (isShort && (want > available || isAtTheTop)) oversubscribed.push(resource);
    const granted = Math.min(want, available);
    // Who is to blame is given more, never less: what it has too much of can be taken back when nobody waits for it.
    const isTakenBack = granted < have && sloMaintenance < 1;
    if (!isTakenBack && Math.abs(granted - have) > LEAST_CHANGE * have) next[resource] = granted;
  }
  const actions: ServiceAction[] = [];
  // What can not be had here is replaced by another container; what can be had is set all the same.
  if (oversubscribed.length > 0) actions.push({ kind: "scale-service", service, replicas: replicas + 1 });
  else if (replicas > 1 && isIdle(wanted, lower))
    actions.push({ kind: "scale-service", service, replicas: replicas - 1 });
  if (Object.keys(next).length > 0) actions.push({ kind: "set-limits", instance: instance.instance, limits: next });
  return { actions, oversubscribed };
}

/**
 * Headroom takes back what it gave, and of CPU more than that: its counters tell the busiest quota period. Those of bandwidth
 * and cache tell means, and a container that is idle on average still draws a whole request's rate at once; below what it was
 * deployed with nothing would tell that it is short until somebody is late.
 */
const leastOf = (resource: Resource, { kind, instance, deployed }: MitigationMove): number =>
  kind === "limits" || resource === "cpu"
    ? instance.lower[resource]
    : Math.max(instance.lower[resource], deployed[resource]);

/** Below the lower limit of everything that flows: a cache is filled even where nothing is done with it. */
const isIdle = (wanted: Limits, lower: Limits): boolean =>
  resources.every((resource) => resource === "llc" || wanted[resource] < lower[resource]);
