/** Stored traces as the API gives them. Owns: the documents, and finding the path's segments, which are not stored. */

import type { TraceDocument, TraceSummaryDocument } from "../../../contract/index.ts";
import { type StoredTrace, spanColumnsOf, type TraceSummary } from "../../../observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder, type TracingCoordinator } from "../../../observe/tracing/index.ts";

/** As the coordinator has it: so far may two hosts' clocks be apart. */
const SKEW_US = 1_000;
/** More spans than a person can look at are not told. */
const MOST_SPANS = 1_000;

export const summaryDocument = (trace: TraceSummary): TraceSummaryDocument => ({
  id: trace.traceId,
  service: trace.service,
  operation: trace.operation,
  at: trace.startUs / 1_000,
  durationMs: trace.durationUs / 1_000,
  spans: trace.spanCount,
  errors: trace.errors,
  sealedBy: trace.sealedBy,
});

/**
 * With its path as it is found now: relations that were learned since may show background work that was not known then.
 * Times were set right when it was stored, so putting it together again changes none.
 */
export function traceDocument(trace: StoredTrace, { assembler, relations }: TracingCoordinator): TraceDocument {
  // Relations are known by the numbers of the coordinator's own names.
  const { names } = assembler;
  const { block } = assembleTraces({ batches: [spanColumnsOf(trace.spans, names)], names });
  const found = block.size === 0 ? null : new CriticalPathFinder({ relations, skewUs: SKEW_US }).find(block, 0);
  const path = found?.path();
  const base = block.offsets[0] ?? 0;
  const began = trace.startUs;
  const critical = new Map(path?.spans.map((span, k) => [span, path.exclusiveUs[k] ?? 0]));
  const shown = Math.min(MOST_SPANS, block.size === 0 ? 0 : block.spansOf(0));
  return {
    ...summaryDocument(trace),
    tree: Array.from({ length: shown }, (_, place) => {
      const span = block.spans.spanAt(base + place);
      const parent = block.parent[base + place] ?? -1;
      const us = critical.get(place);
      return {
        id: span.spanId,
        parent: parent < 0 ? null : parent,
        service: span.service,
        instance: span.instance,
        operation: span.operation,
        kind: span.kind,
        status: span.status,
        fromMs: (span.startUs - began) / 1_000,
        toMs: (span.endUs - began) / 1_000,
        criticalMs: us === undefined ? null : us / 1_000,
      };
    }),
    path: (path?.segments ?? [])
      .filter(({ span }) => span < shown)
      .map(({ span, fromUs, toUs }) => ({ span, fromMs: (fromUs - began) / 1_000, toMs: (toUs - began) / 1_000 })),
  };
}
