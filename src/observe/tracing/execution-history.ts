/**
 * The execution history graph of a request (Definition 2.2): when each instance received a request, computed, and sent
 * requests on, with an edge for every message and every wait.
 * Owns: making that graph of an assembled trace. Not here: the path through it that counts (critical-path.ts).
 */
import type { TraceBlock } from "../telemetry/index.ts";
import { childrenOf } from "./printed-path.ts";

export interface HistoryVertex {
  readonly kind: "recv_req" | "compute" | "send_req";
  /** The span's place in the trace. */
  readonly span: number;
  /** For a `send_req`, the span that it caused. */
  readonly callee?: number;
  readonly fromUs: number;
  /** A moment for messages. */
  readonly toUs: number;
}

export interface HistoryEdge {
  /** `next` within a span, `request` from a `send_req` to the callee's `recv_req`, `response` back into a compute. */
  readonly kind: "next" | "request" | "response";
  readonly from: number;
  readonly to: number;
}

export interface ExecutionHistory {
  readonly vertices: readonly HistoryVertex[];
  readonly edges: readonly HistoryEdge[];
}

export function executionHistory(block: TraceBlock, trace = 0): ExecutionHistory {
  const base = block.offsets[trace]!;
  const { startUs, endUs } = block.spans;
  const vertices: HistoryVertex[] = [];
  const edges: HistoryEdge[] = [];
  const received: number[] = [];
  const finished: number[] = [];
  const sent = new Map<number, number>();
  const waits: { readonly callee: number; readonly compute: number }[] = [];
  childrenOf(block, trace).forEach((children, span) => {
    const [start, end] = [startUs[base + span]!, endUs[base + span]!];
    let last = -1;
    const add = (vertex: HistoryVertex): number => {
      vertices.push(vertex);
      if (last >= 0) edges.push({ kind: "next", from: last, to: vertices.length - 1 });
      last = vertices.length - 1;
      return last;
    };
    received[span] = add({ kind: "recv_req", span, fromUs: start, toUs: start });
    // A span computes from one message to the next: a request sent, or an answer that came.
    const moments = children
      .flatMap((callee) => [
        { at: Math.max(start, startUs[base + callee]!), callee, isRequest: true },
        ...(endUs[base + callee]! <= end ? [{ at: endUs[base + callee]!, callee, isRequest: false }] : []),
      ])
      .sort((a, b) => a.at - b.at || Number(a.isRequest) - Number(b.isRequest));
    let at = start;
    let answered: number[] = [];
    const compute = (until: number): void => {
      if (until <= at && answered.length === 0 && until < end) return;
      const vertex = add({ kind: "compute", span, fromUs: at, toUs: Math.max(at, until) });
      for (const callee of answered) waits.push({ callee, compute: vertex });
      answered = [];
    };
    for (const moment of moments) {
      if (moment.at > at || moment.isRequest) compute(moment.at);
      at = Math.max(at, moment.at);
      if (moment.isRequest) {
        sent.set(moment.callee, add({ kind: "send_req", span, callee: moment.callee, fromUs: at, toUs: at }));
      } else answered.push(moment.callee);
    }
    compute(end);
    finished[span] = last;
  });
  for (const [callee, from] of sent) edges.push({ kind: "request", from, to: received[callee]! });
  for (const { callee, compute } of waits) edges.push({ kind: "response", from: finished[callee]!, to: compute });
  return { vertices, edges };
}
