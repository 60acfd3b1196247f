/**
 * Traces of the control loop over OTLP: one span per turn, one child per phase.
 * Owns: whether there is an endpoint to send them to, the spans and their attributes, what becomes of failed exports.
 * Not here: the phases (control/loop's turn-watch.ts). It is off unless OTEL_EXPORTER_OTLP_ENDPOINT, or the one for
 * traces alone, is set; then nothing of OpenTelemetry is called in a turn.
 *
 * Sampling, batches, headers and time limits are OpenTelemetry's own variables (OTEL_TRACES_SAMPLER, OTEL_BSP_…). Spans that
 * wait for a slow receiver are bounded in number and dropped beyond it, so a receiver cannot hold up or fill the process.
 */
import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Setting } from "../../act/index.ts";
import type { AgentId, Failure, Result, WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { AgentTick, TurnPhase, TurnWatcher, WatchedTurn } from "../../control/loop/index.ts";

export interface TracingOptions {
  /** The environment's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The version of the program, told with every span. */
  readonly version: string;
  /** Told once when exports begin to fail, and not again until one has succeeded. */
  readonly onFailure?: (failure: Failure) => void;
}

export interface Tracing {
  readonly watcher: TurnWatcher;
  /** Sends what waits, then ends; a receiver that does not answer is waited for only as long as an export may take. */
  close(): Promise<void>;
}

/** Nothing where no endpoint is set. */
export function openTracing({ env, version, onFailure }: TracingOptions): Result<Tracing | undefined> {
  const url = tracesUrl(env);
  if (!url.ok || url.value === undefined) return url as Result<undefined>;
  const exporter = telling(new OTLPTraceExporter({ url: url.value }), onFailure);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": env.OTEL_SERVICE_NAME ?? "coxswain",
      "service.version": version,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  return ok({
    watcher: turnTracer(provider.getTracer("coxswain/control-loop", version)),
    close: () => provider.shutdown().catch(() => undefined),
  });
}

function tracesUrl(env: TracingOptions["env"]): Result<string | undefined> {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const general = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const given = own || general;
  if (!given || env.OTEL_SDK_DISABLED?.toLowerCase() === "true") return ok(undefined);
  const found = URL.canParse(given) ? new URL(given) : undefined;
  if (found?.protocol !== "http:" && found?.protocol !== "https:")
    return err(
      failure(
        "tracing.endpoint",
        `the OTLP endpoint '${given.slice(0, 100)}' is no http or https address; set OTEL_EXPORTER_OTLP_ENDPOINT to one such as http://127.0.0.1:4318, or unset it to send no traces`,
      ),
    );
  return ok(own ? given : `${given.replace(/\/+$/, "")}/v1/traces`);
}

function telling(exporter: SpanExporter, onFailure: TracingOptions["onFailure"]): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0 && !isFailing) onFailure?.(notSent(result.error));
        isFailing = result.code !== 0;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

function notSent(cause: unknown): Failure {
  const words = cause instanceof Error ? cause.message : String(cause);
  return failure(
    "tracing.export",
    `spans could not be sent and are lost until it works again: ${words.slice(0, 200)}; check the receiver at OTEL_EXPORTER_OTLP_ENDPOINT`,
    { retry: true, cause },
  );
}

/**
 * Milliseconds since 1970 with all digits, for all spans of a turn alike. Left alone, each span begins at a whole
 * millisecond of its own, and a decision of microseconds can seem to end after the turn that it belongs to.
 */
const now = (): number => performance.timeOrigin + performance.now();

const unsampled: WatchedTurn = Object.freeze({ enter: () => {}, end: () => {} });

/** Contexts are handed on by hand: a turn waits in between, and an ambient one would cost every promise of the process. */
export function turnTracer(tracer: Tracer): TurnWatcher {
  return {
    begin(agent, workload) {
      const attributes = attributesOf(agent, workload);
      const span = tracer.startSpan("turn", { root: true, attributes, startTime: now() }, ROOT_CONTEXT);
      return span.isRecording() ? new TracedTurn(tracer, span) : unsampled;
    },
  };
}

const attributesOf = (agent: AgentId, workload: WorkloadId) => ({
  "coxswain.agent": agent,
  "coxswain.workload": workload,
});

class TracedTurn implements WatchedTurn {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  #phase: Span | undefined;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
    this.#context = trace.setSpan(ROOT_CONTEXT, span);
  }

  enter(phase: TurnPhase): void {
    const startTime = now();
    this.#phase?.end(startTime);
    this.#phase = this.#tracer.startSpan(`loop.${phase}`, { startTime }, this.#context);
  }

  end(tick: AgentTick | undefined, applied: Result<Setting> | null): void {
    const at = now();
    this.#phase?.end(at);
    if (tick === undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: "the agent crashed" });
    else {
      this.#span.setAttributes({
        "coxswain.stage": tick.stage,
        "coxswain.who": tick.who,
        "coxswain.why": tick.why.map(({ by, rule, knob }) =>
          knob === undefined ? `${by}: ${rule}` : `${by}: ${rule} (${knob})`,
        ),
        "coxswain.action": tick.action.kind,
      });
      if (applied !== null && !applied.ok)
        this.#span.setStatus({ code: SpanStatusCode.ERROR, message: applied.failure.code });
    }
    this.#span.end(at);
  }
}
