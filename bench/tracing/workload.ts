/**
 * Requests of a shop as spans: twenty each, with ten attributes, calls one after the other and side by side.
 * Owns: the traces that all contenders read. Siblings either overlap well or are well apart, so that no contender's allowance
 * for wrong clocks decides, and all must find the same path.
 */
import { encodeOtlp, OtlpProtoDecoder } from "../../src/adapters/otlp/index.ts";
import { type Rng, seededRng, unwrap } from "../../src/base/index.ts";
import {
  encodeAttributes,
  NameTable,
  type Span,
  type SpanAttribute,
  SpanColumns,
} from "../../src/observe/telemetry/index.ts";

export const SPANS_PER_TRACE = 20;
/** What an OpenTelemetry collector sends at a time, about. */
const SPANS_PER_BODY = 1_000;
const SERVICES = [
  "frontend",
  "cart",
  "checkout",
  "catalog",
  "currency",
  "payment",
  "shipping",
  "email",
  "redis",
  "ads",
];

export interface Workload {
  readonly names: NameTable;
  readonly traces: readonly (readonly Span[])[];
  /** Messages as they would come: the spans of a trace lie in many of them. */
  readonly bodies: readonly Uint8Array[];
  readonly spans: number;
}

export function workload(traces: number): Workload {
  const rng = seededRng(7).fork("tracing");
  const made = Array.from({ length: traces }, (_, k) => traceOf(k + 1, rng));
  const names = new NameTable();
  // Each service sends its own spans, so those of one trace are spread over as many messages.
  const all = made.flat().sort((a, b) => (a.service < b.service ? -1 : a.service > b.service ? 1 : 0));
  const bodies: Uint8Array[] = [];
  for (let from = 0; from < all.length; from += SPANS_PER_BODY) {
    const columns = new SpanColumns(names);
    for (const span of all.slice(from, from + SPANS_PER_BODY)) columns.addSpan(span);
    bodies.push(encodeOtlp(columns));
  }
  return { names, traces: made, bodies: shuffled(bodies, rng), spans: all.length };
}

interface Draft {
  readonly id: number;
  readonly parent: Draft | undefined;
  readonly startUs: number;
  readonly endUs: number;
  readonly service: string;
}

function traceOf(number: number, rng: Rng): Span[] {
  const origin = 1.7e15 + number * 1_000;
  const root: Draft = {
    id: 1,
    parent: undefined,
    startUs: origin,
    endUs: origin + 1e6 + rng.int(1e6),
    service: "frontend",
  };
  const drafts = [root];
  const open = [root];
  while (drafts.length < SPANS_PER_TRACE) {
    const parent = open.shift() ?? root;
    for (const child of childrenOf(parent, { rng, from: drafts.length + 1 })) {
      if (drafts.length === SPANS_PER_TRACE) break;
      drafts.push(child);
      open.push(child);
    }
  }
  const traceId = `1${number.toString(16).padStart(31, "0")}`;
  return drafts.map((draft) => spanOf(draft, traceId, rng));
}

/** Up to four, in turn or side by side; ends differ by a twentieth of the parent at least. */
function childrenOf(parent: Draft, { rng, from }: { rng: Rng; from: number }): Draft[] {
  const count = 1 + rng.int(4);
  const isInTurn = rng.next() < 0.5;
  const duration = parent.endUs - parent.startUs;
  return Array.from({ length: count }, (_, k) => {
    const slot = duration / (count + 1);
    const start = isInTurn ? parent.startUs + slot * (k + 0.1) : parent.startUs + duration * 0.05;
    const length = isInTurn
      ? slot * (0.5 + 0.3 * rng.next())
      : duration * (0.3 + 0.5 * ((k + rng.next() * 0.5) / count));
    return {
      id: from + k,
      parent,
      startUs: Math.round(start),
      endUs: Math.round(start + length),
      service: SERVICES[rng.int(SERVICES.length)] as string,
    };
  });
}

function spanOf({ id, parent, startUs, endUs, service }: Draft, traceId: string, rng: Rng): Span {
  return {
    traceId,
    spanId: id.toString(16).padStart(16, "0"),
    ...(parent === undefined ? {} : { parentId: parent.id.toString(16).padStart(16, "0") }),
    service,
    // One instance per span: the spans of one clock need no skew to be looked for, which would be too easy.
    instance: `${service}-${rng.int(3)}`,
    operation: `${service}.Handle${rng.int(8)}`,
    kind: "server",
    startUs,
    endUs,
    status: rng.next() < 0.01 ? "error" : "unset",
    attributes: attributesOf(rng),
  };
}

function attributesOf(rng: Rng) {
  return {
    "http.request.method": "GET",
    "http.route": `/api/v1/items/${rng.int(100)}`,
    "http.response.status_code": 200,
    "server.address": "shop.example",
    "server.port": 8080,
    "network.peer.address": `10.0.${rng.int(255)}.${rng.int(255)}`,
    "user_agent.original": "load-generator/2.1",
    "thread.id": rng.int(64),
    "app.user.id": `user-${rng.int(1e6)}`,
    "app.cache.hit": rng.next() < 0.5,
  };
}

function shuffled<T>(items: readonly T[], rng: Rng): T[] {
  const list = [...items];
  for (let k = list.length - 1; k > 0; k--) {
    const other = rng.int(k + 1);
    [list[k], list[other]] = [list[other] as T, list[k] as T];
  }
  return list;
}

/** The same traces as a file of Jaeger's. */
export function jaegerDocument({ traces }: Workload): string {
  const data = traces.map((spans) => {
    const services = [...new Set(spans.map(({ service, instance }) => `${service} ${instance}`))];
    return {
      traceID: spans[0]?.traceId,
      spans: spans.map((span) => ({
        traceID: span.traceId,
        spanID: span.spanId,
        operationName: span.operation,
        references:
          span.parentId === undefined ? [] : [{ refType: "CHILD_OF", traceID: span.traceId, spanID: span.parentId }],
        startTime: span.startUs,
        duration: span.endUs - span.startUs,
        tags: Object.entries(span.attributes ?? {}).map(([key, value]) => ({ key, type: typeof value, value })),
        logs: [],
        processID: `p${services.indexOf(`${span.service} ${span.instance}`)}`,
      })),
      processes: Object.fromEntries(
        services.map((name, k) => {
          const [serviceName, hostname] = name.split(" ");
          return [`p${k}`, { serviceName, tags: [{ key: "hostname", type: "string", value: hostname }] }];
        }),
      ),
    };
  });
  return JSON.stringify({ data });
}

/** One trace as columns whose ids and times are set anew for every copy: for counting in millions. */
export function template(names: NameTable): SpanColumns {
  const spans = traceOf(1, seededRng(1));
  const columns = new SpanColumns(names, SPANS_PER_TRACE);
  for (const { attributes, ...span } of spans) {
    columns.addSpan(span);
    const bytes = encodeAttributes(attributes ?? {});
    columns.setAttributes(columns.length - 1, bytes, { from: 0, to: bytes.length });
  }
  return columns;
}

/** The same messages as OTLP's JSON, as an exporter writes them. */
export function otlpJsonBodies({ bodies }: Workload): readonly Uint8Array[] {
  const decoder = new OtlpProtoDecoder(new NameTable());
  return bodies.map((body) => {
    const { batch } = unwrap(decoder.decode(body));
    const sources = new Map<string, Span[]>();
    for (let row = 0; row < batch.length; row++) {
      const span = batch.spanAt(row);
      const source = `${span.service} ${span.instance}`;
      sources.set(source, [...(sources.get(source) ?? []), span]);
    }
    return new TextEncoder().encode(JSON.stringify({ resourceSpans: [...sources.values()].map(resourceSpansOf) }));
  });
}

function resourceSpansOf(spans: readonly Span[]) {
  const [{ service, instance } = { service: "", instance: "" }] = spans;
  return {
    resource: { attributes: [attributeOf("service.name", service), attributeOf("k8s.pod.name", instance)] },
    scopeSpans: [{ scope: { name: "shop" }, spans: spans.map(jsonSpanOf) }],
  };
}

const jsonSpanOf = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentId ?? "",
  name: span.operation,
  kind: 2,
  startTimeUnixNano: String(BigInt(span.startUs) * 1_000n),
  endTimeUnixNano: String(BigInt(span.endUs) * 1_000n),
  attributes: Object.entries(span.attributes ?? {}).map(([key, value]) => attributeOf(key, value)),
  status: span.status === "error" ? { code: 2 } : {},
});

function attributeOf(key: string, value: SpanAttribute) {
  if (typeof value === "string") return { key, value: { stringValue: value } };
  if (typeof value === "boolean") return { key, value: { boolValue: value } };
  return { key, value: { intValue: String(value) } };
}
