/**
 * Critical paths of recorded traces: read, assemble, learn how siblings relate, find the paths, sum them up.
 * Owns: the report of `coxswain trace critical-path`. Not here: its print (print-paths.ts), the algorithms (observe/tracing).
 */
import { CodedError, failure } from "../../base/index.ts";
import { type SpanDropReason, SpanFlag, type TraceBlock } from "../../observe/telemetry/index.ts";
import {
  CriticalPathFinder,
  type FoundPath,
  type PathAggregate,
  PathSignatures,
  printedPath,
  RelationTracker,
} from "../../observe/tracing/index.ts";
import { type ReadFile, type ReadOptions, readTraces } from "./read-traces.ts";

export interface CriticalPathsOptions extends ReadOptions {
  /** Algorithm 3.1 as printed, instead of the corrected one. */
  readonly isPrinted: boolean;
  /** The trace to show as a timeline; the slowest unless said. */
  readonly traceId: string | undefined;
}

export interface ShownStep {
  readonly service: string;
  readonly instance: string;
  readonly operation: string;
  readonly spanId: string;
  /** From the root's start. */
  readonly startUs: number;
  readonly durationUs: number;
  /** On the critical path alone; for the printed form the whole duration. */
  readonly exclusiveUs: number;
}

export interface ShownTrace {
  readonly traceId: string;
  readonly durationUs: number;
  readonly spans: number;
  readonly path: readonly ShownStep[];
  /** Spans that outlive their parents or take messages: suspects too, though nobody waited for them. */
  readonly background: readonly string[];
}

export interface CriticalPathsReport {
  readonly algorithm: "corrected" | "printed";
  readonly files: readonly ReadFile[];
  readonly traces: number;
  readonly spans: number;
  readonly orphans: number;
  readonly skewed: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly requestTypes: readonly {
    readonly name: string;
    readonly requests: number;
    readonly paths: readonly (PathAggregate & { readonly share: number })[];
  }[];
  readonly shown: ShownTrace;
}

export async function criticalPaths(options: CriticalPathsOptions): Promise<CriticalPathsReport> {
  const { files, dropped, traces } = await readTraces(options);
  const { block, counts } = traces;
  const relations = new RelationTracker();
  for (let trace = 0; trace < block.size; trace++) relations.observe(block, trace);
  const finder = new CriticalPathFinder({ relations });
  const pathOf = (trace: number): FoundPath =>
    options.isPrinted ? printedPath(block, trace) : finder.find(block, trace);
  const signatures = new PathSignatures();
  for (let trace = 0; trace < block.size; trace++) signatures.observe(block, trace, pathOf(trace));
  const shown = traceToShow(block, options.traceId);
  for (const [reason, count] of Object.entries(counts.dropped)) dropped.add(reason as SpanDropReason, count);
  return {
    algorithm: options.isPrinted ? "printed" : "corrected",
    files,
    traces: block.size,
    spans: block.spans.length,
    orphans: counts.orphans,
    skewed: counts.skewed,
    dropped: Object.fromEntries(Object.entries(dropped.counts()).filter(([, count]) => count > 0)),
    requestTypes: signatures.requestTypes().map(({ name, requests, paths }) => ({
      name,
      requests,
      paths: paths.map((path) => ({ ...path, share: path.count / requests })),
    })),
    shown: shownTrace(block, shown, pathOf(shown)),
  };
}

function traceToShow(block: TraceBlock, traceId: string | undefined): number {
  if (traceId === undefined) {
    let slowest = 0;
    for (let trace = 1; trace < block.size; trace++)
      if (block.durationUs(trace) > block.durationUs(slowest)) slowest = trace;
    return slowest;
  }
  const wanted = traceId.toLowerCase().padStart(32, "0");
  for (let trace = 0; trace < block.size; trace++) if (block.traceId(trace) === wanted) return trace;
  throw new CodedError(
    failure(
      "trace.unknown-id",
      `there is no trace ${traceId} in the files; one of ${block.size} is ${block.traceId(0)}`,
    ),
  );
}

function shownTrace(block: TraceBlock, trace: number, path: FoundPath): ShownTrace {
  const base = block.offsets[trace] as number;
  const origin = block.spans.startUs[base] as number;
  const steps: ShownStep[] = [];
  for (let k = 0; k < path.length; k++) {
    const place = path.spanAt(k);
    const { service, instance, operation, spanId, startUs, endUs } = block.spans.spanAt(base + place);
    steps.push({
      service,
      instance,
      operation,
      spanId,
      startUs: startUs - origin,
      durationUs: endUs - startUs,
      exclusiveUs: path.exclusiveUs(place),
    });
  }
  return {
    traceId: block.traceId(trace),
    durationUs: block.durationUs(trace),
    spans: block.spansOf(trace),
    path: steps,
    background: backgroundOf(block, trace),
  };
}

function backgroundOf(block: TraceBlock, trace: number): string[] {
  const base = block.offsets[trace] as number;
  const { endUs, service, operation } = block.spans;
  const found = new Set<string>();
  for (let place = 1; place < block.spansOf(trace); place++) {
    const [row, parent] = [base + place, base + (block.parent[base + place] as number)];
    const isOrphan = ((block.flags[row] as number) & SpanFlag.ORPHAN) !== 0;
    if (!isOrphan && (endUs[row] as number) > (endUs[parent] as number))
      found.add(`${block.names.text(service[row] as number)}/${block.names.text(operation[row] as number)}`);
  }
  return [...found];
}
