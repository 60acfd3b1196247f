/**
 * What an agent of a function may do in a step: leave everything, or move one of three settings by a step (SIMPPO, 3.1).
 * Owns: the choices, which of them are illegal or undo the last one, what each comes to. Not here: the guard, the reward.
 */

/** cpu.shares and MiB of each container, and how many of them. */
export type FunctionSetting = {
  readonly shares: number;
  readonly memory: number;
  readonly containers: number;
};

export const functionKnobs = ["shares", "memory", "containers"] as const;
export type FunctionKnob = (typeof functionKnobs)[number];

/** In the order of their numbers: 0 leaves things as they are. */
export const functionChoices = [
  { knob: null, sign: 0 },
  { knob: "shares", sign: 1 },
  { knob: "shares", sign: -1 },
  { knob: "memory", sign: 1 },
  { knob: "memory", sign: -1 },
  { knob: "containers", sign: 1 },
  { knob: "containers", sign: -1 },
] as const;
export const HOLD = 0;

export interface FunctionRange {
  readonly min: number;
  readonly max: number;
  /** What one choice moves it by. */
  readonly step: number;
}

export type FunctionBounds = { readonly [K in FunctionKnob]: FunctionRange };

/**
 * Shares and containers as the paper bounds them; memory as OpenWhisk's own limits are usually set. Steps are not printed:
 * a sixteenth of the shares, an eighth of OpenWhisk's default of memory, one container; assumed.
 */
export const usualBounds: FunctionBounds = {
  shares: { min: 128, max: 2_048, step: 128 },
  memory: { min: 64, max: 1_024, step: 32 },
  containers: { min: 0, max: 1_000, step: 1 },
};

export type ChoiceProblem = "illegal" | "oscillating";

export interface ChoiceContext {
  readonly have: FunctionSetting;
  /** The choice of the step before. */
  readonly last: number;
}

/**
 * Illegal: beyond a bound, or in, up or down where there is no container. Oscillating: the very opposite of the last choice.
 * Undefined where it may be done.
 */
export function choiceProblem(
  choice: number,
  { have, last }: ChoiceContext,
  bounds: FunctionBounds,
): ChoiceProblem | undefined {
  const chosen = functionChoices[choice];
  if (chosen === undefined) return "illegal";
  const { knob, sign } = chosen;
  if (knob === null) return undefined;
  if (have.containers === 0 && choice !== OUT) return "illegal";
  const { min, max, step } = bounds[knob];
  const next = have[knob] + sign * step;
  if (next < min || next > max) return "illegal";
  const before = functionChoices[last];
  return before !== undefined && before.knob === knob && before.sign === -sign ? "oscillating" : undefined;
}

const OUT = functionChoices.findIndex(({ knob, sign }) => knob === "containers" && sign > 0);

/** What there is after a choice that may be done. NaN stays NaN, for the guard to refuse. */
export function afterChoice(choice: number, have: FunctionSetting, bounds: FunctionBounds): FunctionSetting {
  if (Number.isNaN(choice)) return { shares: Number.NaN, memory: Number.NaN, containers: Number.NaN };
  const chosen = functionChoices[choice];
  if (chosen === undefined || chosen.knob === null) return have;
  const { knob, sign } = chosen;
  return { ...have, [knob]: have[knob] + sign * bounds[knob].step };
}

/** The choice that comes nearest to a setting somebody else chose: the knob that moved the most steps, one step of it. */
export function choiceOf(setting: FunctionSetting, have: FunctionSetting, bounds: FunctionBounds): number {
  let best = HOLD;
  let most = 0;
  for (const [choice, { knob, sign }] of functionChoices.entries()) {
    if (knob === null) continue;
    const steps = (sign * (setting[knob] - have[knob])) / bounds[knob].step;
    if (steps <= most) continue;
    most = steps;
    best = choice;
  }
  // Less than half a step is nearer to leaving things as they are.
  return most >= 0.5 ? best : HOLD;
}
