/** Spans from outside: OTLP, Jaeger and Zipkin. Start reading at receiver.ts, then proto-decode.ts. */
export type { IntakeCounts } from "./intake.ts";
export { OtlpJsonDecoder } from "./json-decode.ts";
export { receiverLimits } from "./limits.ts";
export { OtlpProtoDecoder } from "./proto-decode.ts";
export { encodeOtlp } from "./proto-encode.ts";
export type { SpanReceiver } from "./receiver.ts";
export { openSpanReceiver } from "./receiver.ts";
export type { FileFormat } from "./span-files.ts";
export { readSpans } from "./span-files.ts";
export type { JournalDamage, SpanJournal } from "./span-journal.ts";
export { openSpanJournal } from "./span-journal.ts";
