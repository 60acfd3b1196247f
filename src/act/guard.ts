/**
 * The check outside the policy that every action passes. START READING HERE.
 * Owns: finite numbers, fresh data, whole units, bounds, cool-down, step, disruption budget, node capacity, in this
 * order; what was changed and why; the memory this needs.
 * Not here: who proposed and why (control/), doing it (actuator.ts).
 *
 * Why the rules can not break one another: each leaves a range that contains what is there now, and each moves the
 * wish towards what is there, never past it. So whatever a later rule does stays inside the ranges of the earlier ones.
 * The one exception is an allocation that is out of bounds to begin with: it is led back, a step at a time.
 *
 * The returned state assumes that the action was done. A caller whose write failed keeps the state it had.
 */
import type { Bytes, Millicores, Ms, WorkloadId } from "../base/index.ts";
import type { Action, Allocation, Dimension } from "./action.ts";
import { dimensions, reconcile } from "./action.ts";
import type { NodeRoom } from "./capacity.ts";
import { fitsOn, replicasThatFit } from "./capacity.ts";
import type { GuardLimits } from "./limits.ts";

export interface Proposal {
  readonly workload: WorkloadId;
  /** What is left out stays as it is. */
  readonly want: Partial<Allocation>;
  /** Running pods that take the new size now, the most urgent first; absent: all of them. */
  readonly pods?: readonly string[];
  /** When the newest measurement was taken that the decision rests on. */
  readonly measuredAt: Ms;
}

export interface GuardContext {
  readonly limits: GuardLimits;
  readonly state: GuardState;
  /** What is there, just read. */
  readonly have: Allocation;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
}

export interface GuardState {
  readonly changedAt: Readonly<Partial<Record<Dimension, Ms>>>;
  /** Replicas removed or restarted, within the budget's window. */
  readonly disruptions: readonly { readonly at: Ms; readonly replicas: number }[];
}

export const freshGuardState: GuardState = Object.freeze({ changedAt: {}, disruptions: [] });

export type GuardRule = "whole-units" | "bounds" | "cool-down" | "step" | "budget" | "capacity";

/** One rule's correction of one value: from what it was (the wish, or what an earlier rule left of it). */
export interface GuardChange {
  readonly dimension: Dimension;
  readonly from: number;
  readonly to: number;
  readonly why: GuardRule;
}

export type Refusal = "not-finite" | "stale-data" | "data-from-the-future" | "current-unknown" | "clock-unknown";

export interface Verdict {
  readonly action: Action;
  /** What will be there. */
  readonly allocation: Allocation;
  readonly changed: readonly GuardChange[];
  /** Pods that were to take a new size and may not now: the budget is spent, or the guard left no new size to take. */
  readonly heldBack?: readonly string[];
  readonly refused?: Refusal;
  readonly state: GuardState;
}

export function guard(proposal: Proposal, context: GuardContext): Verdict {
  const { workload, want } = proposal;
  const { have, state } = context;
  const refused = refusalOf(proposal, context);
  if (refused !== undefined)
    return { action: { kind: "hold", workload }, allocation: have, changed: [], refused, state };

  const memory = upToNow(state, context);
  const draft = new Draft(wishOf(want, have), proposal.pods);
  const wasResize = draft.isResizeOf(have);
  keepWholeUnits(draft, want);
  keepBounds(draft, context, want);
  keepCooldown(draft, context, memory);
  keepStep(draft, context);
  keepBudget(draft, context, memory);
  keepCapacity(draft, context);
  // A resize of which nothing is left has no followers: they would be restarted for the size they have.
  if (wasResize && !draft.isResizeOf(have)) draft.holdBack(0);
  const allocation = draft.allocation();
  const { changed, heldBack } = draft;
  const action = reconcile(workload, draft, have);
  const after = remember(memory, draft, context);
  return heldBack.length > 0
    ? { action, allocation, changed, heldBack, state: after }
    : { action, allocation, changed, state: after };
}

const isFiniteAllocation = ({ replicas, cpu, memory }: Allocation): boolean =>
  isAmount(replicas) && isAmount(cpu) && isAmount(memory);

const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0;
const isWild = (value: number | undefined): boolean => value !== undefined && !Number.isFinite(value);

function refusalOf({ want, measuredAt }: Proposal, { have, now, limits }: GuardContext): Refusal | undefined {
  if (!Number.isFinite(now)) return "clock-unknown";
  if (!isFiniteAllocation(have)) return "current-unknown";
  // One wild number discredits the whole proposal: a policy that says NaN about memory is not believed about replicas.
  if (isWild(want.replicas) || isWild(want.cpu) || isWild(want.memory)) return "not-finite";
  if (!(now - measuredAt <= limits.maxDataAge)) return "stale-data";
  if (measuredAt - now > limits.maxDataSkew) return "data-from-the-future";
  return undefined;
}

// Written out, as much of this file is: every tick of every agent passes here, and copies by spread cost more than all
// of the rules.
const wishOf = (want: Partial<Allocation>, have: Allocation): Allocation => ({
  replicas: want.replicas ?? have.replicas,
  cpu: want.cpu ?? have.cpu,
  memory: want.memory ?? have.memory,
});

/** The wish on its way through the rules, with every correction written down. */
class Draft {
  replicas: number;
  cpu: Millicores;
  memory: Bytes;
  pods: readonly string[] | undefined;
  readonly changed: GuardChange[] = [];
  heldBack: readonly string[] = [];

  constructor({ replicas, cpu, memory }: Allocation, pods: readonly string[] | undefined) {
    // A name twice is one pod.
    this.pods = pods === undefined || pods.length < 2 ? pods : [...new Set(pods)];
    // Adding zero turns -0, which a network may well say, into 0.
    this.replicas = replicas + 0;
    this.cpu = (cpu + 0) as Millicores;
    this.memory = (memory + 0) as Bytes;
  }

  get(dimension: Dimension): number {
    return dimension === "replicas" ? this.replicas : dimension === "cpu" ? this.cpu : this.memory;
  }

  set(dimension: Dimension, to: number, why: GuardRule): void {
    const from = this.get(dimension);
    if (to === from) return;
    if (dimension === "replicas") this.replicas = to;
    else if (dimension === "cpu") this.cpu = to as Millicores;
    else this.memory = to as Bytes;
    this.changed.push({ dimension, from, to, why });
  }

  /** Only so many of the followers go on, the most urgent ones. */
  holdBack(keep: number): void {
    if (this.pods === undefined || this.pods.length <= keep) return;
    this.heldBack = [...this.pods.slice(keep), ...this.heldBack];
    this.pods = this.pods.slice(0, keep);
  }

  isResizeOf({ cpu, memory }: Allocation): boolean {
    return this.cpu !== cpu || this.memory !== memory;
  }

  allocation(): Allocation {
    return { replicas: this.replicas, cpu: this.cpu, memory: this.memory };
  }
}

/** What nobody asked to change is not moved, even where it is odd or out of bounds: that is for a person to know. */
const isAsked = (want: Partial<Allocation>, dimension: Dimension): boolean => want[dimension] !== undefined;

/** Rounded up: never less than was asked for. */
function keepWholeUnits(draft: Draft, want: Partial<Allocation>): void {
  for (const dimension of dimensions)
    if (isAsked(want, dimension)) draft.set(dimension, Math.ceil(draft.get(dimension)) + 0, "whole-units");
}

function keepBounds(draft: Draft, { limits }: GuardContext, want: Partial<Allocation>): void {
  for (const dimension of dimensions) {
    if (!isAsked(want, dimension)) continue;
    const { min, max } = limits.bounds[dimension];
    draft.set(dimension, Math.min(Math.max(draft.get(dimension), min), max), "bounds");
  }
}

function keepCooldown(draft: Draft, { limits, have, now }: GuardContext, { changedAt }: GuardState): void {
  for (const dimension of dimensions) {
    const last = changedAt[dimension];
    if (last === undefined) continue;
    const { up, down } = limits.cooldown[dimension];
    const wait = draft.get(dimension) > have[dimension] ? up : down;
    if (now - last < wait) draft.set(dimension, have[dimension], "cool-down");
  }
}

function keepStep(draft: Draft, { limits, have }: GuardContext): void {
  for (const dimension of dimensions) {
    const { absolute, relative } = limits.step[dimension];
    const current = have[dimension];
    if (draft.get(dimension) === current) continue;
    const most = Math.max(absolute, relative * current);
    const lowest = Math.ceil(current - most);
    const highest = Math.floor(current + most);
    draft.set(dimension, Math.min(Math.max(draft.get(dimension), lowest), highest), "step");
  }
}

type Wanted = Allocation & { readonly pods?: readonly string[] | undefined };

/** Replicas that a change of allocation removes or restarts. */
export function disruptedReplicas(want: Wanted, have: Allocation, limits: GuardLimits): number {
  return Math.max(0, have.replicas - want.replicas) + restartedReplicas(want, have, limits);
}

function restartedReplicas(want: Wanted, have: Allocation, { restarts }: GuardLimits): number {
  if (!restarts.cpu && !restarts.memory) return 0;
  const changes = { cpu: want.cpu !== have.cpu, memory: want.memory !== have.memory };
  const isResize = changes.cpu || changes.memory;
  // Followers of a size that was set earlier: which of the two values they lack is not known here, so either counts.
  const restartsOnes = isResize
    ? (restarts.cpu && changes.cpu) || (restarts.memory && changes.memory)
    : want.pods !== undefined && (restarts.cpu || restarts.memory);
  if (!restartsOnes) return 0;
  // Named pods count each, even if one of them is about to be removed: the world may choose another one for that.
  return want.pods === undefined ? Math.min(want.replicas, have.replicas) : Math.min(want.pods.length, have.replicas);
}

function keepBudget(draft: Draft, { limits, have }: GuardContext, { disruptions }: GuardState): void {
  const disrupted = disruptedReplicas(draft, have, limits);
  if (disrupted === 0) return;
  const spent = disruptions.reduce((sum, { replicas }) => sum + replicas, 0);
  const left = Math.max(0, limits.disruption.replicas - spent);
  if (disrupted <= left) return;
  // Resizes wait before removals do: a pod that is not needed costs money, a restart costs requests.
  if (draft.pods !== undefined) {
    // Named followers can wait one by one, while new pods already start with the new size.
    const removed = Math.max(0, have.replicas - draft.get("replicas"));
    draft.holdBack(Math.max(0, left - removed));
    draft.set("replicas", Math.max(draft.get("replicas"), have.replicas - left), "budget");
    return;
  }
  for (const dimension of ["cpu", "memory"] as const)
    if (limits.restarts[dimension]) draft.set(dimension, have[dimension], "budget");
  draft.set("replicas", Math.max(draft.get("replicas"), have.replicas - left), "budget");
}

function keepCapacity(draft: Draft, { nodes, have }: GuardContext): void {
  if (nodes === "unlimited" || fitsOn(draft.allocation(), nodes)) return;
  // Fewer new replicas first, then no larger ones. What does not grow may stay: it is there already.
  if (draft.get("replicas") > have.replicas) {
    const room = replicasThatFit(draft.allocation(), nodes);
    draft.set("replicas", Math.max(have.replicas, Math.min(draft.get("replicas"), room)), "capacity");
  }
  for (const dimension of ["cpu", "memory"] as const) {
    if (fitsOn(draft.allocation(), nodes)) return;
    if (draft.get(dimension) > have[dimension]) draft.set(dimension, have[dimension], "capacity");
  }
}

/** A clock that went back: what seems to lie ahead counts as just done, so that waiting ends and nothing is forgotten. */
function upToNow(state: GuardState, { now, limits }: GuardContext): GuardState {
  const { changedAt, disruptions } = state;
  const oldest = now - limits.disruption.window;
  const isSound = ({ at }: { readonly at: Ms }): boolean => at <= now && at > oldest;
  const { replicas = now, cpu = now, memory = now } = changedAt;
  if (replicas <= now && cpu <= now && memory <= now && disruptions.every(isSound)) return state;
  const atMostNow = (at: Ms): Ms => (at > now ? now : at);
  const known: Partial<Record<Dimension, Ms>> = {};
  for (const dimension of dimensions) {
    const at = changedAt[dimension];
    if (at !== undefined) known[dimension] = atMostNow(at);
  }
  return {
    changedAt: known,
    disruptions: disruptions
      .map(({ at, replicas }) => ({ at: atMostNow(at), replicas }))
      .filter(({ at }) => at > oldest),
  };
}

function remember(memory: GuardState, wanted: Wanted, { have, limits, now }: GuardContext): GuardState {
  const disrupted = disruptedReplicas(wanted, have, limits);
  const isSame = dimensions.every((dimension) => wanted[dimension] === have[dimension]);
  if (isSame && disrupted === 0) return memory;
  const changedAt: Partial<Record<Dimension, Ms>> = {};
  for (const dimension of dimensions) {
    const at = wanted[dimension] === have[dimension] ? memory.changedAt[dimension] : now;
    if (at !== undefined) changedAt[dimension] = at;
  }
  return {
    changedAt,
    disruptions: disrupted === 0 ? memory.disruptions : [...memory.disruptions, { at: now, replicas: disrupted }],
  };
}
