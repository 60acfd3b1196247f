/**
 * What each span of a trace says of its operation, in a few numbers: how long it worked, whom it called, and the ways.
 * Owns: dividing one trace among operations, and small numbers for their names. Not here: comparing many traces with their
 * normal (habits.ts), critical paths.
 *
 * Unlike a request's own times (trace-times.ts) this looks at every span, on the critical path or not, and whatever type of
 * request it belongs to: an operation that fails, or that nobody waits for, leaves its mark here only.
 */
import { type NameTable, SPAN_KINDS, SPAN_STATUSES, type TraceBlock } from "../../observe/telemetry/index.ts";

const CLIENT = SPAN_KINDS.indexOf("client");
const ERROR = SPAN_STATUSES.indexOf("error");

/** Numbers per span in `SpanMarks.spans`, and per call in `SpanMarks.calls`. */
export const SPAN_MARK = 4;
export const CALL_MARK = 2;

export interface SpanMarks {
  /** By span: operation, bucket of its own time (-1: a client's, which is a way), shape, the operation it called last (0: none). */
  readonly spans: Int32Array;
  /** By call to another instance: the pair of instances, bucket of the time on the way. */
  readonly calls: Int32Array;
}

/** Buckets a quarter of an octave wide, from a microsecond to twenty minutes. */
export const BUCKETS = 121;
export const bucketOf = (us: number): number => Math.min(BUCKETS - 1, Math.max(0, Math.floor(4 * Math.log2(us + 1))));

export interface OperationName {
  readonly instance: string;
  readonly service: string;
  readonly operation: string;
}

export interface PairName {
  readonly caller: string;
  readonly callee: string;
}

/** A mesh that makes more has identifiers in its names; what is beyond is not looked at. */
const MOST_NAMES = 8_192;
const NAMES = 65_536;

/** Small numbers from 1 on for operations of instances and for pairs of instances, whatever table their names come from. */
export class MarkNames {
  readonly operations: (OperationName | undefined)[] = [undefined];
  readonly pairs: (PairName | undefined)[] = [undefined];
  readonly #byText = new Map<string, number>();
  /** By the numbers of the table at hand. */
  #table: NameTable | null = null;
  readonly #operationOf = new Map<number, number>();
  readonly #pairOf = new Map<number, number>();

  clear(): void {
    this.operations.length = 1;
    this.pairs.length = 1;
    this.#byText.clear();
    this.#table = null;
  }

  /** 0 where there is no room. */
  operation({ spans, names }: TraceBlock, row: number): number {
    this.#use(names);
    const key = spans.instance[row]! * NAMES + spans.operation[row]!;
    const known = this.#operationOf.get(key);
    if (known !== undefined) return known;
    const [instance, operation] = [names.text(spans.instance[row]!), names.text(spans.operation[row]!)];
    const service = names.text(spans.service[row]!);
    const id = this.#number(`${instance}\n${operation}`, this.operations, { instance, service, operation });
    this.#operationOf.set(key, id);
    return id;
  }

  pair({ spans, names }: TraceBlock, callerRow: number, calleeRow: number): number {
    this.#use(names);
    const key = spans.instance[callerRow]! * NAMES + spans.instance[calleeRow]!;
    const known = this.#pairOf.get(key);
    if (known !== undefined) return known;
    const [caller, callee] = [names.text(spans.instance[callerRow]!), names.text(spans.instance[calleeRow]!)];
    const id = this.#number(`\n${caller}\n${callee}`, this.pairs, { caller, callee });
    this.#pairOf.set(key, id);
    return id;
  }

  #number<T>(text: string, list: (T | undefined)[], value: T): number {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    if (list.length > MOST_NAMES) return 0;
    list.push(value);
    this.#byText.set(text, list.length - 1);
    return list.length - 1;
  }

  #use(table: NameTable): void {
    if (this.#table === table) return;
    this.#table = table;
    this.#operationOf.clear();
    this.#pairOf.clear();
  }
}

/** A call of a span that has no client span between: the time that its way may have taken (trace-times.ts). */
export interface KnownWay {
  readonly row: number;
  readonly parent: number;
  readonly wayUs: number;
}

export function marksOf(block: TraceBlock, trace: number, { names, ways }: MarksContext): SpanMarks {
  const { startUs, endUs, instance, kind, status } = block.spans;
  const [from, to] = [block.offsets[trace]!, block.offsets[trace + 1]!];
  const size = to - from;
  const own = new Float64Array(size);
  const until = new Float64Array(size);
  const last = new Int32Array(size);
  const shape = new Int32Array(size);
  const operation = new Int32Array(size);
  const isWay = new Uint8Array(size);
  const calls: number[] = [];
  for (let k = 0; k < size; k++) {
    const row = from + k;
    own[k] = endUs[row]! - startUs[row]!;
    until[k] = startUs[row]!;
    operation[k] = names.operation(block, row);
    if (status[row] === ERROR) shape[k] = ERROR_SHAPE;
  }
  const byStart = Array.from({ length: size - 1 }, (_, k) => k + 1).sort(
    (a, b) => startUs[from + a]! - startUs[from + b]! || a - b,
  );
  const called = new Set<number>();
  const lastEnd = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  for (const k of byStart) {
    const parent = block.parent[from + k]!;
    const [begin, end] = [startUs[from + k]!, Math.min(endUs[from + k]!, endUs[from + parent]!)];
    own[parent]! -= Math.max(0, end - Math.max(begin, until[parent]!));
    until[parent] = Math.max(until[parent]!, end);
    // Who is called and not how often: loops take as many turns as they like.
    const call = parent * CALLS + operation[k]!;
    if (!called.has(call)) {
      called.add(call);
      shape[parent] = (shape[parent]! + mixed(operation[k]!)) | 0;
    }
    if (endUs[from + k]! >= lastEnd[parent]!) {
      lastEnd[parent] = endUs[from + k]!;
      last[parent] = operation[k]!;
    }
    if (kind[from + parent] === CLIENT && instance[from + k] !== instance[from + parent]) {
      isWay[parent] = 1;
      calls.push(names.pair(block, from + parent, from + k), parent);
    }
  }
  for (let c = 1; c < calls.length; c += CALL_MARK) calls[c] = bucketOf(own[calls[c]!]!);
  for (const { row, parent, wayUs } of ways) {
    if (kind[parent] === CLIENT) continue;
    own[parent - from]! -= wayUs;
    calls.push(names.pair(block, parent, row), bucketOf(wayUs));
  }
  const spans = new Int32Array(SPAN_MARK * size);
  for (let k = 0; k < size; k++) {
    spans[SPAN_MARK * k] = operation[k]!;
    spans[SPAN_MARK * k + 1] = isWay[k] === 1 ? -1 : bucketOf(Math.max(0, own[k]!));
    spans[SPAN_MARK * k + 2] = (shape[k]! + Math.imul(mixed(last[k]!), 31)) | 0;
    spans[SPAN_MARK * k + 3] = last[k]!;
  }
  return { spans, calls: Int32Array.from(calls) };
}

export interface MarksContext {
  readonly names: MarkNames;
  readonly ways: readonly KnownWay[];
}

const ERROR_SHAPE = 0x3c6ef372;
const CALLS = 2 * MOST_NAMES;

/** Spreads small numbers over all 32 bits, so that sums of them seldom meet (the finalizer of MurmurHash3). */
function mixed(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
