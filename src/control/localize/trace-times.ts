/**
 * Whose time the time of a request was: of each instance, its own on the critical path, and the way to and from it.
 * Owns: dividing one trace among instances. Not here: finding the path (observe/tracing), many traces (trace-window.ts).
 *
 * A span's own time on the path is the algorithm's T_i; these sum to the path's whole time. A slow wire to an instance
 * lies outside of its span, in its caller's time, so it is told apart: the caller's time just before and just after the
 * call. Where a client span stands between the two, that is the way and nothing else. Where none does, the caller may
 * have worked then too; a slow wire adds to both sides, so twice the shorter one is the most that it can be.
 */
import { type AnalysedTraces, SPAN_KINDS, SpanFlag, type TraceBlock } from "../../observe/telemetry/index.ts";
import { type MarkNames, marksOf, type SpanMarks } from "./span-marks.ts";

const CLIENT = SPAN_KINDS.indexOf("client");
const PRODUCER = SPAN_KINDS.indexOf("producer");
const CONSUMER = SPAN_KINDS.indexOf("consumer");

/** What one instance had to do with one request. */
export interface Part {
  readonly instance: string;
  readonly service: string;
  ownUs: number;
  /** It took part only where nobody waited; its own time is then that of its spans less their children's. */
  isBackground: boolean;
}

/** All calls of a request from one instance to another, and the time that their ways may have taken. */
export interface Way {
  readonly caller: string;
  readonly callee: string;
  /** A client span stands between the two: the way is no part of the caller's own time. */
  readonly isApart: boolean;
  calls: number;
  wayUs: number;
}

export interface TraceTimes {
  /** The root's `service/operation`, and its operation alone. */
  readonly request: string;
  readonly operation: string;
  readonly endUs: number;
  readonly totalUs: number;
  readonly parts: readonly Part[];
  readonly ways: readonly Way[];
  /** What its spans say of their operations; null where nobody wants to know. */
  readonly marks: SpanMarks | null;
}

/** `markNames`: of the operations, where what spans say of them is wanted. */
export function timesOf(traces: AnalysedTraces, trace: number, markNames: MarkNames | null = null): TraceTimes {
  const { block, criticalUs } = traces;
  const { spans, names } = block;
  const [from, to] = [block.offsets[trace]!, block.offsets[trace + 1]!];
  const parts = new Map<number, Part>();
  const partOf = (row: number): Part => {
    const id = spans.instance[row]!;
    let part = parts.get(id);
    if (part === undefined) {
      const [instance, service] = [names.text(id), names.text(spans.service[row]!)];
      part = { instance, service, ownUs: 0, isBackground: true };
      parts.set(id, part);
    }
    return part;
  };
  const onPath: number[] = [];
  for (let row = from; row < to; row++) if (criticalUs[row]! >= 0) onPath.push(row);
  for (const row of onPath) {
    const part = partOf(row);
    part.isBackground = false;
    part.ownUs += criticalUs[row]!;
  }
  const ways = new Map<string, Way>();
  const found = waysOn(block, from, onPath);
  for (const { row, parent, wayUs } of found) {
    const [caller, callee] = [partOf(parent), partOf(row)];
    const key = `${caller.instance}\n${callee.instance}`;
    let way = ways.get(key);
    if (way === undefined) {
      const isApart = spans.kind[parent] === CLIENT;
      way = { caller: caller.instance, callee: callee.instance, isApart, calls: 0, wayUs: 0 };
      ways.set(key, way);
    }
    way.calls += 1;
    way.wayUs += wayUs;
    // A client's own time is waiting: it is the way's, not the caller's.
    if (spans.kind[parent] === CLIENT) caller.ownUs -= Math.min(wayUs, criticalUs[parent]!);
  }
  addBackground(traces, [from, to], partOf);
  const operation = names.text(spans.operation[from]!);
  return {
    request: `${names.text(spans.service[from]!)}/${operation}`,
    operation,
    endUs: spans.endUs[from]!,
    totalUs: spans.endUs[from]! - spans.startUs[from]!,
    parts: [...parts.values()],
    ways: [...ways.values()],
    marks: markNames === null ? null : marksOf(block, trace, { names: markNames, ways: found }),
  };
}

interface WayOfCall {
  readonly row: number;
  readonly parent: number;
  wayUs: number;
}

/** Of every call on the path from one instance to another, the time that its way may have taken. */
function waysOn(block: TraceBlock, from: number, onPath: readonly number[]): readonly WayOfCall[] {
  const { startUs, endUs, instance, kind } = block.spans;
  const byStart = onPath.filter((row) => row > from).sort((a, b) => startUs[a]! - startUs[b]! || a - b);
  const ways: WayOfCall[] = [];
  const last = new Map<number, { ended: number; call: { readonly way: WayOfCall; readonly before: number } | null }>();
  const close = (parent: number, call: { readonly way: WayOfCall; readonly before: number }, after: number): void => {
    call.way.wayUs = kind[parent] === CLIENT ? call.before + after : 2 * Math.min(call.before, after);
  };
  for (const row of byStart) {
    const parent = from + block.parent[row]!;
    const before = last.get(parent) ?? { ended: startUs[parent]!, call: null };
    const gap = Math.max(0, startUs[row]! - before.ended);
    if (before.call !== null) close(parent, before.call, gap);
    const isFar = instance[row] !== instance[parent];
    const way: WayOfCall = { row, parent, wayUs: 0 };
    if (isFar) ways.push(way);
    last.set(parent, {
      ended: Math.max(before.ended, endUs[row]!),
      call: isFar ? { way, before: gap } : null,
    });
  }
  for (const [parent, { ended, call }] of last)
    if (call !== null) close(parent, call, Math.max(0, endUs[parent]! - ended));
  return ways;
}

/** Spans that outlive their parents or take messages, and what they call. */
function addBackground(
  { block, criticalUs }: AnalysedTraces,
  [from, to]: readonly [number, number],
  partOf: (row: number) => Part,
): void {
  const { startUs, endUs, kind } = block.spans;
  let inBackground: Set<number> | undefined;
  for (let row = from + 1; row < to; row++) {
    if (criticalUs[row]! >= 0) continue;
    const parent = from + block.parent[row]!;
    const isOrphan = (block.flags[row]! & SpanFlag.ORPHAN) !== 0;
    const isMessage = kind[parent] === PRODUCER || kind[row] === CONSUMER;
    const isBackground = isMessage || (!isOrphan && endUs[row]! > endUs[parent]!) || inBackground?.has(parent) === true;
    if (!isBackground) continue;
    inBackground ??= new Set();
    inBackground.add(row);
  }
  if (inBackground === undefined) return;
  const self = new Map<number, number>();
  for (const row of inBackground) self.set(row, endUs[row]! - startUs[row]!);
  for (const row of inBackground) {
    const parent = from + block.parent[row]!;
    const above = self.get(parent);
    if (above === undefined) continue;
    const overlap = Math.min(endUs[row]!, endUs[parent]!) - Math.max(startUs[row]!, startUs[parent]!);
    self.set(parent, Math.max(0, above - Math.max(0, overlap)));
  }
  for (const [row, us] of self) {
    const part = partOf(row);
    if (part.isBackground) part.ownUs += us;
  }
}
