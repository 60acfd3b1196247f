/**
 * Allocations in the coordinates of a policy: three numbers from -1 (the lower bound) to 1 (the upper bound).
 * Owns: both directions, so that what a fallback did and what the guard left of a proposal can be learned from.
 * Not here: whether an allocation may be had (act's guard).
 *
 * The scale is logarithmic: from 100 to 200 millicores is as much of a step as from 2 to 4 cores. Memory is decided in
 * whole MiB, since single bytes would make every decision a resize; so a byte count comes back rounded.
 */
import type { Allocation } from "../../act/index.ts";
import { box } from "../../learn/env/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";

/** Order of the numbers in an action. */
export const actionOrder = ["cpu", "memory", "replicas"] as const satisfies readonly (keyof Allocation)[];

export const actionSpace = box({ low: -1, high: 1, size: actionOrder.length });

const units: Readonly<Record<keyof Allocation, number>> = { cpu: 1, memory: 1_048_576, replicas: 1 };

type Bounded = Pick<AutoscaleTask, "bounds">;

/** Numbers beyond ±1 mean the bound; NaN has no meaning and stays NaN, for the guard to refuse. */
export function decodeAction({ bounds }: Bounded, action: ArrayLike<number>): Allocation {
  const value = (index: number): number => {
    const dimension = actionOrder[index] as keyof Allocation;
    return valueAt(action[index] ?? Number.NaN, bounds[dimension], units[dimension]);
  };
  return { cpu: value(0), memory: value(1), replicas: value(2) } as Allocation;
}

export function encodeAction({ bounds }: Bounded, allocation: Allocation): Float32Array {
  const action = new Float32Array(actionOrder.length);
  let index = 0;
  for (const dimension of actionOrder) action[index++] = positionOf(allocation[dimension], bounds[dimension]);
  return action;
}

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

function valueAt(position: number, range: Range, unit: number): number {
  const shift = shiftOf(range);
  const share = (Math.min(Math.max(position, -1), 1) + 1) / 2;
  const low = Math.log(range.min + shift);
  const high = Math.log(range.max + shift);
  const rounded = Math.round((Math.exp(low + share * (high - low)) - shift) / unit) * unit;
  return Math.min(Math.max(rounded, range.min), range.max) + 0; // -0 is 0
}
