/**
 * The port behind which assembled traces are kept and asked about: the execution history of each, and the graph of who
 * calls whom over all of them. Not here: the embedded store (adapters/store), assembling (observe/tracing).
 */
import type { Span } from "./span.ts";
import type { SealReason, TraceBlock } from "./trace-block.ts";

/** A block of traces with what was found out about them. */
export interface AnalysedTraces {
  readonly block: TraceBlock;
  /** For each row of the block, how long it alone held up its request; -1 where it is not on the critical path. */
  readonly criticalUs: Float64Array;
}

/** A span as it was kept: its times are those of its trace's root clock. */
export interface StoredSpan extends Span {
  /** Of the parent within `StoredTrace.spans`; -1 for the root. */
  readonly parent: number;
  /** Null where it is not on the critical path. */
  readonly criticalUs: number | null;
  /** By how much its times were moved. */
  readonly skewUs: number;
  /** Its parent never came. */
  readonly isOrphan: boolean;
}

export interface StoredTrace extends TraceSummary {
  /** The root first, every parent before its children: the execution history. */
  readonly spans: readonly StoredSpan[];
}

export interface TraceSummary {
  readonly traceId: string;
  readonly service: string;
  readonly operation: string;
  readonly startUs: number;
  readonly durationUs: number;
  readonly spanCount: number;
  readonly errors: number;
  readonly sealedBy: SealReason;
}

export interface TraceQuery {
  /** Traces that a span of this service takes part in. */
  readonly service?: string;
  /** Of the root. */
  readonly operation?: string;
  readonly fromUs?: number;
  readonly toUs?: number;
  readonly minDurationUs?: number;
  readonly order?: "newest" | "slowest";
  /** 20 unless said, at most 1,000. */
  readonly limit?: number;
}

export interface GraphQuery {
  readonly fromUs?: number;
  readonly toUs?: number;
  /** Vertices are services unless said; Definition 2.1 has instances. */
  readonly vertices?: "services" | "instances";
}

/** How one calls another. */
export interface CallEdge {
  readonly caller: string;
  readonly callee: string;
  readonly calls: number;
  readonly errors: number;
  /** Of the callee's spans. */
  readonly meanUs: number;
  readonly p99Us: number;
  /** Calls that were on their request's critical path. */
  readonly criticalCalls: number;
}

export interface TraceCounts {
  readonly traces: number;
  readonly spans: number;
}

export interface TraceStore {
  /** Resolves when the traces are durable. The block is the caller's again then. */
  append(traces: AnalysedTraces): Promise<void>;
  /** Null when there is none. Of a trace that was sealed twice, the part with more spans. */
  trace(traceId: string): Promise<StoredTrace | null>;
  /** Of these traces, those that are stored, in part or whole. */
  stored(traceIds: readonly string[]): Promise<ReadonlySet<string>>;
  find(query: TraceQuery): Promise<TraceSummary[]>;
  /** The service dependency graph (Definition 2.1), most frequent calls first. */
  serviceGraph(query?: GraphQuery): Promise<CallEdge[]>;
  /** Deletes traces that began before; returns how many. */
  forget(beforeUs: number): Promise<number>;
  counts(): Promise<TraceCounts>;
  close(): Promise<void>;
}
