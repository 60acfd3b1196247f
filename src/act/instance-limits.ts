/**
 * The limits that the guard of service actions keeps.
 * Owns: their type, defaults that suit decisions every second, and the check that they can be kept at all.
 * Not here: keeping them (instance-guard.ts), limits for whole workloads (limits.ts).
 */
import type { Ms, Result } from "../base/index.ts";
import { err, failure, ok, ratio, seconds } from "../base/index.ts";
import type { Cooldown, StepLimit } from "./limits.ts";

export interface ServiceGuardLimits {
  /** One decision leaves a container's limit between so many times what it is: `down` at most 1, `up` at least 1. */
  readonly step: { readonly up: number; readonly down: number };
  /** How long a limit of a container stays as it was set before it may rise or fall. */
  readonly cooldown: Cooldown;
  readonly replicas: {
    readonly min: number;
    readonly max: number;
    readonly step: StepLimit;
    readonly cooldown: Cooldown;
  };
  /** A decision that rests on older measurements is not carried out. */
  readonly maxDataAge: Ms;
  /** Measurements may be this far ahead, for clocks that differ a little. */
  readonly maxDataSkew: Ms;
}

/**
 * A partition is set within milliseconds and nothing restarts, so a limit may rise at once and far: a container that lacks
 * something drops requests every second. It falls by halves, and not right after a change: what was just given is not
 * judged before it was seen to work. Replicas as the HPA's own policies have them (double or four), but within seconds.
 */
const defaults: ServiceGuardLimits = {
  step: { up: 8, down: 0.5 },
  cooldown: { up: seconds(0), down: seconds(2) },
  replicas: {
    min: 1,
    max: 16,
    step: { absolute: 4, relative: ratio(1) },
    cooldown: { up: seconds(2), down: seconds(30) },
  },
  maxDataAge: seconds(10),
  maxDataSkew: seconds(5),
};

export function parseServiceGuardLimits(options: Partial<ServiceGuardLimits> = {}): Result<ServiceGuardLimits> {
  const limits: ServiceGuardLimits = { ...defaults, ...options };
  const problem = problemOf(limits);
  return problem === undefined
    ? ok(Object.freeze(limits))
    : err(failure("guard.service-limits", `the guard's limits for services can not be kept: ${problem}`));
}

function problemOf({ step, cooldown, replicas, maxDataAge, maxDataSkew }: ServiceGuardLimits): string | undefined {
  if (!(step.up >= 1 && Number.isFinite(step.up))) return `step.up is ${step.up}: give 1 or more`;
  if (!(step.down > 0 && step.down <= 1)) return `step.down is ${step.down}: give more than 0, at most 1`;
  if (!(cooldown.up >= 0 && cooldown.down >= 0)) return "a cool-down of limits is below 0: give 0 ms or more";
  const { min, max } = replicas;
  if (!Number.isInteger(min) || !Number.isInteger(max) || min < 1 || min > max)
    return `replicas are from ${min} to ${max}: give whole numbers from 1, the lower one first`;
  const { absolute, relative } = replicas.step;
  if (!Number.isInteger(absolute) || absolute < 1)
    return `the absolute step of replicas is ${absolute}: give a whole number from 1, or they could never move`;
  if (!(relative >= 0 && Number.isFinite(relative)))
    return `the relative step of replicas is ${relative}: give 0 or more`;
  if (!(replicas.cooldown.up >= 0 && replicas.cooldown.down >= 0))
    return "a cool-down of replicas is below 0: give 0 ms or more";
  if (!(maxDataAge > 0)) return `maxDataAge is ${maxDataAge} ms: give more than 0`;
  if (!(maxDataSkew >= 0)) return `maxDataSkew is ${maxDataSkew} ms: give 0 or more`;
  return undefined;
}
