/** Telemetry: what a controller may know of a workload, and nothing more. Readings first, then spans. */
export type {
  ActivationBatch,
  ActivationCursor,
  ActivationOutcome,
  ActivationRecord,
  ActivationSource,
  DeployedFunction,
  DeployedFunctions,
  StoredActivation,
} from "./activation.ts";
export type { ActivationTelemetryOptions } from "./activation-telemetry.ts";
export { activationTelemetry } from "./activation-telemetry.ts";
export { endOf } from "./activation-window.ts";
export { parseFunctionReading, parseReading } from "./decode.ts";
export type { FunctionReading } from "./function-reading.ts";
export type { InstanceCounters, InstanceReading, NodeReading, RequestReading } from "./instance-reading.ts";
export type { FillRandom } from "./keyed-hash.ts";
export { KeyedHash } from "./keyed-hash.ts";
export { NameTable } from "./name-table.ts";
export type { OomKill, PodReading, ResizeState, WorkloadReading } from "./reading.ts";
export type { Slo } from "./slo/index.ts";
export { latencyAllowed, parseSlo, sloJudges, sloMargin, sloPreservation, sloQuantile } from "./slo/index.ts";
export type { TelemetrySource } from "./source.ts";
export type { Span, SpanAttribute, SpanKind, SpanLink, SpanStatus } from "./span.ts";
export { SPAN_KINDS, SPAN_STATUSES } from "./span.ts";
export { AttributeEncoder, decodeAttributes, encodeAttributes } from "./span-attributes.ts";
export { LINK_WORDS, SpanColumns, spanColumnsOf } from "./span-columns.ts";
export type { SpanDropReason } from "./span-drops.ts";
export { SPAN_DROP_REASONS, SpanDrops } from "./span-drops.ts";
export { hexToWords, isNoId, SPAN_WORDS, TRACE_WORDS, wordsToHex } from "./span-ids.ts";
export type { SpanOffer, SpanSink } from "./span-sink.ts";
export type { SealReason } from "./trace-block.ts";
export { SEAL_REASONS, SpanFlag, TraceBlock } from "./trace-block.ts";
export type {
  AnalysedTraces,
  CallEdge,
  GraphQuery,
  StoredSpan,
  StoredTrace,
  TraceCounts,
  TraceQuery,
  TraceStore,
  TraceSummary,
} from "./trace-store.ts";
