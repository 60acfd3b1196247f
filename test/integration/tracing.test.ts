/** Spans of two programs with OpenTelemetry's own exporter, through the receiver and the coordinator, into the store. */
import { join } from "node:path";
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, expect, test } from "vitest";
import { openSpanReceiver } from "../../src/adapters/otlp/index.ts";
import { openTraceStore } from "../../src/adapters/store/index.ts";
import { milliseconds, unwrap } from "../../src/base/index.ts";
import { NameTable, type SpanSink } from "../../src/observe/telemetry/index.ts";
import { TracingCoordinator } from "../../src/observe/tracing/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const BEGIN = 1_700_000_000;
/** Milliseconds after BEGIN, as OpenTelemetry takes times. */
const at = (ms: number): [number, number] => [BEGIN, ms * 1_000_000];

test("a slow database is found from what its clients and servers export", async () => {
  const folder = temporaryFolder("tracing");
  const store = await openTraceStore({ path: join(folder, "traces.duckdb") });
  ends.push(() => store.close());

  const names = new NameTable();
  const coordinator = new TracingCoordinator(names);
  const now = milliseconds(BEGIN * 1_000 + 60_000);
  const sink: SpanSink = {
    names,
    offer(batch) {
      const used = coordinator.admit(batch, now);
      return { kind: "taken", unused: batch.length - used, why: "" };
    },
  };
  const receiver = unwrap(await openSpanReceiver({ sink, httpPort: 0, grpcPort: null }));
  ends.push(() => receiver.close());

  const program = (service: string, pod: string) => {
    const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${receiver.httpPort}/v1/traces` });
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ "service.name": service, "k8s.pod.name": pod }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    return { provider, tracer: provider.getTracer("test") };
  };
  const shop = program("shop", "shop-5d9");
  const database = program("database", "database-0");

  for (let request = 0; request < 30; request++) {
    const root = shop.tracer.startSpan("GET /cart", { kind: SpanKind.SERVER, startTime: at(request) });
    const within = trace.setSpan(ROOT_CONTEXT, root);
    const call = shop.tracer.startSpan("query", { kind: SpanKind.CLIENT, startTime: at(request + 2) }, within);
    // The database's clock is 96 ms ahead: its span would begin after its client had the answer.
    const context: Context = trace.setSpan(ROOT_CONTEXT, call);
    const query = database.tracer.startSpan("SELECT", { kind: SpanKind.SERVER, startTime: at(request + 103) }, context);
    if (request === 7) query.setStatus({ code: SpanStatusCode.ERROR });
    query.end(at(request + 143));
    call.end(at(request + 52));
    root.end(at(request + 55));
  }
  // The servers' spans come before the roots they belong to.
  await database.provider.shutdown();
  await shop.provider.shutdown();
  expect(receiver.counts()).toMatchObject({ spans: 90, refused: {} });

  const traces = coordinator.flush(now);
  if (traces === null) throw new Error("no trace came out");
  await store.append(traces);
  expect(coordinator.assembler.counts()).toMatchObject({ traces: 30, orphans: 0, skewed: 30 });
  expect(coordinator.signatures.requestTypes()).toEqual([
    expect.objectContaining({
      name: "shop/GET /cart",
      requests: 30,
      paths: [
        expect.objectContaining({
          signature: "shop/GET /cart > shop/query > database/SELECT",
          // 5 ms of the shop's own, 10 ms on the network, 40 ms in the database.
          exclusiveUs: [5_000, 10_000, 40_000],
        }),
      ],
    }),
  ]);

  expect(await store.serviceGraph({ vertices: "instances" })).toEqual([
    {
      caller: "shop-5d9",
      callee: "database-0",
      calls: 30,
      errors: 1,
      meanUs: 40_000,
      p99Us: 40_000,
      criticalCalls: 30,
    },
  ]);
  const [slowest] = await store.find({ service: "database", order: "slowest", limit: 1 });
  const kept = await store.trace(slowest?.traceId ?? "");
  expect(kept?.spans.map(({ service, parent, criticalUs }) => [service, parent, criticalUs])).toEqual([
    ["shop", -1, 5_000],
    ["shop", 0, 10_000],
    ["database", 1, 40_000],
  ]);
  // Put in the middle of the call: 5 ms there, 5 ms back.
  const [, call, query] = kept?.spans ?? [];
  expect((query?.startUs ?? 0) - (call?.startUs ?? 0)).toBe(5_000);
});
