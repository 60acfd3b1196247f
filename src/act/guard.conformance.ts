/**
 * What holds for every verdict of the guard, whatever the knobs and constraints: `checkedGuard` in a property test.
 * Owns: the rules of the knobs, the record and the refusals, worked out again and not with the guard's code.
 * Not here: what a constraint promises (its own tests), proposals to try (the property tests).
 */
import type { Ms } from "../base/index.ts";
import { afterAction, reconcile } from "./action.ts";
import type { GuardContext, GuardState, Proposal, Refusal, Verdict } from "./guard.ts";
import { guard } from "./guard.ts";
import type { Knob } from "./knob.ts";

/** As `expect`, without its price: these checks run hundreds of thousands of times. */
export function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`broken: ${what}`);
}

interface Moment {
  readonly proposal: Proposal;
  readonly context: GuardContext;
  readonly verdict: Verdict;
}

/** The guard of one workload, each of whose answers is checked, and its cool-downs by a memory that is not its own. */
export function checkedGuard(): (proposal: Proposal, context: GuardContext) => Verdict {
  const changedAt = new Map<string, Ms>();
  return (proposal, context) => {
    const verdict = guard(proposal, context);
    const moment: Moment = { proposal, context, verdict };
    must(verdict.refused === expectedRefusal(moment), "refusals are these and no others");
    checkAction(moment);
    const state = JSON.parse(JSON.stringify(context.state)) as GuardState;
    const again = guard(proposal, { ...context, state });
    must(JSON.stringify(again) === JSON.stringify(verdict), "a state that was saved and loaded is the same");
    if (verdict.refused !== undefined) {
      checkRefused(moment);
      return verdict;
    }
    for (const knob of context.limits.knobs) {
      checkKnob(knob, moment);
      checkRecord(knob, moment);
      checkCooldown(knob, moment, changedAt);
    }
    return verdict;
  };
}

/** The last digit of a sum of two numbers is not the guard's. */
const SLACK = 1e-9;
const isOnGrain = (value: number, grain: number): boolean => grain === 0 || value % grain === 0;
const outside = (value: number, { min, max }: Knob["bounds"]): number => Math.max(0, min - value, value - max);
const isBetween = (value: number, a: number, b: number): boolean => Math.min(a, b) <= value && value <= Math.max(a, b);
const mostStep = ({ step }: Knob, was: number, isUp: boolean): number =>
  Math.max(step.absolute, (isUp ? step.up : step.down) * was);

function expectedRefusal({ proposal: { want, measuredAt }, context }: Moment): Refusal | undefined {
  const { have, now, limits } = context;
  if (Number.isNaN(now)) return "clock-unknown";
  const names = limits.knobs.map(({ name }) => name);
  if (!names.every((name) => (have[name] as number) >= 0 && have[name] !== Number.POSITIVE_INFINITY))
    return "current-unknown";
  const asked = Object.keys(want).filter((name) => want[name] !== undefined);
  if (asked.some((name) => names.includes(name) && !Number.isFinite(want[name]))) return "not-finite";
  if (!asked.every((name) => names.includes(name))) return "unknown-knob";
  if (now - measuredAt > limits.maxDataAge) return "stale-data";
  return measuredAt - now > limits.maxDataSkew ? "data-from-the-future" : undefined;
}

function checkRefused({ context: { have, state }, verdict }: Moment): void {
  const { setting, action, changed } = verdict;
  must(setting === have && action.kind === "hold" && changed.length === 0, "a refusal leaves all as it is");
  must(verdict.state === state, "a refusal leaves nothing in mind");
}

function checkAction({ context: { have, limits }, proposal, verdict: { action, setting } }: Moment): void {
  const after = afterAction(have, action);
  for (const name in have) must(Object.is(after[name], setting[name]), "the action leads there");
  must(Object.keys(setting).length === Object.keys(have).length, "no value is lost or made up");
  for (const name in have)
    if (!limits.knobs.some((knob) => knob.name === name))
      must(setting[name] === have[name], "what has no limits stays");
  if (action.kind === "set")
    for (const name in action.set) must(action.set[name] !== have[name], "what stays is left out");
  must(reconcile(proposal.workload, { setting }, after).kind === "hold", "a second time is a hold");
}

function checkKnob(knob: Knob, { proposal: { want }, context: { have }, verdict }: Moment): void {
  const { name, bounds, grain } = knob;
  const [was, is] = [have[name] as number, verdict.setting[name] as number];
  if (want[name] === undefined) must(is === was, `${name} was not asked for and stays`);
  must(is === was || isOnGrain(is, grain), `${name} moves to a multiple of its grain`);
  // Inside it stays inside; outside it does not go further out.
  must(outside(is, bounds) <= outside(was, bounds), `${name} keeps its bounds`);
  must(Math.abs(is - was) <= mostStep(knob, was, is > was) * (1 + SLACK), `${name} keeps its step`);
}

/** The chain of corrections leads from the wish to what was granted, without a gap, in the order of the rules. */
function checkRecord({ name, bounds }: Knob, { proposal: { want }, context, verdict }: Moment): void {
  const order = ["grain", "bounds", "cool-down", "step", ...context.limits.constraints.map(({ rule }) => rule)];
  const current = context.have[name] as number;
  let value = (want[name] ?? current) + 0; // -0 is 0
  let last = 0;
  for (const { from, to, rule } of verdict.changed.filter(({ knob }) => knob === name)) {
    must(from === value && to !== value && Number.isFinite(to), `${name} is recorded without a gap`);
    must(order.indexOf(rule) >= last, `${rule} comes in its turn`);
    last = order.indexOf(rule);
    // What the proof rests on. The grain may round away from what is there, and bounds lead back what is outside.
    const mayLeave = rule === "grain" || (rule === "bounds" && outside(current, bounds) > 0);
    must(mayLeave || isBetween(to, from, current), `${rule} moves ${name} towards what is there`);
    value = to;
  }
  must(value === verdict.setting[name], `${name} is recorded to the end`);
}

function checkCooldown(knob: Knob, moment: Moment, changedAt: Map<string, Ms>): void {
  const { name, cooldown } = knob;
  const { now, have } = moment.context;
  const [was, is] = [have[name] as number, moment.verdict.setting[name] as number];
  const last = changedAt.get(name);
  // A clock that went back: what lies ahead counts as just done.
  if (last !== undefined && last > now) changedAt.set(name, now);
  const age = now - (changedAt.get(name) ?? Number.NEGATIVE_INFINITY);
  must(is === was || age >= (is > was ? cooldown.up : cooldown.down), `${name} keeps its cool-down`);
  if (age >= Math.max(cooldown.up, cooldown.down)) checkGranted(knob, moment);
  if (is !== was) changedAt.set(name, now);
  must(moment.verdict.state.changedAt[name] === changedAt.get(name), `it is known when ${name} was changed`);
}

/** A guard that grants too little would pass all the other checks. */
function checkGranted(knob: Knob, { proposal: { want }, context: { have, limits }, verdict }: Moment): void {
  const [was, wish] = [have[knob.name] as number, want[knob.name]];
  if (wish === undefined || limits.constraints.length > 0) return;
  const isGood = isOnGrain(wish, knob.grain) && outside(wish, knob.bounds) === 0;
  if (isGood && Math.abs(wish - was) < mostStep(knob, was, wish > was) * (1 - SLACK))
    must(verdict.setting[knob.name] === wish + 0, `${knob.name} is granted what is within all limits`);
}
