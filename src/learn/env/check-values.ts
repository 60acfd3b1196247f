/** The checker's rules about single values: spaces, observations, steps, and an action that must be refused. */

import { seededRng } from "../../base/index.ts";
import type { Env, Step } from "./contract.ts";
import { type NumericSpace, type Space, show } from "./space.ts";

type Report = (rule: string, message: string) => void;

export function checkSpace(which: "observation" | "action", space: Space<unknown> | undefined, report: Report): void {
  const rule = `${which}-space`;
  if (space === undefined || typeof space.contains !== "function" || typeof space.sample !== "function") {
    report(rule, `there is no ${which}Space; declare one with box(…), discrete(…) or another space`);
    return;
  }
  const rng = seededRng(1);
  for (let i = 0; i < 20; i++) {
    const value = space.sample(rng);
    if (!space.contains(value)) {
      report(rule, `${which}Space.sample gave ${show(value)}, which the space does not contain; correct the space`);
      return;
    }
    const numbers = new Float64Array(space.size);
    space.write(value, numbers);
    if (!space.contains(space.read(numbers))) {
      report(rule, `${which}Space.read does not give back what ${which}Space.write wrote; correct the space`);
      return;
    }
  }
}

export function checkObservation(env: Env<unknown, unknown>, obs: unknown, report: Report): boolean {
  const { observationSpace } = env;
  const contained = observationSpace.contains(obs);
  // Asked first, because an unbounded box contains infinity and a network still cannot use it.
  const numbers = contained
    ? numbersOf(observationSpace, obs)
    : ArrayBuffer.isView(obs)
      ? Array.from(obs as unknown as ArrayLike<number>)
      : [];
  const bad = numbers.findIndex((x) => !Number.isFinite(x));
  if (bad >= 0) {
    report(
      "observation-finite",
      `component ${bad} of an observation is ${numbers[bad]}; find the division or the missing reading that made it`,
    );
    return false;
  }
  if (!contained) {
    report(
      "observation-in-space",
      `expected ${observationSpace.describe()}, found ${show(obs)}; correct the observation or declare the space it really has`,
    );
  }
  return contained;
}

export function checkStep(step: unknown, report: Report): step is Step<unknown> {
  if (typeof step !== "object" || step === null || !("obs" in step)) {
    report("step-shape", `step() returned ${show(step)}; return { obs, reward, end }`);
    return false;
  }
  const { reward, end } = step as Partial<Step<unknown>>;
  if (typeof reward !== "number" || !Number.isFinite(reward)) {
    report("reward-finite", `a reward is ${show(reward)}; every reward must be a finite number`);
    return false;
  }
  if (end !== "no" && end !== "terminated" && end !== "truncated") {
    report(
      "end-kind",
      `step().end is ${typeof end === "string" ? `"${end}"` : show(end)}; use "no", "terminated" when the task is over, or "truncated" when only time is`,
    );
    return false;
  }
  return true;
}

/** A value of the right kind for nobody: the nearest thing to a valid action that is none. */
export function wrongAction(space: Space<unknown>): { readonly value: unknown; readonly what: string } {
  const known = space as NumericSpace;
  if (known.kind === "discrete") return { value: known.options, what: `the choice ${known.options}` };
  if (known.kind === "box")
    return { value: new Float32Array(known.size + 1), what: "an action with a number too many" };
  return { value: undefined, what: "undefined" };
}

/** The plain numbers of a value; none for a value that is not of the space. */
export function numbersOf(space: Space<unknown>, value: unknown): readonly number[] {
  if (!space.contains(value)) return [];
  const numbers = new Float64Array(space.size);
  space.write(value, numbers);
  return Array.from(numbers);
}
