/**
 * Ground truth: which injection is to blame, and from when to when.
 * Owns: the threshold from which an injection alone breaks the SLO, and labels made of it.
 * Not here: running a world to see whether it does (the caller's `breaks`).
 *
 * A weak injection that nobody notices is no culprit: calling it one would teach a classifier to see what is not there.
 */
import type { Ms } from "../../base/index.ts";
import { assertNever } from "../../base/index.ts";
import { endOf, type Injection, targetName } from "./injection.ts";

export interface ThresholdOptions {
  /** How closely it is looked for. */
  readonly tolerance?: number;
}

/**
 * The least intensity at which an injection alone breaks the SLO, or null where not even the strongest does. Stronger is
 * taken to be no better, so halves are enough; the answer does break it, and less by the tolerance does not.
 */
export function breakingIntensity(
  breaks: (intensity: number) => boolean,
  { tolerance = 1 / 32 }: ThresholdOptions = {},
): number | null {
  if (!breaks(1)) return null;
  let [holds, broken] = [0, 1];
  while (broken - holds > tolerance) {
    const middle = (holds + broken) / 2;
    if (breaks(middle)) broken = middle;
    else holds = middle;
  }
  return broken;
}

export interface Label {
  readonly injection: Injection;
  readonly target: string;
  /** The least intensity that breaks the SLO; null: none does. */
  readonly threshold: number | null;
  readonly isCulprit: boolean;
  /** When it is strong enough to be to blame; both are its start where it never is. */
  readonly from: Ms;
  readonly to: Ms;
}

export function labelOf(injection: Injection, threshold: number | null): Label {
  const isCulprit = threshold !== null && injection.intensity >= threshold;
  const from = isCulprit ? culpableFrom(injection, threshold) : injection.start;
  return {
    injection,
    target: targetName(injection.target),
    threshold,
    isCulprit,
    from,
    to: isCulprit ? endOf(injection) : injection.start,
  };
}

function culpableFrom({ pattern, start, duration, intensity }: Injection, threshold: number): Ms {
  switch (pattern) {
    case "constant":
    case "pulse":
      return start;
    case "ramp":
      return (start + (duration * threshold) / intensity) as Ms;
    default:
      return assertNever(pattern);
  }
}
