/**
 * Members of a size find room on the nodes, or do not grow.
 * Owns: how many fit, and what gives way first. Not here: which node a member goes to (a scheduler's business).
 */
import type { Draft } from "../draft.ts";
import type { Constraint, GuardContext, NodeRoom } from "../guard.ts";
import type { Setting } from "../knob.ts";

export interface Packing {
  /** The knob that counts members. */
  readonly count: string;
  /** The knobs of one member's size, named as the nodes' room is. */
  readonly sizes: readonly string[];
}

/** Members are not divided between nodes, so room on two nodes is less than their sum. */
export function membersThatFit(setting: Setting, nodes: readonly NodeRoom[], sizes: readonly string[]): number {
  let count = 0;
  for (const room of nodes) {
    let fits = Number.POSITIVE_INFINITY;
    for (const size of sizes) fits = Math.min(fits, wholeTimes(room[size] ?? Number.NaN, setting[size] as number));
    count += fits;
  }
  return count;
}

function wholeTimes(room: number, size: number): number {
  // A node whose figures are missing or odd has no room that one could rely on.
  if (!(room >= 0)) return 0;
  return size > 0 ? Math.floor(room / size) : Number.POSITIVE_INFINITY;
}

export function nodeCapacity({ count, sizes }: Packing): Constraint {
  const fits = (draft: Draft, nodes: readonly NodeRoom[]): boolean =>
    membersThatFit(draft.setting, nodes, sizes) >= draft.get(count);
  return {
    rule: "capacity",
    keep(draft: Draft, { nodes, have }: GuardContext): void {
      if (nodes === "unlimited" || fits(draft, nodes)) return;
      // Fewer new members first, then no larger ones. What does not grow may stay: it is there already.
      const current = have[count] as number;
      if (draft.get(count) > current) {
        const room = membersThatFit(draft.setting, nodes, sizes);
        draft.set(count, Math.max(current, Math.min(draft.get(count), room)), "capacity");
      }
      for (const size of sizes) {
        if (fits(draft, nodes)) return;
        if (draft.get(size) > (have[size] as number)) draft.set(size, have[size] as number, "capacity");
      }
    },
  };
}
