/**
 * The embedded store of traces: one DuckDB file, owned by one process.
 * Owns: the order of writes, durability of an append, how much is kept. Not here: rows (trace-rows.ts), SQL of questions
 * (trace-queries.ts), opening the file (duckdb-file.ts).
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { CodedError, failure } from "../../base/index.ts";
import type {
  AnalysedTraces,
  CallEdge,
  GraphQuery,
  StoredTrace,
  TraceCounts,
  TraceQuery,
  TraceStore,
  TraceSummary,
} from "../../observe/telemetry/index.ts";
import { storeFailure } from "./duckdb-errors.ts";
import { type OpenFile, openFile } from "./duckdb-file.ts";
import { TRACE_LAYOUT } from "./trace-layout.ts";
import { callGraph, findTraces, storedIds, storedTrace } from "./trace-queries.ts";
import { appendTraces, FileNames } from "./trace-rows.ts";

export interface TraceStoreOptions {
  readonly path: string;
  /** Threads DuckDB may use for one query. */
  readonly threads?: number;
  readonly checkpointMiB?: number;
  /** The oldest traces are deleted when there are more spans; 20 million unless said. */
  readonly maxSpans?: number;
}

/** Deleting is a scan, so it is done by the twentieth and not for every append. */
const SLACK = 0.05;

export async function openTraceStore({
  path,
  threads = 1,
  checkpointMiB = 64,
  maxSpans = 20_000_000,
}: TraceStoreOptions): Promise<TraceStore> {
  const file = await openFile(path, { threads, checkpointMiB, layout: TRACE_LAYOUT });
  try {
    const found = await file.reader.runAndReadAll(
      "SELECT (SELECT coalesce(max(key), -1) FROM traces), (SELECT coalesce(sum(spans), 0) FROM traces)",
    );
    const [key, spans] = found.getRowsJS()[0] ?? [];
    const names = await FileNames.load(file.reader);
    return new DuckdbTraceStore(file, { names, nextKey: Number(key) + 1, spans: Number(spans), maxSpans });
  } catch (thrown) {
    file.close();
    throw storeFailure(thrown, { path, doing: "open", what: TRACE_LAYOUT.what });
  }
}

class DuckdbTraceStore implements TraceStore {
  readonly #file: OpenFile;
  readonly #names: FileNames;
  readonly #maxSpans: number;
  #nextKey: number;
  #spans: number;
  #lastWrite: Promise<unknown> = Promise.resolve();
  readonly #reads = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(file: OpenFile, state: { names: FileNames; nextKey: number; spans: number; maxSpans: number }) {
    this.#file = file;
    this.#names = state.names;
    this.#nextKey = state.nextKey;
    this.#spans = state.spans;
    this.#maxSpans = state.maxSpans;
  }

  append(traces: AnalysedTraces): Promise<void> {
    return this.#write("append to", async (writer) => {
      if (traces.block.size === 0) return;
      await inTransaction(writer, () => appendTraces(writer, { traces, names: this.#names, firstKey: this.#nextKey }));
      this.#names.written();
      this.#nextKey += traces.block.size;
      this.#spans += traces.block.spans.length;
      if (this.#spans > this.#maxSpans) await this.#deleteOldest(writer);
    });
  }

  trace(traceId: string): Promise<StoredTrace | null> {
    return this.#read((reader) => storedTrace(reader, traceId));
  }

  stored(traceIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#read((reader) => storedIds(reader, traceIds));
  }

  find(query: TraceQuery): Promise<TraceSummary[]> {
    return this.#read((reader) => findTraces(reader, query));
  }

  serviceGraph(query: GraphQuery = {}): Promise<CallEdge[]> {
    return this.#read((reader) => callGraph(reader, query));
  }

  forget(beforeUs: number): Promise<number> {
    return this.#write("delete from", (writer) =>
      this.#delete(writer, `start_us < ${Number.isFinite(beforeUs) ? beforeUs : 0}`),
    );
  }

  counts(): Promise<TraceCounts> {
    return this.#read(async (reader) => {
      const found = await reader.runAndReadAll("SELECT (SELECT count(*) FROM traces), (SELECT count(*) FROM spans)");
      const [traces, spans] = found.getRowsJS()[0] ?? [];
      return { traces: Number(traces), spans: Number(spans) };
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#lastWrite.catch(() => undefined);
    await Promise.allSettled(this.#reads);
    // If it fails, on a full disk say, the log still has everything and the next open replays it.
    await this.#file.writer.run("CHECKPOINT").catch(() => undefined);
    this.#file.close();
  }

  /** Down to a twentieth below the bound, oldest first: keys rise with time. */
  #deleteOldest(writer: DuckDBConnection): Promise<number> {
    const keep = Math.floor((1 - SLACK) * this.#maxSpans);
    return this.#delete(
      writer,
      `key <= (SELECT coalesce(max(key), -1) FROM (SELECT key, sum(spans) OVER (ORDER BY key DESC) AS newer FROM traces) WHERE newer > ${keep})`,
    );
  }

  async #delete(writer: DuckDBConnection, which: string): Promise<number> {
    return await inTransaction(writer, async () => {
      await writer.run(`CREATE OR REPLACE TEMP TABLE gone AS SELECT key, spans FROM traces WHERE ${which}`);
      await writer.run("DELETE FROM spans WHERE trace IN (SELECT key FROM gone)");
      await writer.run("DELETE FROM links WHERE trace IN (SELECT key FROM gone)");
      await writer.run("DELETE FROM traces WHERE key IN (SELECT key FROM gone)");
      const found = await writer.runAndReadAll("SELECT count(*), coalesce(sum(spans), 0) FROM gone");
      const [traces, spans] = found.getRowsJS()[0] ?? [];
      this.#spans -= Number(spans);
      return Number(traces);
    });
  }

  /** Writes are made one after the other, in the order of the calls. */
  #write<T>(doing: string, job: (writer: DuckDBConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closed());
    const result = this.#lastWrite.then(() => job(this.#file.writer));
    this.#lastWrite = result.catch(() => undefined);
    return result.catch((thrown: unknown) => {
      throw storeFailure(thrown, { path: this.#file.path, doing, what: TRACE_LAYOUT.what });
    });
  }

  async #read<T>(job: (reader: DuckDBConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    const result = job(this.#file.reader);
    this.#reads.add(result);
    try {
      return await result;
    } catch (thrown) {
      throw storeFailure(thrown, { path: this.#file.path, doing: "read", what: TRACE_LAYOUT.what });
    } finally {
      this.#reads.delete(result);
    }
  }
}

const closed = (): CodedError => new CodedError(failure("store.closed", "the trace store is closed; open it again"));

async function inTransaction<T>(writer: DuckDBConnection, job: () => Promise<T>): Promise<T> {
  await writer.run("BEGIN");
  try {
    const result = await job();
    await writer.run("COMMIT");
    return result;
  } catch (thrown) {
    // A failed COMMIT has already rolled back, and then this finds nothing to do.
    await writer.run("ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}
