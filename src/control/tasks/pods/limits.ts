/**
 * What the guard keeps for a workload of pods: its three knobs, a disruption budget, room on the nodes.
 * Owns: cautious defaults, and the check that they can be kept at all. Not here: keeping them (act's guard).
 */
import type { Allocation, Cooldown, DisruptionBudget, GuardLimits, Knob } from "../../../act/index.ts";
import {
  dimensions,
  disruptionBudget,
  disruptionProblem,
  followersOf,
  nodeCapacity,
  parseGuardLimits,
} from "../../../act/index.ts";
import type { Bytes, Millicores, Ms, Ratio, Result } from "../../../base/index.ts";
import { bytes, err, failure, mebibytes, millicores, minutes, ratio, seconds } from "../../../base/index.ts";

/** How far one decision may move a value: the larger of the two counts, so that small values can move at all. */
export interface PodStep<T extends number = number> {
  readonly absolute: T;
  /** Of what is there. */
  readonly relative: Ratio;
  /** The same for falling, where that is another. */
  readonly down?: Ratio;
}

export type PodBounds = {
  readonly [D in keyof Allocation]: { readonly min: Allocation[D]; readonly max: Allocation[D] };
};

export interface PodLimits {
  readonly bounds: PodBounds;
  readonly step: {
    readonly replicas: PodStep;
    readonly cpu: PodStep<Millicores>;
    readonly memory: PodStep<Bytes>;
  };
  readonly cooldown: { readonly [D in keyof Allocation]: Cooldown };
  readonly disruption: DisruptionBudget;
  /** Resizes that restart what runs: all of them where pods are recreated, none where they are resized in place. */
  readonly restarts: { readonly cpu: boolean; readonly memory: boolean };
  readonly maxDataAge: Ms;
  readonly maxDataSkew: Ms;
}

export type PodLimitOptions = Pick<PodLimits, "bounds"> & Partial<Omit<PodLimits, "bounds">>;

const defaults: Omit<PodLimits, "bounds"> = {
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
  disruption: { members: 20, window: minutes(10) },
  restarts: { cpu: false, memory: false },
  maxDataAge: seconds(90),
  maxDataSkew: seconds(5),
};

/** What the owner of a workload may say of its guard, beside the bounds. */
export type PodGuard = Pick<PodLimits, "step" | "cooldown" | "disruption">;

/**
 * Wide enough for all that HPA and VPA do at their own pace, so that the guard is not what decides who does better, and
 * narrow enough to hold a policy that jumps:
 *
 * - Replicas: four, or twice as many at once, is the HPA's own policy for growing. It shrinks by any number after five
 *   quiet minutes of its own, so the step does not bind it, and a minute between two falls hardly delays it.
 * - CPU and memory: at most twice as much at once, and not less than half. A VPA's recommendations move by less, but for its
 *   first one, which takes two steps instead of one. A minute between two falls is the VPA updater's own interval.
 * - Within ten minutes as many pods may be removed as there may be at all.
 */
export const usualPodGuard = (bounds: Pick<PodBounds, "replicas">): PodGuard => ({
  step: {
    replicas: { absolute: 4, relative: ratio(1) },
    cpu: { absolute: millicores(250), relative: ratio(1), down: ratio(0.5) },
    memory: { absolute: mebibytes(128), relative: ratio(1), down: ratio(0.5) },
  },
  cooldown: {
    replicas: { up: seconds(0), down: minutes(1) },
    cpu: { up: seconds(0), down: minutes(1) },
    memory: { up: seconds(0), down: minutes(1) },
  },
  disruption: { members: bounds.replicas.max, window: minutes(10) },
});

/** The limits that a profile asks for; what it leaves out is as usual. */
export const profileLimits = ({
  bounds,
  guard = {},
}: {
  readonly bounds: PodBounds;
  readonly guard?: Partial<PodGuard> | undefined;
}): Result<GuardLimits> => podLimits({ bounds, ...usualPodGuard(bounds), ...guard });

/** The least that a bound of each dimension may be: a pod without memory is none. */
const floor: Allocation = { replicas: 0, cpu: millicores(1), memory: bytes(1) };

const units = { replicas: "pods", cpu: "millicores", memory: "bytes" } as const;

const sizes = ["cpu", "memory"] as const;

export function podLimits(options: PodLimitOptions): Result<GuardLimits> {
  const { bounds, step, cooldown, disruption, restarts, maxDataAge, maxDataSkew } = { ...defaults, ...options };
  const problem =
    dimensions
      .filter((name) => bounds[name].min < floor[name])
      .map((name) => `the lower bound of ${name} is ${bounds[name].min}: give ${floor[name]} or more`)[0] ??
    disruptionProblem(disruption);
  if (problem !== undefined) return err(failure("guard.limits", `the guard's limits cannot be kept: ${problem}`));
  const knobs = dimensions.map((name): Knob => {
    const { absolute, relative, down = relative } = step[name];
    return {
      name,
      unit: units[name],
      bounds: bounds[name],
      grain: 1,
      step: { absolute, up: relative, down },
      cooldown: cooldown[name],
    };
  });
  const packing = { count: "replicas", sizes };
  return parseGuardLimits({
    knobs,
    constraints: [
      disruptionBudget({ ...packing, ...disruption, restarts: sizes.filter((size) => restarts[size]) }),
      nodeCapacity(packing),
      followersOf(sizes),
    ],
    maxDataAge,
    maxDataSkew,
  });
}
