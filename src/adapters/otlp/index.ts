/** Spans from outside: OTLP, Jaeger and Zipkin. Start reading at receiver.ts, then proto-decode.ts. */
export type { ForwardCounts, ForwardingSink, ForwardOptions } from "./forward.ts";
export { forwardSpans } from "./forward.ts";
export type { IntakeCounts, SpanFormat } from "./intake.ts";
export type { DecodedSpans } from "./proto-decode.ts";
export { OtlpProtoDecoder } from "./proto-decode.ts";
export { encodeOtlp } from "./proto-encode.ts";
export type { SpanReceiver, SpanReceiverOptions } from "./receiver.ts";
export { openSpanReceiver } from "./receiver.ts";
export type { FileFormat, SpanFile, SpanFileOptions } from "./span-files.ts";
export { FILE_FORMATS, readSpans } from "./span-files.ts";
export type { SpanJournal, SpanJournalOptions } from "./span-journal.ts";
export { openSpanJournal } from "./span-journal.ts";
