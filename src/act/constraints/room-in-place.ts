/**
 * Members that stay where they are grow only into what their own nodes have left; new ones need room for the least size.
 * Owns: both. Not here: members that may be placed anew when their size changes (node-capacity.ts).
 */
import type { Draft } from "../draft.ts";
import type { Constraint, GuardContext, NodeRoom } from "../guard.ts";
import type { Setting } from "../knob.ts";
import { membersThatFit } from "./node-capacity.ts";

/** In a node's room: how many members of this workload are there. */
export const MEMBERS_HERE = "members";

export interface InPlace {
  /** The knob that counts members; absent where their number is not set. */
  readonly count?: string;
  /** The knobs of one member's size, named as the nodes' room is; none where sizes are not set. */
  readonly sizes: readonly string[];
  /** What a new member has at least. Which size it really gets is the world's to say, and to refuse. */
  readonly least: Setting;
}

export function roomInPlace({ count, sizes, least }: InPlace): Constraint {
  const needed = Object.keys(least);
  return {
    rule: "capacity",
    keep(draft: Draft, { nodes, have }: GuardContext): void {
      if (nodes === "unlimited") return;
      for (const size of sizes) {
        const current = have[size] as number;
        if (draft.get(size) > current)
          draft.set(size, Math.min(draft.get(size), current + growth(nodes, size)), "capacity");
      }
      if (count === undefined) return;
      const current = have[count] as number;
      if (draft.get(count) > current)
        draft.set(count, Math.min(draft.get(count), current + membersThatFit(least, nodes, needed)), "capacity");
    },
  };
}

/** What every member can have more at once. A node whose figures are missing or odd has no room that one could rely on. */
function growth(nodes: readonly NodeRoom[], size: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (const room of nodes) {
    const members = room[MEMBERS_HERE] ?? 0;
    if (!(members > 0)) continue;
    const left = room[size] ?? 0;
    least = Math.min(least, left > 0 ? left / members : 0);
  }
  return Number.isFinite(least) ? least : 0;
}
