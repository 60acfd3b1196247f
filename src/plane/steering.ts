/**
 * Whether the learner steers: how many of its decisions were done as it proposed, and how many gave less than the fallback
 * alone would have.
 * Owns: telling both of a decision, and counting them over the newest thousand and over all. Pure; plain data, which is saved
 * with the agent's notes. Not here: decisions (decisions.ts).
 */
import type { Ms } from "../base/index.ts";
import { milliseconds } from "../base/index.ts";
import type { DecisionDocument, SettingDocument, SteeringCounts, SteeringDocument } from "../contract/index.ts";
import { isSameSetting } from "../contract/index.ts";
import type { AgentNotes } from "../contract/schemas/index.ts";
import type { AnyTaskView } from "../control/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";

export type Steering = AgentNotes["steering"];

const MOST_NEWEST = 1_000;
const AS_PROPOSED = 1;
const LESS = 2;

export const freshSteering: Steering = { total: { decisions: 0, asProposed: 0, less: 0 }, newest: "" };

export type Steered = Pick<DecisionDocument, "who" | "proposed" | "executed" | "fallback">;

export interface SteeringContext {
  readonly view: Pick<AnyTaskView, "measure">;
  readonly slo: Slo;
}

/** Unchanged where the learner did not act. */
export function countDecision(before: Steering, decision: Steered, context: SteeringContext): Steering {
  const { who, proposed, executed, fallback } = decision;
  if (who !== "learner") return before;
  const isAsProposed = proposed !== null && executed !== null && isSameSetting(proposed, executed);
  const isLess = executed !== null && fallback !== null && isLessThan(executed, fallback, context);
  const digit = (isAsProposed ? AS_PROPOSED : 0) + (isLess ? LESS : 0);
  const { decisions, asProposed, less } = before.total;
  return {
    total: {
      decisions: decisions + 1,
      asProposed: asProposed + (isAsProposed ? 1 : 0),
      less: less + (isLess ? 1 : 0),
    },
    newest: `${before.newest}${digit}`.slice(-MOST_NEWEST),
  };
}

/** Nothing is read for it: what a setting costs depends on nothing but the setting and the time. */
const COST_TIME: Ms = milliseconds(3_600_000);

function isLessThan(one: SettingDocument, other: SettingDocument, { view, slo }: SteeringContext): boolean {
  const costOf = (have: SettingDocument): number => view.measure(null, { slo, have, passed: COST_TIME }).cost;
  const [cost, otherCost] = [costOf(one), costOf(other)];
  if (cost > 0 || otherCost > 0) return cost < otherCost;
  const knobs = Object.keys({ ...one, ...other });
  const difference = (knob: string): number => (one[knob] ?? 0) - (other[knob] ?? 0);
  return knobs.some((knob) => difference(knob) < 0) && knobs.every((knob) => difference(knob) <= 0);
}

export function steeringDocument({ total, newest }: Steering): SteeringDocument {
  return { ...countsIn(newest), total };
}

function countsIn(newest: string): SteeringCounts {
  let asProposed = 0;
  let less = 0;
  for (const digit of newest) {
    asProposed += Number(digit) & AS_PROPOSED;
    less += (Number(digit) & LESS) / LESS;
  }
  return { decisions: newest.length, asProposed, less };
}
