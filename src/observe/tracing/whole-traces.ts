/** Traces from spans that are all there: a file, a simulated world, a test. */
import type { Ms } from "../../base/index.ts";
import { NameTable, type Span, SpanColumns, TraceBlock } from "../telemetry/index.ts";
import { type AssemblerCounts, TraceAssembler } from "./assembler.ts";
import type { AssemblerLimits } from "./assembler-limits.ts";

/** Recorded spans are of any age, and nothing more will come: only the bounds on a trace are left. */
const WHOLE: Partial<AssemblerLimits> = {
  futureAllowance: Number.POSITIVE_INFINITY as Ms,
  maxSpans: 50_000_000,
  maxTraces: 10_000_000,
  maxReadySpans: 50_000_000,
  maxSpansPerTrace: 5_000_000,
  maxAttributeBytes: 2 ** 30,
};

export interface WholeTraces {
  readonly block: TraceBlock;
  readonly counts: AssemblerCounts;
}

/** All traces in one block, in the order in which their roots came; batches share one table of names. */
export function assembleTraces(
  spans: Iterable<Span> | { readonly batches: Iterable<SpanColumns>; readonly names: NameTable },
  limits: Partial<AssemblerLimits> = {},
): WholeTraces {
  const { batches, names } = "batches" in spans ? spans : batchOf(spans);
  const assembler = new TraceAssembler(names, { ...WHOLE, ...limits });
  for (const batch of batches) assembler.admit(batch, 0 as Ms);
  assembler.flush();
  return { block: assembler.take() ?? new TraceBlock(names), counts: assembler.counts() };
}

function batchOf(spans: Iterable<Span>) {
  const names = new NameTable();
  const columns = new SpanColumns(names);
  for (const span of spans) columns.addSpan(span);
  return { batches: [columns], names };
}
