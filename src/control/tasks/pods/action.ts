/**
 * Allocations in the coordinates of a policy: three numbers from -1 to 1.
 * Owns: both directions, so that what a fallback did and what the guard left of a proposal can be learned from.
 * Not here: whether an allocation may be had (act's guard), what is needed (demand.ts).
 *
 *            limits, as in the paper         demand
 *   cpu      place between the bounds        the same: the size of a pod
 *   memory   place between the bounds        how many times what a pod needs
 *   replicas place between the bounds        how many times the CPU that is needed, over all pods
 *
 * Why demand: use over limit is what is earned, and a limit a hundred times too large earns as little as one fifty times
 * too large, so a policy that has strayed there learns no way back; and what is right for one load is wrong for the
 * next. Times the need, one constant action is nearly right at every load, and the reward is nearly even in it.
 *
 * All scales are logarithmic: from 100 to 200 millicores is as much of a step as from 2 to 4 cores. Memory is decided in
 * whole MiB, since single bytes would make every decision a resize; so a byte count comes back rounded.
 */
import type { Allocation } from "../../../act/index.ts";
import { box } from "../../../learn/env/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Demand } from "./demand.ts";

/** Order of the numbers in an action. */
export const actionOrder = ["cpu", "memory", "replicas"] as const satisfies readonly (keyof Allocation)[];

export const actionSpace = box({ low: -1, high: 1, size: actionOrder.length });

const MIB = 1_048_576;

/** How many times what is needed can be asked for. The bounds may allow more: such an allocation is shown at the end. */
const multiples = { cores: { min: 1, max: 40 }, memory: { min: 1, max: 8 } } as const;

type ActionTask = Pick<AutoscaleTask, "bounds" | "actions">;

/** Numbers beyond ±1 mean the end of the scale; NaN has no meaning and stays NaN, for the guard to refuse. */
export function decodeAction({ bounds, actions }: ActionTask, action: ArrayLike<number>, demand: Demand): Allocation {
  const at = (index: number): number => action[index] ?? Number.NaN;
  const cpu = valueAt(at(0), bounds.cpu, 1);
  if (actions === "limits") {
    return {
      cpu,
      memory: valueAt(at(1), bounds.memory, MIB),
      replicas: valueAt(at(2), bounds.replicas, 1),
    } as Allocation;
  }
  const { memory, cores } = atLeastOne(demand);
  return {
    cpu,
    memory: inside(wholeUp(multipleAt(at(1), multiples.memory) * (memory / MIB)) * MIB, bounds.memory),
    replicas: inside(wholeUp((multipleAt(at(2), multiples.cores) * cores) / cpu), bounds.replicas),
  } as Allocation;
}

export function encodeAction({ bounds, actions }: ActionTask, allocation: Allocation, demand: Demand): Float32Array {
  const { cpu, memory, replicas } = allocation;
  const action = new Float32Array(actionOrder.length);
  action[0] = positionOf(cpu, bounds.cpu);
  if (actions === "limits") {
    action[1] = positionOf(memory, bounds.memory);
    action[2] = positionOf(replicas, bounds.replicas);
  } else {
    const needed = atLeastOne(demand);
    action[1] = positionOf(memory / needed.memory, multiples.memory);
    action[2] = positionOf((replicas * cpu) / needed.cores, multiples.cores);
  }
  return action;
}

/** Nothing has no multiples: a millicore and a byte stand for it. */
const atLeastOne = ({ cores, memory }: Demand): Demand => ({ cores: Math.max(1, cores), memory: Math.max(1, memory) });

/** Up, since less than what was asked for may be too little; a float's last digits are no reason for one more. */
const wholeUp = (value: number): number => Math.ceil(value - 1e-3);

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Zero replicas have no logarithm: where they are allowed, one more than each count is taken. */
const shiftOf = ({ min }: Range): number => (min === 0 ? 1 : 0);

/** Where a value lies between its bounds, from -1 to 1; 0 where the bounds leave no choice. */
export function positionOf(value: number, range: Range): number {
  if (range.min === range.max) return 0;
  const shift = shiftOf(range);
  const inside = Math.min(Math.max(value, range.min), range.max);
  const low = Math.log(range.min + shift);
  const high = Math.log(range.max + shift);
  return (2 * (Math.log(inside + shift) - low)) / (high - low) - 1;
}

const inside = (value: number, { min, max }: Range): number => Math.min(Math.max(value, min), max) + 0; // -0 is 0

const shareOf = (position: number): number => (Math.min(Math.max(position, -1), 1) + 1) / 2;

const multipleAt = (position: number, { min, max }: Range): number => min * (max / min) ** shareOf(position);

function valueAt(position: number, range: Range, unit: number): number {
  const shift = shiftOf(range);
  const share = shareOf(position);
  const low = Math.log(range.min + shift);
  const high = Math.log(range.max + shift);
  const rounded = Math.round((Math.exp(low + share * (high - low)) - shift) / unit) * unit;
  return inside(rounded, range);
}
