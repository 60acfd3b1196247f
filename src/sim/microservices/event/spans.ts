/**
 * Spans as the services' tracing agents send them: sampled at the ingress, by the clock of their node, some lost.
 * Owns: making them. Not here: when a call arrives and answers (call-flow.ts).
 */
import type { Rng } from "../../../base/index.ts";
import type { Span } from "../../../observe/telemetry/index.ts";
import { PURPOSE, uniform } from "../../draws.ts";
import type { Program } from "../program.ts";
import type { TracingOptions } from "../spec.ts";
import type { Container } from "./container.ts";
import { BACKGROUND, type CallPool, FAILED, type RequestPool } from "./pools.ts";

export interface SpanLogOptions {
  readonly start: number;
  readonly program: Program;
  readonly tracing: TracingOptions;
  readonly nodes: number;
  readonly rng: Rng;
  readonly now: () => number;
}

interface Pools {
  readonly calls: CallPool;
  readonly requests: RequestPool;
}

const TEXTS = 1_024;

export class SpanLog {
  readonly overhead: number;
  /** For want of room, because nobody took the ones before. */
  dropped = 0;
  readonly #options: SpanLogOptions;
  /** By node, ms. */
  readonly #skew: Float64Array;
  readonly #prefix: string;
  #spans: Span[] = [];
  readonly #texts: string[] = new Array(TEXTS).fill("");
  readonly #textOf = new Float64Array(TEXTS);
  #traces = 0;
  #ids = 0;

  constructor(options: SpanLogOptions) {
    this.#options = options;
    this.overhead = options.tracing.overhead;
    const { rng, tracing, nodes } = options;
    this.#skew = Float64Array.from({ length: nodes }, () => rng.normal() * tracing.skew);
    // Traces of two worlds are not mistaken for each other.
    this.#prefix = hex(rng.uint32(), 8) + hex(rng.uint32(), 8);
  }

  /** The number of a new trace, or 0 where the request is not sampled. */
  startTrace(seed: number): number {
    const { sampling } = this.#options.tracing;
    if (sampling === 0 || (sampling < 1 && uniform(seed, -2, PURPOSE.loss) >= sampling)) return 0;
    return ++this.#traces;
  }

  nextId(): number {
    return ++this.#ids;
  }

  /** The span of a call that answers now. */
  record({ calls, requests }: Pools, call: number, container: Container): void {
    const { program, start, tracing, now } = this.#options;
    const request = calls.request[call]!;
    const node = calls.node[call]!;
    if (tracing.loss > 0 && uniform(requests.seed[request]!, node, PURPOSE.loss) < tracing.loss) return;
    if (this.#spans.length >= tracing.capacity) {
      this.dropped++;
      return;
    }
    const flags = calls.flags[call]!;
    const offset = start + this.#skew[container.node]!;
    const parent = calls.parentSpan[call]!;
    const startUs = Math.round((offset + calls.arrivedAt[call]!) * 1_000);
    const span: Span = {
      traceId: this.#traceId(requests.trace[request]!),
      spanId: hex16(calls.span[call]!),
      service: program.names[container.service] as string,
      instance: container.name,
      operation: program.application.requests[requests.type[request]!]!.name,
      kind: (flags & BACKGROUND) !== 0 ? "consumer" : "server",
      startUs,
      endUs: Math.max(startUs, Math.round((offset + now()) * 1_000)),
      status: (flags & FAILED) !== 0 ? "error" : "ok",
    };
    this.#spans.push(parent > 0 ? { ...span, parentId: hex16(parent) } : span);
  }

  /** Most spans are of one of the last few requests, so texts are made once for each. */
  #traceId(trace: number): string {
    const place = trace & (TEXTS - 1);
    if (this.#textOf[place] !== trace) {
      this.#textOf[place] = trace;
      this.#texts[place] = this.#prefix + hex(trace, 16);
    }
    return this.#texts[place] as string;
  }

  take(): readonly Span[] {
    const spans = this.#spans;
    this.#spans = [];
    return spans;
  }
}

const hex16 = (value: number): string => hex(value, 16);

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");
