/**
 * Messages with spans: good ones of any size, and the ones that cost a receiver most for their bytes.
 * Owns: what is in them. Not here: spoiling them (mutations.ts), sending them (otlp-senders.ts).
 */
import { createGzip, gzipSync } from "node:zlib";
import { encodeOtlp } from "../../src/adapters/otlp/index.ts";
import type { Rng } from "../../src/base/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../src/observe/telemetry/index.ts";

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** A request of `caller` that waits for `callee`, a moment ago: two spans. */
export function traceOf(traceId: string, { caller = "mobile", callee = "shop" } = {}): Span[] {
  const began = 1_000 * (Date.now() - 1_000);
  const span = (id: number, service: string, [from, to]: readonly [number, number]): Span => ({
    traceId,
    spanId: hex(id, 16),
    ...(id === 1 ? {} : { parentId: hex(1, 16) }),
    service,
    instance: `${service}-0`,
    operation: "order",
    kind: "server",
    startUs: began + from,
    endUs: began + to,
    status: "ok",
  });
  return [span(1, caller, [0, 90_000]), span(2, callee, [5_000, 85_000])];
}

export const protoOf = (spans: readonly Span[]): Uint8Array => encodeOtlp(spanColumnsOf(spans, new NameTable()));

export function jsonOf(spans: readonly Span[]): Uint8Array {
  const resourceSpans = spans.map(({ traceId, spanId, parentId, service, operation, startUs, endUs }) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
    scopeSpans: [
      {
        spans: [
          {
            traceId,
            spanId,
            parentSpanId: parentId ?? "",
            name: operation,
            kind: 2,
            startTimeUnixNano: `${startUs}000`,
            endTimeUnixNano: `${endUs}000`,
            attributes: [{ key: "n", value: { arrayValue: { values: [{ intValue: "1" }, { boolValue: true }] } } }],
          },
        ],
      },
    ],
  }));
  return Buffer.from(JSON.stringify({ resourceSpans }));
}

/** Traces of strangers: their ids begin with zeros, as nobody else's here. */
export function strangersSpans(rng: Rng): Span[] {
  const traces = 1 + rng.int(20);
  return Array.from({ length: traces }, () =>
    traceOf(hex(rng.uint32(), 32), { caller: `caller-${rng.int(50)}`, callee: `callee-${rng.int(50)}` }),
  ).flat();
}

export interface Specimen {
  readonly name: string;
  readonly body: Uint8Array;
  readonly type: "json" | "proto";
  readonly isPacked: boolean;
}

/** Small to send, large to take: what stopped a receiver once, and its relatives. */
export async function specimens(): Promise<readonly Specimen[]> {
  const json = (name: string, text: string): Specimen => ({
    name,
    body: Buffer.from(text),
    type: "json",
    isPacked: false,
  });
  return [
    { name: "21 M empty objects", body: await packedList("{}", 21_000_000), type: "json", isPacked: true },
    { name: "zeros for 256 MiB", body: await packedZeros(2 ** 28), type: "proto", isPacked: true },
    json("8 MB of brackets", "[".repeat(8_000_000)),
    json("objects in objects", '{"resourceSpans":'.repeat(400_000)),
    json("a number of a million digits", `{"resourceSpans":[${"9".repeat(1_000_000)}]}`),
    json("a text without end", `{"resourceSpans":"${"\\u0041".repeat(1_000_000)}`),
    json("a million keys", `{${Array.from({ length: 300_000 }, (_, k) => `"k${k}":0`).join(",")}}`),
    {
      name: "4 M empty resources",
      body: Buffer.alloc(8_000_000, Buffer.from([0x0a, 0])),
      type: "proto",
      isPacked: false,
    },
    {
      name: "8 M empty resources",
      body: gzipSync(Buffer.alloc(16_000_000, Buffer.from([0x0a, 0]))),
      type: "proto",
      isPacked: true,
    },
    { name: "groups in groups", body: Buffer.alloc(4_000_000, 0x0b), type: "proto", isPacked: false },
    { name: "20,000 spans", body: protoOf(manySpans(20_000)), type: "proto", isPacked: false },
  ];
}

const manySpans = (count: number): Span[] =>
  Array.from({ length: count / 2 }, (_, k) =>
    traceOf(hex(k + 1, 32), { caller: `many-${k}`, callee: `more-${k}` }),
  ).flat();

const packedList = (element: string, count: number): Promise<Uint8Array> => {
  const portion = Buffer.from(`${element},`.repeat(10_000));
  return packed('{"resourceSpans":[', { portion, times: count / 10_000 }, `${element}]}`);
};

const packedZeros = (bytes: number): Promise<Uint8Array> =>
  packed("", { portion: Buffer.alloc(2 ** 20), times: bytes / 2 ** 20 }, "");

/** Without ever having it whole in memory. */
async function packed(
  before: string,
  { portion, times }: { readonly portion: Buffer; readonly times: number },
  behind: string,
): Promise<Uint8Array> {
  const gzip = createGzip({ level: 1 });
  const parts: Buffer[] = [];
  gzip.on("data", (part: Buffer) => parts.push(part));
  gzip.write(before);
  for (let k = 0; k < times; k++) if (!gzip.write(portion)) await new Promise((next) => gzip.once("drain", next));
  gzip.end(behind);
  await new Promise((end) => gzip.once("end", end));
  return Buffer.concat(parts);
}
