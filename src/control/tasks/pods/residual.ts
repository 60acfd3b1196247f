/**
 * Actions as a residual: how much more or less CPU, and one pod more or fewer, than the capacity model plans.
 * Owns: both directions. Every action is mapped onto what may be done now: within the guard's reach, and no smaller than the
 * model's floor. 0 is the plan. Not here: the plan (capacity/planner.ts), the other kinds of actions (action.ts).
 *
 * Memory is no part of it: too little kills, and a policy that is paid for savings would learn to try that.
 */
import type { Allocation, Range, Reach } from "../../../act/index.ts";
import { bytes, millicores } from "../../../base/index.ts";
import type { PodBounds } from "./limits.ts";

/** Order of the numbers in an action. */
export const residualOrder = ["cores", "pods"] as const;

/** How far CPU may be from the plan: by this factor, up and down. Beyond it the model's own word is worth more than a policy's. */
export const TRUST = 1.5;
/** Closer than this is no change: a resize is not free. */
const NEAR = 0.04;
const GRAIN = 10;

export interface Centre {
  /** What the model plans. */
  readonly plan: Allocation;
  readonly have: Allocation;
  readonly bounds: PodBounds;
  /** Absent: whatever the bounds allow. */
  readonly reach?: Reach | undefined;
  /** The smallest pod, in millicores, that the model still expects to keep the SLO, between two sizes. */
  leastSize(asked: { readonly replicas: number; readonly from: number; readonly to: number }): number;
}

export function decodeResidual(action: ArrayLike<number>, centre: Centre): Allocation {
  const [cores = Number.NaN, pods = Number.NaN] = [action[0], action[1]];
  // NaN has no meaning and stays NaN, for the guard to refuse.
  if (Number.isNaN(cores) || Number.isNaN(pods))
    return { replicas: Number.NaN, cpu: Number.NaN, memory: Number.NaN } as Allocation;
  const { plan, have } = centre;
  const replicas = within(plan.replicas + Math.round(within(pods, UNIT)), rangeOf(centre, "replicas"));
  const { low, middle, high } = sizesOf(centre, replicas, cores < 0);
  const share = within(cores, UNIT);
  const size = share < 0 ? middle * (low / middle) ** -share : middle * (high / middle) ** share;
  const rounded = within(share === 0 ? Math.round(size) : Math.round(size / GRAIN) * GRAIN, rangeOf(centre, "cpu"));
  const isNear = replicas === have.replicas && Math.abs(rounded - have.cpu) <= NEAR * have.cpu;
  return {
    replicas,
    cpu: millicores(isNear ? have.cpu : rounded),
    memory: bytes(within(plan.memory, rangeOf(centre, "memory"))),
  };
}

/** The action that a setting is, whoever chose it. Those beyond the trust region are shown at its edge. */
export function encodeResidual({ replicas, cpu }: Allocation, centre: Centre): Float32Array {
  const { low, middle, high } = sizesOf(centre, replicas, cpu * replicas < plannedCores(centre));
  const ratio = Math.log(cpu / middle);
  const span = ratio < 0 ? Math.log(middle / low) : Math.log(high / middle);
  return Float32Array.of(
    // Where there is no room on a side, whatever lies there is at the edge.
    ratio === 0 ? 0 : within(span > 0 ? ratio / span : Math.sign(ratio), UNIT),
    within(replicas - centre.plan.replicas, UNIT),
  );
}

const UNIT: Range = { min: -1, max: 1 };

const plannedCores = ({ plan }: Centre): number => plan.replicas * plan.cpu;

/** The sizes that −1, 0 and 1 mean for so many pods. The lowest is asked of the model only where it is needed. */
function sizesOf(centre: Centre, replicas: number, isBelow: boolean): { low: number; middle: number; high: number } {
  const range = rangeOf(centre, "cpu");
  const { plan } = centre;
  // As much CPU in all as planned, whatever the number of pods, and no pod so small that a lone request would be too slow.
  const each = plannedCores(centre) / Math.max(1, replicas);
  const planned = replicas > plan.replicas ? centre.leastSize({ replicas, from: each, to: plan.cpu }) : each;
  const middle = within(planned, range);
  // From the plan and not from what is there: what cools down would be the next step's middle, and climb.
  const high = Math.max(middle, within(planned * TRUST, range));
  const from = Math.min(middle, within(planned / TRUST, range));
  const low = isBelow ? Math.min(centre.leastSize({ replicas, from, to: middle }), middle) : from;
  return { low, middle, high };
}

function rangeOf({ bounds, reach }: Centre, knob: keyof Allocation): Range {
  return reach?.[knob] ?? bounds[knob];
}

const within = (value: number, { min, max }: Range): number => Math.min(Math.max(value, min), max);
