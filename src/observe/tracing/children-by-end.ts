/**
 * Each span's children, the last to end first: the order in which a critical path asks for them.
 * Owns: that index of one trace, in memory that is used again for the next.
 */
import type { TraceBlock } from "../telemetry/index.ts";

/** Up to here an insertion sort is faster than the library's sort with a function to call. */
export const FEW = 24;

export class ChildrenByEnd {
  /** Children of place `p` are `list` from `first[p]` to `first[p + 1]`. */
  first = new Int32Array(65);
  list = new Int32Array(64);
  #next = new Int32Array(64);

  read(block: TraceBlock, base: number, count: number): void {
    if (count > this.list.length) {
      const room = Math.max(count, 2 * this.list.length);
      this.first = new Int32Array(room + 1);
      this.list = new Int32Array(room);
      this.#next = new Int32Array(room);
    }
    const { first, list } = this;
    const next = this.#next;
    const parent = block.parent;
    for (let i = 0; i <= count; i++) first[i] = 0;
    for (let i = 1; i < count; i++) first[parent[base + i]! + 1]! += 1;
    for (let i = 0; i < count; i++) first[i + 1]! += first[i]!;
    for (let i = 0; i < count; i++) next[i] = first[i]!;
    for (let i = 1; i < count; i++) list[next[parent[base + i]!]!++] = i;
    for (let i = 0; i < count; i++) {
      const from = first[i]!;
      const to = first[i + 1]!;
      if (to - from > 1) sortByEnd(list, { block, base, from, to });
    }
  }
}

interface Siblings {
  readonly block: TraceBlock;
  readonly base: number;
  readonly from: number;
  readonly to: number;
}

/** Of two that end together the one that began first comes first: it is the one that was waited for longest. */
function sortByEnd(list: Int32Array, { block, base, from, to }: Siblings): void {
  const { startUs, endUs } = block.spans;
  const compare = (a: number, b: number): number =>
    endUs[base + b]! - endUs[base + a]! || startUs[base + a]! - startUs[base + b]! || a - b;
  if (to - from > FEW) {
    list.subarray(from, to).sort(compare);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const child = list[i]!;
    let k = i - 1;
    while (k >= from && compare(list[k]!, child) > 0) {
      list[k + 1] = list[k]!;
      k -= 1;
    }
    list[k + 1] = child;
  }
}
