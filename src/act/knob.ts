/**
 * What may be set: named knobs, each with its unit and its limits, and a setting that has a value for each.
 * Owns: the types, and the check that the limits of a knob can be kept at all.
 * Not here: keeping them (guard.ts), which knobs a task has (control/tasks).
 */
import type { Ms } from "../base/index.ts";

/** A value for each knob of one managed thing. */
export type Setting<K extends string = string> = { readonly [name in K]: number };

/** How far one decision may move a value: `absolute`, or the factor of what is there where that is more. */
export interface StepLimit {
  readonly absolute: number;
  readonly up: number;
  readonly down: number;
}

/** How long a value stays as it was set before it may rise or fall. */
export interface Cooldown {
  readonly up: Ms;
  readonly down: Ms;
}

export interface Knob {
  readonly name: string;
  /** For people: "pods", "millicores", "GB/s". */
  readonly unit: string;
  readonly bounds: { readonly min: number; readonly max: number };
  /** Values are whole multiples of it, rounded up: never less than was asked for. 0: any number. */
  readonly grain: number;
  readonly step: StepLimit;
  readonly cooldown: Cooldown;
}

/** The end of a sentence that begins with the limits; undefined where they can be kept. */
export function knobProblem({ name, unit, bounds, grain, step, cooldown }: Knob): string | undefined {
  const { min, max } = bounds;
  if (!(grain >= 0 && Number.isFinite(grain))) return `the grain of ${name} is ${grain}: give 0 or more`;
  if (!(Number.isFinite(min) && Number.isFinite(max)) || !isOnGrain(min, grain) || !isOnGrain(max, grain)) {
    const whole = grain === 0 ? "numbers" : grain === 1 ? "whole numbers" : `multiples of ${grain}`;
    return `the bounds of ${name} are ${min} and ${max}: give ${whole} of ${unit}`;
  }
  if (min < 0) return `the lower bound of ${name} is ${min}: give 0 or more`;
  if (min > max) return `the lower bound ${min} of ${name} is above the upper bound ${max}`;
  const { absolute, up, down } = step;
  if (!(absolute > 0 && Number.isFinite(absolute)) || !isOnGrain(absolute, grain))
    return `the absolute step of ${name} is ${absolute}: give ${grain > 0 ? `${grain} or a multiple of it` : "more than 0"}, or it could never move`;
  for (const factor of [up, down])
    if (!(factor >= 0 && Number.isFinite(factor))) return `the relative step of ${name} is ${factor}: give 0 or more`;
  if (!(cooldown.up >= 0 && cooldown.down >= 0))
    return `the cool-down of ${name} is ${cooldown.up} and ${cooldown.down} ms: give 0 or more`;
  return undefined;
}

const isOnGrain = (value: number, grain: number): boolean => grain === 0 || Number.isInteger(value / grain);
