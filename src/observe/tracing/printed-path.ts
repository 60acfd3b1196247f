/**
 * Algorithm 3.1 (critical path extraction) as the dissertation prints it.
 * Owns: that form, for comparison and for those who want the paper's own answer. The default is critical-path.ts.
 *
 * A span is followed by the path of its last returned child, then by the path of every child that happens before that
 * child. The reference never moves: of two overlapping children that both end before the last one starts, both are taken,
 * and the exclusive times of such a path do not sum to the request's. A child that ends after its parent has returned
 * nothing to it, so it is never the last returned one. `happensBefore` is 3.2.2's inequality: it ends no later than the
 * other starts.
 */
import type { TraceBlock } from "../telemetry/index.ts";
import type { FoundPath } from "./path-signatures.ts";

/** Places in the trace, in the order in which the printed procedure adds them. */
export function printedCriticalPath(block: TraceBlock, trace = 0): number[] {
  const base = block.offsets[trace]!;
  const children = childrenOf(block, trace);
  const { startUs, endUs } = block.spans;
  const path: number[] = [];
  // The printed procedure calls itself; a trace may be deeper than a stack.
  const open: number[] = [0];
  while (open.length > 0) {
    const span = open.pop()!;
    path.push(span);
    const last = lastReturned(block, base, { span, children: children[span]! });
    if (last < 0) continue;
    const before = children[span]!.filter((child) => child !== last && endUs[base + child]! <= startUs[base + last]!);
    for (let i = before.length - 1; i >= 0; i--) open.push(before[i]!);
    open.push(last);
  }
  return path;
}

/** The same as a path that can be counted; a step's time is its span's duration, for the printed form has no other. */
export function printedPath(block: TraceBlock, trace: number): FoundPath {
  const spans = printedCriticalPath(block, trace);
  const base = block.offsets[trace]!;
  return {
    length: spans.length,
    spanAt: (k) => spans[k]!,
    exclusiveUs: (span) => block.spans.endUs[base + span]! - block.spans.startUs[base + span]!,
  };
}

function lastReturned(
  { spans: { startUs, endUs } }: TraceBlock,
  base: number,
  { span, children }: { span: number; children: readonly number[] },
): number {
  let last = -1;
  for (const child of children) {
    if (endUs[base + child]! > endUs[base + span]!) continue;
    const difference = last < 0 ? 1 : endUs[base + child]! - endUs[base + last]!;
    if (difference > 0 || (difference === 0 && startUs[base + child]! < startUs[base + last]!)) last = child;
  }
  return last;
}

/** Each span's children in the order of their starts. */
export function childrenOf(block: TraceBlock, trace: number): number[][] {
  const base = block.offsets[trace]!;
  const count = block.spansOf(trace);
  const children: number[][] = Array.from({ length: count }, () => []);
  for (let span = 1; span < count; span++) children[block.parent[base + span]!]!.push(span);
  const start = block.spans.startUs;
  for (const list of children) list.sort((a, b) => start[base + a]! - start[base + b]! || a - b);
  return children;
}
