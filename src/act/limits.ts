/**
 * The limits that a guard keeps for one managed workload: its knobs, the constraints between them, how old data may be.
 * Owns: defaults, and the check that they can be kept at all. Not here: keeping them (guard.ts), a task's own defaults
 * (control/tasks).
 */
import type { Result } from "../base/index.ts";
import { err, failure, ok, seconds } from "../base/index.ts";
import type { GuardLimits } from "./guard.ts";
import { knobProblem } from "./knob.ts";

export type GuardOptions = Pick<GuardLimits, "knobs"> & Partial<Omit<GuardLimits, "knobs">>;

export function parseGuardLimits(options: GuardOptions): Result<GuardLimits> {
  const limits: GuardLimits = {
    constraints: [],
    maxDataAge: seconds(90),
    maxDataSkew: seconds(5),
    ...options,
  };
  const problem = problemOf(limits);
  return problem === undefined
    ? ok(Object.freeze(limits))
    : err(failure("guard.limits", `the guard's limits cannot be kept: ${problem}`));
}

function problemOf({ knobs, constraints, maxDataAge, maxDataSkew }: GuardLimits): string | undefined {
  if (knobs.length === 0) return "there is no knob: give at least one";
  for (const names of [knobs.map(({ name }) => name), constraints.map(({ rule }) => rule)]) {
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) return `there are two of the name ${twice}: give each its own`;
    // Settings and states are plain objects: a wish that leaves "constructor" out would still seem to name it.
    const inherited = names.find((name) => name in {});
    if (inherited !== undefined) return `the name ${inherited} is one that every object has: give another`;
  }
  for (const knob of knobs) {
    const problem = knobProblem(knob);
    if (problem !== undefined) return problem;
  }
  if (!(maxDataAge > 0)) return `maxDataAge is ${maxDataAge} ms: give more than 0`;
  if (!(maxDataSkew >= 0)) return `maxDataSkew is ${maxDataSkew} ms: give 0 or more`;
  return undefined;
}
