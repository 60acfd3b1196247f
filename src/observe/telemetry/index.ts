/** Telemetry: what a controller may know of a workload, and nothing more. */
export type { ReadingFailure } from "./decode.ts";
export { parseReading } from "./decode.ts";
export type { OomKill, PodReading, WorkloadReading } from "./reading.ts";
export type { Slo, SloMeasures } from "./slo.ts";
export { parseSlo, sloPreservation, sloWindow } from "./slo.ts";
export type { MemoryTelemetry, TelemetrySource } from "./source.ts";
export { memoryTelemetry } from "./source.ts";
export type { Span, SpanAttribute, SpanKind, SpanLink, SpanStatus } from "./span.ts";
export { SPAN_KINDS, SPAN_STATUSES } from "./span.ts";
