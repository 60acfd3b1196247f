/**
 * From the agent's five numbers in [−1, 1] to the limits of a service's containers, or to more or fewer of them, and back.
 * Owns: the two meanings of an action, the way to scale-out and scale-in, cores capped by threads.
 * Not here: whether it may be done (act/guard.ts, limits.ts).
 *
 * `limits`, as printed: a number is a place between the container's lower and upper limit. The eight things an agent sees do
 * not tell how large the present limit is, so a limit that suits what is used now cannot be read off them, and whatever a
 * network says swings (ADR 0021). `headroom`, the default: a number is how many times what was lately used is granted, which is then
 * kept between the lower and the upper limit. Both are geometric: as many steps from 1 to 2 cores as from 2 to 4.
 */
import type { Limits, Resource } from "../../../base/index.ts";
import { resources } from "../../../base/index.ts";
import { type ContainerBounds, mostOf } from "./limits.ts";

/** What is set for a service: the limits of each of its containers, and how many there are. */
export type ServiceSetting = { readonly [K in Resource | "replicas"]: number };

export type MitigationActions = "limits" | "headroom";

export const MITIGATION_ACTIONS = resources.length;

/**
 * What a limit may be over what was lately used. Below the least a busier second than the last ten is throttled at once: at
 * 1.05 times the busiest period one request in twenty misses its SLO in applications of short requests, at 1.6 none more
 * than without any control. The most is reached in two steps from the defaults to their upper bounds.
 */
export const headroomRange = { least: 1.4, most: 4 } as const;

/** A cache is always full, so what is used of it says nothing about more being needed: its least is what it has. */
const leastHeadroom = (resource: Resource): number => (resource === "llc" ? 1 : headroomRange.least);

/** One service's containers, by the one that needs most of each resource. */
export interface MitigationMove extends ContainerBounds {
  readonly kind: MitigationActions;
  /** In force now. */
  readonly limits: Limits;
  /** Over the limit; null where no sample came. */
  readonly use: { readonly [R in Resource]: number } | null;
  /** What it has lately used at most: what headroom is a factor on (use-memory.ts). */
  readonly used: Limits;
  /** The limits that it was deployed with. */
  readonly deployed: Limits;
  /** What each container can have more, by what its node has not promised to anybody. */
  readonly room: Limits;
  /** Of the service, started or starting. */
  readonly replicas: number;
  readonly sloMaintenance: number;
  /** Of which it may have needed more than it was let use, while an SLO is broken: any, unless said. */
  readonly lacking?: readonly Resource[];
}

export interface DecodedMove {
  readonly setting: ServiceSetting;
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

/** What the first number of a range stands for, and the factor to its last: −1 and 1 of an action. */
interface Range {
  readonly from: number;
  readonly times: number;
}

function rangeOf(resource: Resource, move: MitigationMove): Range {
  const { kind, lower, upper, limits, used, lacking } = move;
  if (kind === "limits") {
    const from = lower[resource] * BELOW;
    return { from, times: upper[resource] / from };
  }
  const { most } = headroomRange;
  const least = leastHeadroom(resource);
  const shortage = shortageOf(move);
  const isLacking = shortage > 1 && (lacking === undefined || lacking.includes(resource));
  if (!isLacking) return { from: used[resource] * least, times: most / least };
  // The busiest period of CPU is as new as the scrape; the others' means come when somebody has long been late.
  const needed = resource === "cpu" ? used.cpu : Math.max(used[resource], limits[resource]);
  return { from: needed * shortage * least, times: most / least };
}

/** What the numbers say each limit should be, before any bound. */
export function wantedLimits(action: ArrayLike<number>, move: MitigationMove): Limits {
  const of = (resource: Resource, i: number): number => {
    const share = (Math.min(1, Math.max(-1, action[i] as number)) + 1) / 2;
    const { from, times } = rangeOf(resource, move);
    return from * times ** share;
  };
  return { cpu: of("cpu", 0), memory: of("memory", 1), llc: of("llc", 2), io: of("io", 3), network: of("network", 4) };
}

/** The numbers that would have wanted these limits, as near as they reach. */
export function encodeLimits(limits: Limits, move: MitigationMove): Float32Array {
  return Float32Array.from(resources, (resource) => {
    const { from, times } = rangeOf(resource, move);
    const share = Math.log(limits[resource] / from) / Math.log(times);
    // Nothing used: whatever is granted is more than enough.
    return Number.isNaN(share) ? 1 : Math.min(1, Math.max(-1, 2 * share - 1));
  });
}

export function decodeMitigation(action: ArrayLike<number>, move: MitigationMove): DecodedMove {
  const { limits, lower, room, replicas, sloMaintenance, use } = move;
  const wanted = wantedLimits(action, move);
  const oversubscribed: Resource[] = [];
  const next = (resource: Resource): number => {
    const have = limits[resource];
    // What is no number stays none, for the guard to refuse.
    if (Number.isNaN(wanted[resource])) return Number.NaN;
    const most = mostOf(resource, move);
    const want = Math.min(Math.max(wanted[resource], leastOf(resource, move)), most);
    const available = have + Math.max(0, room[resource]);
    // "If the amount of resources reaches the total available amount": of the node, or of what one container may have.
    const isAtTheTop = have >= most * (1 - LEAST_CHANGE) && wanted[resource] > have;
    const isShort = sloMaintenance < 1 && (use?.[resource] ?? 0) >= ALL_USED;
    if (isShort && (want > available || isAtTheTop)) oversubscribed.push(resource);
    const granted = Math.min(want, available);
    // Who is to blame is given more, never less: what it has too much of can be taken back when nobody waits for it.
    const isTakenBack = granted < have && sloMaintenance < 1;
    return !isTakenBack && Math.abs(granted - have) > LEAST_CHANGE * have ? granted : have;
  };
  const sizes = {
    cpu: next("cpu"),
    memory: next("memory"),
    llc: next("llc"),
    io: next("io"),
    network: next("network"),
  };
  // What cannot be had here is replaced by another container; what can be had is set all the same.
  const more = oversubscribed.length > 0 ? 1 : replicas > 1 && isIdle(wanted, lower) ? -1 : 0;
  return { setting: { ...sizes, replicas: replicas + more }, oversubscribed };
}

/**
 * Headroom takes back what it gave, and of CPU more than that: its counters tell the busiest quota period. Those of bandwidth
 * and cache tell means, and a container that is idle on average still draws a whole request's rate at once; below what it was
 * deployed with nothing would tell that it is short until somebody is late.
 */
const leastOf = (resource: Resource, { kind, lower, deployed }: MitigationMove): number =>
  kind === "limits" || resource === "cpu" ? lower[resource] : Math.max(lower[resource], deployed[resource]);

/** Below the lower limit of everything that flows: a cache is filled even where nothing is done with it. */
const isIdle = (wanted: Limits, lower: Limits): boolean =>
  resources.every((resource) => resource === "llc" || wanted[resource] < lower[resource]);
