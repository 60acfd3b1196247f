/**
 * Recorded traces from files, addresses or standard input, assembled into one block.
 * Owns: reading them for every `coxswain trace` command, and the refusal of what holds none.
 */
import { type FileFormat, readSpans } from "../../adapters/otlp/index.ts";
import { randomWords } from "../../adapters/runtime/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import { type AnalysedTraces, NameTable, type SpanColumns, SpanDrops } from "../../observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder, RelationTracker, type WholeTraces } from "../../observe/tracing/index.ts";

export interface ReadOptions {
  readonly files: readonly string[];
  readonly format: FileFormat | undefined;
  readonly signal: AbortSignal;
  onProgress(fraction: number, note: string): void;
}

export interface ReadFile {
  readonly file: string;
  readonly format: FileFormat;
  readonly spans: number;
}

export interface ReadTraces {
  readonly files: readonly ReadFile[];
  readonly dropped: SpanDrops;
  /** At least one. */
  readonly traces: WholeTraces;
}

export async function readTraces({ files, format, signal, onProgress }: ReadOptions): Promise<ReadTraces> {
  const names = new NameTable({ most: 1_000_000, random: randomWords });
  const dropped = new SpanDrops();
  const read: ReadFile[] = [];
  const batches: SpanColumns[] = [];
  for (const [index, file] of files.entries()) {
    signal.throwIfAborted();
    onProgress(index / files.length, file);
    const found = await readSpans(file, { names, signal, ...(format === undefined ? {} : { format }) });
    if (!found.ok) throw new CodedError(found.failure);
    let spans = 0;
    for (const { batch, drops } of found.value.batches) {
      batches.push(batch);
      dropped.merge(drops);
      spans += batch.length + drops.total;
    }
    read.push({ file, format: found.value.format, spans });
  }
  const traces = assembleTraces({ batches, names });
  if (traces.block.size === 0) {
    const why = dropped.total > 0 ? `: ${dropped.sentence()}` : "";
    throw new CodedError(failure("trace.none", `no trace was found in ${files.join(", ")}${why}; check the file`));
  }
  return { files: read, dropped, traces };
}

/** Clocks of two hosts are rarely further apart. */
const SKEW_US = 1_000;

/** The critical path of every trace, with what all of them say about siblings. */
export function analyse({ block }: WholeTraces): AnalysedTraces {
  const relations = new RelationTracker({ skewUs: SKEW_US });
  for (let trace = 0; trace < block.size; trace++) relations.observe(block, trace);
  const finder = new CriticalPathFinder({ relations, skewUs: SKEW_US });
  const criticalUs = new Float64Array(block.spans.length).fill(-1);
  for (let trace = 0; trace < block.size; trace++) {
    const base = block.offsets[trace] as number;
    finder.find(block, trace);
    for (let k = 0; k < finder.length; k++) criticalUs[base + finder.spanAt(k)] = finder.exclusiveUs(finder.spanAt(k));
  }
  return { block, criticalUs };
}
