/**
 * Blocks of traces to DuckDB's column chunks.
 * Owns: the file's table of names and the order of the columns. Not here: the layout (trace-layout.ts), transactions.
 */
import type { DuckDBConnection, DuckDBDataChunk } from "@duckdb/node-api";
import {
  BLOB,
  DuckDBDataChunk as Chunk,
  DOUBLE,
  DuckDBBlobValue,
  INTEGER,
  UBIGINT,
  UTINYINT,
  VARCHAR,
} from "@duckdb/node-api";
import {
  type AnalysedTraces,
  LINK_WORDS,
  type NameTable,
  SPAN_WORDS,
  TRACE_WORDS,
  type TraceBlock,
  wordsToHex,
} from "../../observe/telemetry/index.ts";
import { CHUNK, fillColumn } from "./duckdb-rows.ts";
import { ON_PATH } from "./trace-layout.ts";

const [I, D, U] = [INTEGER, DOUBLE, UTINYINT];
const SPAN_TYPES = [I, I, I, UBIGINT, I, I, I, U, U, U, D, D, D, D, I, I];
const TRACE_TYPES = [I, VARCHAR, D, D, I, I, I, I, U, BLOB];
const ERROR = 2;

/** The file's numbers for names: they stay when a process and its own table are gone. */
export class FileNames {
  readonly #ids = new Map<string, number>();
  readonly #translations = new WeakMap<NameTable, Int32Array>();
  #added: { readonly id: number; readonly text: string }[] = [];

  static async load(connection: DuckDBConnection): Promise<FileNames> {
    const names = new FileNames();
    const found = await connection.runAndReadAll("SELECT id, text FROM names");
    for (const [id, text] of found.getRowsJS()) names.#ids.set(String(text), Number(id));
    return names;
  }

  idOf(text: string): number | undefined {
    return this.#ids.get(text);
  }

  /** The file's number for each number of a table. */
  translation(table: NameTable): Int32Array {
    const known = this.#translations.get(table);
    if (known !== undefined && known.length >= table.size) return known;
    const fresh = new Int32Array(table.size);
    if (known !== undefined) fresh.set(known);
    for (let id = known?.length ?? 0; id < fresh.length; id++) fresh[id] = this.#number(table.text(id));
    this.#translations.set(table, fresh);
    return fresh;
  }

  /** Writes the names that the file does not have yet. */
  async write(connection: DuckDBConnection): Promise<void> {
    if (this.#added.length === 0) return;
    const appender = await connection.createAppender("names");
    try {
      for (const { id, text } of this.#added) {
        appender.appendInteger(id);
        appender.appendVarchar(text);
        appender.endRow();
      }
      appender.flushSync();
    } finally {
      appender.closeSync();
    }
  }

  /** After the commit; names of a batch that failed are written with the next. */
  written(): void {
    this.#added = [];
  }

  #number(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.#ids.size;
    this.#ids.set(text, id);
    this.#added.push({ id, text });
    return id;
  }
}

export interface TraceRows {
  readonly traces: AnalysedTraces;
  readonly names: FileNames;
  readonly firstKey: number;
}

export async function appendTraces(connection: DuckDBConnection, rows: TraceRows): Promise<void> {
  const { block } = rows.traces;
  const names = rows.names.translation(block.names);
  await rows.names.write(connection);
  await inChunks(connection, {
    table: "traces",
    count: block.size,
    make: (from, to) => traceChunk(rows, names, [from, to]),
  });
  const keys = keysOf(block, rows.firstKey);
  const make = (from: number, to: number) => spanChunk(rows.traces, { keys, names, from, to });
  await inChunks(connection, { table: "spans", count: block.spans.length, make });
  if (block.spans.links.size > 0) await appendLinks(connection, block, keys);
}

/** After a failure closing fails too, and would say nothing but that. */
function closeQuietly(appender: { closeSync(): void }): void {
  try {
    appender.closeSync();
  } catch {
    // The first failure is the one to tell.
  }
}

interface Chunked {
  readonly table: string;
  readonly count: number;
  readonly make: (from: number, to: number) => DuckDBDataChunk;
}

async function inChunks(connection: DuckDBConnection, { table, count, make }: Chunked): Promise<void> {
  const appender = await connection.createAppender(table);
  try {
    for (let from = 0; from < count; from += CHUNK) appender.appendDataChunk(make(from, Math.min(count, from + CHUNK)));
    appender.flushSync();
  } catch (thrown) {
    closeQuietly(appender);
    throw thrown;
  }
  appender.closeSync();
}

interface Keys {
  readonly trace: Int32Array;
  readonly place: Int32Array;
}

/** Of each row: its trace's key and its place in it. */
function keysOf(block: TraceBlock, firstKey: number): Keys {
  const trace = new Int32Array(block.spans.length);
  const place = new Int32Array(block.spans.length);
  for (let k = 0; k < block.size; k++) {
    const from = block.offsets[k] as number;
    const to = block.offsets[k + 1] as number;
    for (let row = from; row < to; row++) {
      trace[row] = firstKey + k;
      place[row] = row - from;
    }
  }
  return { trace, place };
}

function traceChunk(
  { traces: { block }, firstKey }: TraceRows,
  names: Int32Array,
  [from, to]: [number, number],
): Chunk {
  const count = to - from;
  const chunk = Chunk.create(TRACE_TYPES, count);
  const column = <T>(of: (trace: number, root: number) => T): T[] =>
    Array.from({ length: count }, (_, k) => of(from + k, block.offsets[from + k] as number));
  const { spans } = block;
  const columns = [
    column((trace) => firstKey + trace),
    column((trace) => block.traceId(trace)),
    column((_, root) => spans.startUs[root] as number),
    column((trace) => block.durationUs(trace)),
    column((trace) => block.spansOf(trace)),
    column((trace) => errorsIn(block, trace)),
    column((_, root) => names[spans.service[root] as number] as number),
    column((_, root) => names[spans.operation[root] as number] as number),
    column((trace) => block.sealedBy[trace] as number),
    column((trace) => attributesOf(block, trace)),
  ];
  columns.forEach((values, index) => {
    fillColumn(chunk, index, values);
  });
  return chunk;
}

function errorsIn(block: TraceBlock, trace: number): number {
  let errors = 0;
  for (let row = block.offsets[trace] as number; row < (block.offsets[trace + 1] as number); row++)
    if (block.spans.status[row] === ERROR) errors += 1;
  return errors;
}

/** The rows of a trace have their attributes one behind the other, so they are one piece. */
function attributesOf({ spans, offsets }: TraceBlock, trace: number): DuckDBBlobValue | null {
  const from = spans.attributesFrom[offsets[trace] as number] as number;
  const to = spans.attributesTo[(offsets[trace + 1] as number) - 1] as number;
  return to > from ? new DuckDBBlobValue(spans.attributeBytes.subarray(from, to)) : null;
}

interface SpanRange {
  readonly keys: Keys;
  readonly names: Int32Array;
  readonly from: number;
  readonly to: number;
}

function spanChunk({ block, criticalUs }: AnalysedTraces, { keys, names, from, to }: SpanRange): Chunk {
  const count = to - from;
  const chunk = Chunk.create(SPAN_TYPES, count);
  const { spans, parent, flags, skewUs } = block;
  const named = (ids: Int32Array): Int32Array => Int32Array.from({ length: count }, (_, k) => names[ids[from + k]!]!);
  const ints = (of: (row: number) => number): Int32Array => Int32Array.from({ length: count }, (_, k) => of(from + k));
  const doubles = (of: (row: number) => number): Float64Array =>
    Float64Array.from({ length: count }, (_, k) => of(from + k));
  const start = (row: number): number => block.spans.attributesFrom[row - keys.place[row]!]!;
  const columns = [
    keys.trace.subarray(from, to),
    keys.place.subarray(from, to),
    parent.subarray(from, to),
    idsOf(block, from, to),
    named(spans.service),
    named(spans.instance),
    named(spans.operation),
    spans.kind.subarray(from, to),
    spans.status.subarray(from, to),
    Uint8Array.from({ length: count }, (_, k) => flags[from + k]! | (criticalUs[from + k]! >= 0 ? ON_PATH : 0)),
    spans.startUs.subarray(from, to),
    doubles((row) => spans.endUs[row]! - spans.startUs[row]!),
    doubles((row) => Math.max(0, criticalUs[row]!)),
    skewUs.subarray(from, to),
    ints((row) => spans.attributesFrom[row]! - start(row)),
    ints((row) => spans.attributesTo[row]! - start(row)),
  ];
  for (let index = 0; index < columns.length; index++) fillNumbers(chunk, index, columns[index]!);
  return chunk;
}

function idsOf({ spans }: TraceBlock, from: number, to: number): BigUint64Array {
  const words = new Uint32Array(SPAN_WORDS * (to - from));
  // The machine's order, which is little-endian wherever DuckDB's binaries run: the low word first.
  for (let k = 0; k < to - from; k++) {
    words[2 * k] = spans.spanIds[SPAN_WORDS * (from + k) + 1]!;
    words[2 * k + 1] = spans.spanIds[SPAN_WORDS * (from + k)]!;
  }
  return new BigUint64Array(words.buffer);
}

type Numbers = Int32Array | Uint8Array | Float64Array | BigUint64Array;

/**
 * A whole column at once where the vector shows its memory, which is four times as fast as item by item; the library has
 * no call for it, so a version that keeps it elsewhere gets the items one by one.
 */
function fillNumbers(chunk: Chunk, column: number, values: Numbers): void {
  const vector = chunk.getColumnVector(column);
  const items: unknown = (vector as { readonly items?: unknown }).items;
  if (
    ArrayBuffer.isView(items) &&
    items.constructor === values.constructor &&
    (items as Numbers).length === values.length
  ) {
    (items as unknown as { set(from: Numbers): void }).set(values);
    vector.flush();
  } else fillColumn(chunk, column, Array.from(values as ArrayLike<number>));
}

async function appendLinks(connection: DuckDBConnection, block: TraceBlock, keys: Keys): Promise<void> {
  const appender = await connection.createAppender("links");
  try {
    for (const [row, words] of block.spans.links) {
      if (row >= block.spans.length) continue;
      for (let at = 0; at < words.length; at += LINK_WORDS) {
        appender.appendInteger(keys.trace[row] as number);
        appender.appendInteger(keys.place[row] as number);
        appender.appendVarchar(wordsToHex(words, { at, words: TRACE_WORDS }));
        appender.appendVarchar(wordsToHex(words, { at: at + TRACE_WORDS, words: SPAN_WORDS }));
        appender.endRow();
      }
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
}
