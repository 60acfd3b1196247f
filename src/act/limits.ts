/**
 * The limits a guard keeps for one workload.
 * Owns: their types, cautious defaults, and the check that they can be kept at all.
 * Not here: keeping them (guard.ts).
 */
import type { Bytes, Millicores, Ms, Ratio, Result } from "../base/index.ts";
import { bytes, err, failure, mebibytes, millicores, minutes, ok, ratio, seconds } from "../base/index.ts";
import type { Allocation, Dimension } from "./action.ts";
import { dimensions } from "./action.ts";

/** How far one decision may move a value: the larger of the two counts, so that small values can move at all. */
export interface StepLimit<T extends number = number> {
  readonly absolute: T;
  readonly relative: Ratio;
}

/** How long a value stays as it was set before it may rise or fall. */
export interface Cooldown {
  readonly up: Ms;
  readonly down: Ms;
}

export interface DisruptionBudget {
  /** Replicas that may be removed or restarted within the window. */
  readonly replicas: number;
  readonly window: Ms;
}

export interface GuardLimits {
  readonly bounds: { readonly [D in Dimension]: { readonly min: Allocation[D]; readonly max: Allocation[D] } };
  readonly step: {
    readonly replicas: StepLimit;
    readonly cpu: StepLimit<Millicores>;
    readonly memory: StepLimit<Bytes>;
  };
  readonly cooldown: { readonly [D in Dimension]: Cooldown };
  readonly disruption: DisruptionBudget;
  /** Resizes that restart what runs: all of them where pods are recreated, none where they are resized in place. */
  readonly restarts: { readonly cpu: boolean; readonly memory: boolean };
  /** A decision that rests on older measurements is not carried out. */
  readonly maxDataAge: Ms;
  /** Measurements may be this far ahead, for clocks that differ a little. */
  readonly maxDataSkew: Ms;
}

export type GuardOptions = Pick<GuardLimits, "bounds"> & Partial<Omit<GuardLimits, "bounds">>;

const defaults: Omit<GuardLimits, "bounds"> = {
  step: {
    replicas: { absolute: 4, relative: ratio(1) },
    cpu: { absolute: millicores(250), relative: ratio(0.5) },
    memory: { absolute: mebibytes(256), relative: ratio(0.5) },
  },
  // Growing is urgent, shrinking can wait: five minutes is what the HPA waits.
  cooldown: {
    replicas: { up: seconds(15), down: minutes(5) },
    cpu: { up: seconds(15), down: minutes(5) },
    memory: { up: seconds(15), down: minutes(5) },
  },
  disruption: { replicas: 20, window: minutes(10) },
  restarts: { cpu: false, memory: false },
  maxDataAge: seconds(90),
  maxDataSkew: seconds(5),
};

/** The least that a bound of each dimension may be: a replica without memory is none. */
const floor: Allocation = { replicas: 0, cpu: millicores(1), memory: bytes(1) };

export function parseGuardLimits(options: GuardOptions): Result<GuardLimits> {
  const limits: GuardLimits = { ...defaults, ...options };
  const problem = problemOf(limits);
  return problem === undefined
    ? ok(Object.freeze(limits))
    : err(failure("guard.limits", `the guard's limits can not be kept: ${problem}`));
}

function problemOf(limits: GuardLimits): string | undefined {
  for (const dimension of dimensions) {
    const { min, max } = limits.bounds[dimension];
    if (!Number.isInteger(min) || !Number.isInteger(max))
      return `the bounds of ${dimension} are ${min} and ${max}: give whole numbers (replicas, millicores, bytes)`;
    if (min < floor[dimension]) return `the lower bound of ${dimension} is ${min}: give ${floor[dimension]} or more`;
    if (min > max) return `the lower bound ${min} of ${dimension} is above the upper bound ${max}`;
    const { absolute, relative } = limits.step[dimension];
    if (!Number.isInteger(absolute) || absolute < 1)
      return `the absolute step of ${dimension} is ${absolute}: give a whole number from 1, or it could never move`;
    if (!(relative >= 0 && Number.isFinite(relative)))
      return `the relative step of ${dimension} is ${relative}: give 0 or more`;
    const { up, down } = limits.cooldown[dimension];
    if (!(up >= 0 && down >= 0)) return `the cool-down of ${dimension} is ${up} and ${down} ms: give 0 or more`;
  }
  const { replicas, window } = limits.disruption;
  if (!Number.isInteger(replicas) || replicas < 0)
    return `the disruption budget is ${replicas}: give a whole number from 0`;
  if (!(window > 0)) return `the window of the disruption budget is ${window} ms: give more than 0`;
  if (!(limits.maxDataAge > 0)) return `maxDataAge is ${limits.maxDataAge} ms: give more than 0`;
  if (!(limits.maxDataSkew >= 0)) return `maxDataSkew is ${limits.maxDataSkew} ms: give 0 or more`;
  return undefined;
}
