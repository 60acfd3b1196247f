/**
 * The check outside the policy that every action passes, for any number of named knobs. START READING HERE.
 * Owns: known knobs, finite numbers, fresh data, grain, bounds, cool-down, step, then the constraints of the task, in this
 * order; what was changed and why; the memory this needs.
 * Not here: who proposed and why (control/), constraints that know more than one knob (constraints/), doing it (actuator.ts).
 *
 * Why the rules cannot break one another: each leaves a range that contains what is there now, and each moves the wish
 * towards what is there, never past it. So whatever a later rule does stays inside the ranges of the earlier ones. The one
 * exception is a value that is out of bounds to begin with: it is led back, a step at a time. A constraint has to keep to
 * the same: it moves values towards what is there, and nothing else. Where it leaves one between two multiples of its grain,
 * the guard takes it on to the next, or to what is there.
 *
 * The returned state assumes that the action was done. A caller whose write failed keeps the state it had.
 */
import type { Ms, WorkloadId } from "../base/index.ts";
import type { Action } from "./action.ts";
import { reconcile } from "./action.ts";
import type { GuardChange } from "./draft.ts";
import { Draft } from "./draft.ts";
import type { Knob, Setting } from "./knob.ts";

export interface Proposal<S extends Setting = Setting> {
  readonly workload: WorkloadId;
  /** What is left out stays as it is. */
  readonly want: Partial<S>;
  /** Members that take the new values now, the most urgent first; absent: all of them. */
  readonly followers?: readonly string[];
  /** When the newest measurement was taken that the decision rests on. */
  readonly measuredAt: Ms;
}

/** What is kept for one managed workload. */
export interface GuardLimits {
  readonly knobs: readonly Knob[];
  /** After the rules of each knob, in this order. */
  readonly constraints: readonly Constraint[];
  /** A decision that rests on older measurements is not carried out. */
  readonly maxDataAge: Ms;
  /** Measurements may be this far ahead, for clocks that differ a little. */
  readonly maxDataSkew: Ms;
}

/** What a node has left for this workload, by the name of what is used there. */
export type NodeRoom = Setting;

export interface GuardContext<S extends Setting = Setting> {
  readonly limits: GuardLimits;
  readonly state: GuardState;
  /** What is there, just read. */
  readonly have: S;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
}

/** Plain data: it is saved. */
export interface GuardState {
  /** By knob: when it was last changed. */
  readonly changedAt: Readonly<Record<string, Ms>>;
  /** By the rule of a constraint: what it keeps in mind. */
  readonly constraints: Readonly<Record<string, unknown>>;
}

export const freshGuardState: GuardState = Object.freeze({ changedAt: {}, constraints: {} });

/**
 * A rule that looks at more than one value. In `keep` it may move values of the draft towards what is there, and hold
 * followers back; nothing else, or the proof above would not hold. A value that is moved has to be good for it anywhere
 * from there to what is there: later rules move it on, as does the grain.
 */
export interface Constraint {
  /** Its name in what was changed, and in the state. */
  readonly rule: string;
  /** What it keeps in mind, brought up to now; the same value where nothing is out of date. Before anything was kept: undefined. */
  current?(memory: unknown, context: GuardContext): unknown;
  keep(draft: Draft, context: GuardContext, by: { readonly want: Partial<Setting>; readonly memory: unknown }): void;
  /** What it keeps in mind once the draft was done; the same value where that is nothing new. */
  remember?(memory: unknown, draft: Draft, context: GuardContext): unknown;
}

export type Refusal =
  | "not-finite"
  | "unknown-knob"
  | "stale-data"
  | "data-from-the-future"
  | "current-unknown"
  | "clock-unknown";

export interface Verdict<S extends Setting = Setting> {
  readonly action: Action<S>;
  /** What will be there. */
  readonly setting: S;
  readonly changed: readonly GuardChange[];
  /** Members that were to take new values and may not now: a budget is spent, or no new value is left to take. */
  readonly heldBack?: readonly string[];
  readonly refused?: Refusal;
  readonly state: GuardState;
}

export function guard<S extends Setting>(proposal: Proposal<S>, context: GuardContext<S>): Verdict<S> {
  const { workload, want } = proposal;
  const { have, state, limits } = context;
  const refused = refusalOf(proposal, context);
  if (refused !== undefined) return { action: { kind: "hold", workload }, setting: have, changed: [], refused, state };

  const draft = new Draft(have, want, proposal.followers);
  const changedAt = upToNow(state.changedAt, context.now);
  for (const knob of limits.knobs) keepKnob(draft, knob, { context, want, last: changedAt[knob.name] });
  const memories = keepConstraints(draft, context, want);
  const setting = draft.setting as S;
  const { changed, heldBack, followers } = draft;
  const action = reconcile(workload, { setting, followers }, have);
  const after = remember(draft, context, { changedAt, memories });
  return heldBack.length > 0
    ? { action, setting, changed, heldBack, state: after }
    : { action, setting, changed, state: after };
}

const isAmount = (value: number | undefined): boolean => value !== undefined && Number.isFinite(value) && value >= 0;

function refusalOf({ want, measuredAt }: Proposal, { have, now, limits }: GuardContext): Refusal | undefined {
  if (!Number.isFinite(now)) return "clock-unknown";
  let asked = 0;
  for (const { name } of limits.knobs) {
    if (!isAmount(have[name])) return "current-unknown";
    const value = want[name];
    if (value === undefined) continue;
    asked += 1;
    // One wild number discredits the whole proposal: a policy that says NaN about one knob is not believed about another.
    if (!Number.isFinite(value)) return "not-finite";
  }
  for (const name in want) if (want[name] !== undefined) asked -= 1;
  if (asked !== 0) return "unknown-knob";
  if (!(now - measuredAt <= limits.maxDataAge)) return "stale-data";
  if (measuredAt - now > limits.maxDataSkew) return "data-from-the-future";
  return undefined;
}

interface Keeping {
  readonly context: GuardContext;
  readonly want: Partial<Setting>;
  readonly last: Ms | undefined;
}

/** The rules that look at one value by itself. */
function keepKnob(draft: Draft, knob: Knob, { context: { have, now }, want, last }: Keeping): void {
  const { name, bounds, grain, cooldown, step } = knob;
  const current = have[name] as number;
  let value = draft.get(name);
  // What nobody asked to change is not moved, even where it is odd or out of bounds: that is for a person to know.
  if (want[name] !== undefined) {
    if (grain > 0) value = draft.set(name, up(value, grain), "grain");
    value = draft.set(name, within(value, bounds.min, bounds.max), "bounds");
  }
  if (last !== undefined && now - last < (value > current ? cooldown.up : cooldown.down))
    value = draft.set(name, current, "cool-down");
  if (value === current) return;
  const lowest = current - Math.max(step.absolute, step.down * current);
  const highest = current + Math.max(step.absolute, step.up * current);
  draft.set(name, within(value, up(lowest, grain), down(highest, grain)), "step");
}

const within = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
const up = (value: number, grain: number): number => (grain === 0 ? value : Math.ceil(value / grain) * grain + 0);
const down = (value: number, grain: number): number => (grain === 0 ? value : Math.floor(value / grain) * grain);

const NONE: readonly unknown[] = [];

function keepConstraints(draft: Draft, context: GuardContext, want: Partial<Setting>): readonly unknown[] {
  const { constraints } = context.limits;
  if (constraints.length === 0) return NONE;
  const kept = context.state.constraints;
  return constraints.map((constraint) => {
    const before = kept[constraint.rule];
    const memory = constraint.current ? constraint.current(before, context) : before;
    const recorded = draft.changed.length;
    constraint.keep(draft, context, { want, memory });
    if (draft.changed.length > recorded) keepGrain(draft, context, recorded);
    return memory;
  });
}

/** Constraints know no grain: a node has room for 7 members where they come in fives. */
function keepGrain(draft: Draft, { limits, have }: GuardContext, since: number): void {
  for (const { knob: name, rule } of draft.changed.slice(since)) {
    const grain = limits.knobs.find((knob) => knob.name === name)?.grain ?? 0;
    const [value, current] = [draft.get(name), have[name] as number];
    // What is there may itself be between two multiples, and is never passed.
    draft.set(
      name,
      value > current ? Math.max(down(value, grain), current) : Math.min(up(value, grain), current),
      rule,
    );
  }
}

/** A clock that went back: what seems to lie ahead counts as just done, so that waiting ends and nothing is forgotten. */
function upToNow(changedAt: GuardState["changedAt"], now: Ms): GuardState["changedAt"] {
  let isAhead = false;
  for (const name in changedAt) isAhead ||= (changedAt[name] as Ms) > now;
  if (!isAhead) return changedAt;
  return Object.fromEntries(Object.entries(changedAt).map(([name, at]) => [name, at > now ? now : at]));
}

interface Remembered {
  readonly changedAt: GuardState["changedAt"];
  readonly memories: readonly unknown[];
}

/** The same object where nothing is new, so that a step in which nothing happens costs nothing. */
function remember(draft: Draft, context: GuardContext, { changedAt, memories }: Remembered): GuardState {
  const { limits, state, have, now } = context;
  let times = changedAt;
  for (const { name } of limits.knobs) {
    if (draft.get(name) === have[name]) continue;
    if (times === changedAt) times = { ...changedAt };
    (times as Record<string, Ms>)[name] = now;
  }
  let kept = state.constraints;
  limits.constraints.forEach((constraint, i) => {
    const after = constraint.remember ? constraint.remember(memories[i], draft, context) : memories[i];
    if (after === state.constraints[constraint.rule]) return;
    if (kept === state.constraints) kept = { ...state.constraints };
    (kept as Record<string, unknown>)[constraint.rule] = after;
  });
  return times === state.changedAt && kept === state.constraints ? state : { changedAt: times, constraints: kept };
}
