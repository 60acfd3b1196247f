/**
 * The check that every action on the services of an application passes, whoever proposes it: the learned controller,
 * Kubernetes autoscaling, AIMD. In the spirit of guard.ts, for five limits per container and replicas per service.
 * Owns: known target, finite numbers, fresh data, bounds, cool-down, step, node capacity, in this order; what was changed
 * and why; the memory this needs.
 * Not here: the guard of whole workloads (guard.ts), doing it (a world's port).
 *
 * As there, each rule leaves a range that contains what is there and moves the wish towards it, so a later rule never
 * undoes an earlier one; only what is out of bounds to begin with is led back, a step at a time. The returned state
 * assumes that the action was done: a caller whose write failed keeps the state it had.
 */
import type { Limits, Ms, Resource } from "../base/index.ts";
import { assertNever, resources } from "../base/index.ts";
import type { ServiceAction, ServiceProposal } from "./instance-action.ts";
import type { ServiceGuardLimits } from "./instance-limits.ts";
import type { Cooldown } from "./limits.ts";

/** A container as the guard knows it, just read. */
export interface GuardedInstance {
  readonly instance: string;
  readonly service: string;
  readonly node: string;
  readonly limits: Limits;
  readonly lower: Limits;
  readonly upper: Limits;
  /** More cores than threads are of no use to it. */
  readonly threads: number;
}

export interface GuardedNode {
  readonly node: string;
  /** What is not promised to anybody. */
  readonly room: Limits;
}

export interface ServiceGuardContext {
  readonly limits: ServiceGuardLimits;
  readonly state: ServiceGuardState;
  readonly instances: readonly GuardedInstance[];
  readonly nodes: readonly GuardedNode[];
  readonly now: Ms;
}

export interface ServiceGuardState {
  /** By container and resource, and by service: when it was last changed. What no cool-down asks for is forgotten. */
  readonly changedAt: ReadonlyMap<string, Ms>;
}

export const freshServiceGuardState: ServiceGuardState = Object.freeze({ changedAt: new Map<string, Ms>() });

export type ServiceGuardRule = "whole-units" | "bounds" | "cool-down" | "step" | "capacity";

export interface ServiceGuardChange {
  readonly what: Resource | "replicas";
  readonly from: number;
  readonly to: number;
  readonly why: ServiceGuardRule;
}

export type ServiceRefusal =
  | "clock-unknown"
  | "unknown-target"
  | "current-unknown"
  | "not-finite"
  | "stale-data"
  | "data-from-the-future";

export interface ServiceVerdict {
  /** What may be done. Limits that stay as they are have been left out. */
  readonly action: ServiceAction;
  readonly changed: readonly ServiceGuardChange[];
  readonly refused?: ServiceRefusal;
  readonly state: ServiceGuardState;
}

const hold: ServiceAction = Object.freeze({ kind: "hold" });

export function guardServiceAction(
  { action, measuredAt }: ServiceProposal,
  context: ServiceGuardContext,
): ServiceVerdict {
  const { state, limits, now } = context;
  const refuse = (refused: ServiceRefusal): ServiceVerdict => ({ action: hold, changed: [], refused, state });
  if (!Number.isFinite(now)) return refuse("clock-unknown");
  // Freshness is judged after the target: a hold asks for nothing, so nothing about it can be stale.
  if (action.kind === "hold") return { action: hold, changed: [], state };
  if (!(now - measuredAt <= limits.maxDataAge)) return refuse("stale-data");
  if (measuredAt - now > limits.maxDataSkew) return refuse("data-from-the-future");
  switch (action.kind) {
    case "set-limits": {
      const found = context.instances.find(({ instance }) => instance === action.instance);
      if (found === undefined) return refuse("unknown-target");
      if (!isKnown(found)) return refuse("current-unknown");
      // One wild number discredits the whole proposal.
      if (resources.some((resource) => isWild(action.limits[resource]))) return refuse("not-finite");
      return guardLimits(action.limits, found, context);
    }
    case "scale-service": {
      const members = context.instances.filter(({ service }) => service === action.service);
      if (members.length === 0) return refuse("unknown-target");
      if (!Number.isFinite(action.replicas)) return refuse("not-finite");
      return guardReplicas(action.replicas, members, context);
    }
    default:
      return assertNever(action);
  }
}

const isWild = (value: number | undefined): boolean => value !== undefined && !Number.isFinite(value);
const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0;
const isKnown = ({ limits, lower, upper, threads }: GuardedInstance): boolean =>
  threads >= 0 && resources.every((r) => isAmount(limits[r]) && isAmount(lower[r]) && upper[r] >= lower[r]);

/** One value on its way through the rules. */
class Draft {
  readonly changed: ServiceGuardChange[] = [];

  /** What a rule leaves of a value. */
  keep(
    what: Resource | "replicas",
    value: { readonly from: number; readonly to: number },
    why: ServiceGuardRule,
  ): number {
    // Adding zero turns -0, which a network may well say, into 0.
    const to = value.to + 0;
    if (value.from !== to) this.changed.push({ what, from: value.from, to, why });
    return to;
  }
}

const within = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

function guardLimits(
  want: Partial<Limits>,
  instance: GuardedInstance,
  { limits, state, nodes, now }: ServiceGuardContext,
): ServiceVerdict {
  const draft = new Draft();
  const next: Partial<Record<Resource, number>> = {};
  const touched: string[] = [];
  // A node that nobody has told about has no room that one could rely on.
  const room = nodes.find(({ node }) => node === instance.node)?.room;
  for (const resource of resources) {
    const wanted = want[resource];
    if (wanted === undefined) continue;
    const have = instance.limits[resource];
    const key = `${instance.instance}/${resource}`;
    const lower = instance.lower[resource];
    const upper =
      resource === "cpu" ? Math.max(lower, Math.min(instance.upper.cpu, instance.threads)) : instance.upper[resource];
    let value = draft.keep(resource, { from: wanted, to: within(wanted, lower, upper) }, "bounds");
    if (isCooling(value, have, { last: state.changedAt.get(key), now, cooldown: limits.cooldown }))
      value = draft.keep(resource, { from: value, to: have }, "cool-down");
    const stepped = within(value, have * limits.step.down, have * limits.step.up);
    value = draft.keep(resource, { from: value, to: have === 0 ? value : stepped }, "step");
    const left = room?.[resource] ?? 0;
    const most = have + (left > 0 ? left : 0);
    if (value > most) value = draft.keep(resource, { from: value, to: most }, "capacity");
    if (value === have) continue;
    next[resource] = value;
    touched.push(key);
  }
  if (touched.length === 0) return { action: hold, changed: draft.changed, state };
  return {
    action: { kind: "set-limits", instance: instance.instance, limits: next },
    changed: draft.changed,
    state: remember(state, touched, { limits, now }),
  };
}

function guardReplicas(
  want: number,
  members: readonly GuardedInstance[],
  { limits, state, nodes, now }: ServiceGuardContext,
): ServiceVerdict {
  const draft = new Draft();
  const have = members.length;
  const { service, lower } = members[0] as GuardedInstance;
  const { min, max, step, cooldown } = limits.replicas;
  const key = `${service}/replicas`;
  let value = draft.keep("replicas", { from: want, to: Math.ceil(want) }, "whole-units");
  value = draft.keep("replicas", { from: value, to: within(value, min, max) }, "bounds");
  if (isCooling(value, have, { last: state.changedAt.get(key), now, cooldown }))
    value = draft.keep("replicas", { from: value, to: have }, "cool-down");
  const most = Math.max(step.absolute, Math.floor(step.relative * have));
  value = draft.keep("replicas", { from: value, to: within(value, have - most, have + most) }, "step");
  if (value > have) {
    const room = have + replicasOfLeastSize(lower, nodes);
    value = draft.keep("replicas", { from: value, to: Math.min(value, room) }, "capacity");
  }
  if (value === have) return { action: hold, changed: draft.changed, state };
  return {
    action: { kind: "scale-service", service, replicas: value },
    changed: draft.changed,
    state: remember(state, [key], { limits, now }),
  };
}

/** New containers that find room at their lower limits. Which size they really get is the world's to say, and to refuse. */
function replicasOfLeastSize(least: Limits, nodes: readonly GuardedNode[]): number {
  let count = 0;
  for (const { room } of nodes) {
    let fits = Number.POSITIVE_INFINITY;
    for (const resource of resources) {
      if (!(least[resource] > 0)) continue;
      fits = Math.min(fits, room[resource] >= 0 ? Math.floor(room[resource] / least[resource]) : 0);
    }
    count += fits;
  }
  return count;
}

interface Cooling {
  readonly last: Ms | undefined;
  readonly now: Ms;
  readonly cooldown: Cooldown;
}

/** A clock that went back: what seems to lie ahead counts as just done. */
const isCooling = (value: number, have: number, { last, now, cooldown }: Cooling): boolean =>
  value !== have && last !== undefined && now - Math.min(last, now) < (value > have ? cooldown.up : cooldown.down);

function remember(
  { changedAt }: ServiceGuardState,
  touched: readonly string[],
  { limits, now }: Pick<ServiceGuardContext, "limits" | "now">,
): ServiceGuardState {
  const { cooldown, replicas } = limits;
  const longest = Math.max(cooldown.up, cooldown.down, replicas.cooldown.up, replicas.cooldown.down);
  const next = new Map<string, Ms>();
  // So that containers that are long gone are not remembered for ever.
  for (const [key, at] of changedAt) if (now - at < longest) next.set(key, at > now ? now : at);
  for (const key of touched) next.set(key, now);
  return { changedAt: next };
}
