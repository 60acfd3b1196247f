import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { type Failure, type Ms, milliseconds, unwrap } from "../../base/index.ts";
import { NameTable, type Span, type SpanOffer, type SpanSink, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { type ForwardingSink, forwardSpans } from "./forward.ts";
import { encodeOtlp } from "./proto-encode.ts";
import { openSpanReceiver, type SpanReceiver } from "./receiver.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

class Owner implements SpanSink {
  readonly names = new NameTable();
  readonly spans: Span[] = [];
  busyFor = 0;

  offer(batch: Parameters<SpanSink["offer"]>[0]): SpanOffer {
    if (this.busyFor-- > 0) return { kind: "busy", retryAfter: 1 as Ms };
    for (let row = 0; row < batch.length; row++) this.spans.push(batch.spanAt(row));
    return { kind: "taken", unused: 0, why: "" };
  }
}

async function open(sink: SpanSink, tokens: readonly string[] = []): Promise<SpanReceiver> {
  const receiver = unwrap(await openSpanReceiver({ sink, httpPort: 0, grpcPort: null, tokens }));
  ends.push(() => receiver.close());
  return receiver;
}

const spans = spansOf(node("root", [0, 100], [node("a", [10, 20], [], { links: ["root"] })]));
const batchOf = (sink: ForwardingSink) => spanColumnsOf(spans, sink.names);

test("two receivers that hold nothing give all they get to one owner", async () => {
  const owner = new Owner();
  const token = "an-owners-own-token";
  const { httpPort } = await open(owner, [token]);
  const url = `http://127.0.0.1:${httpPort}/v1/traces`;
  const body = encodeOtlp(spanColumnsOf(spans, new NameTable()));
  for (let k = 0; k < 2; k++) {
    const sink = forwardSpans({ url, token });
    const replica = await open(sink);
    const answer = await fetch(`http://127.0.0.1:${replica.httpPort}/v1/traces`, {
      method: "POST",
      headers: { "content-type": "application/x-protobuf" },
      body: new Uint8Array(body),
    });
    expect(answer.status).toBe(200);
    await sink.close();
    expect(sink.counts()).toEqual({ batches: 1, spans: 2, lost: 0 });
  }
  expect(owner.spans).toEqual([...spans, ...spans]);
});

test("an owner without room is asked again, and gets everything once", async () => {
  const owner = new Owner();
  owner.busyFor = 1;
  const { httpPort } = await open(owner);
  const sink = forwardSpans({ url: `http://127.0.0.1:${httpPort}/v1/traces` });
  sink.offer(batchOf(sink));
  await sink.close();
  expect(owner.spans).toEqual(spans);
  expect(sink.counts()).toMatchObject({ lost: 0 });
});

test("what an owner refuses, and what can not be delivered in time, is lost, counted and told", async () => {
  const told: Failure[] = [];
  const refusing = createServer((_request, response) => {
    response.statusCode = 400;
    response.end();
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const { port } = refusing.address() as AddressInfo;
  const refused = forwardSpans({ url: `http://127.0.0.1:${port}/v1/traces`, onLoss: (why) => told.push(why) });
  refused.offer(batchOf(refused));
  await refused.close();
  refusing.close();
  const nobody = forwardSpans({
    url: `http://127.0.0.1:${port}/v1/traces`,
    giveUpAfter: milliseconds(300),
    onLoss: (why) => told.push(why),
  });
  nobody.offer(batchOf(nobody));
  await nobody.close();
  expect([refused.counts().lost, nobody.counts().lost]).toEqual([2, 2]);
  expect(told.map(({ code }) => code)).toEqual(["otlp.not-forwarded", "otlp.not-forwarded"]);
  expect(told[0]?.message).toContain("it answers 400");
});

test("a full receiver says so instead of growing", async () => {
  const owner = new Owner();
  owner.busyFor = Number.POSITIVE_INFINITY;
  const { httpPort } = await open(owner);
  const sink = forwardSpans({
    url: `http://127.0.0.1:${httpPort}/v1/traces`,
    maxWaiting: 2,
    giveUpAfter: milliseconds(1),
  });
  const offers = Array.from({ length: 6 }, () => sink.offer(batchOf(sink)).kind);
  // One may be on its way already, two wait.
  expect(offers.slice(0, 2)).toEqual(["taken", "taken"]);
  expect(offers.slice(3)).toEqual(["busy", "busy", "busy"]);
  await sink.close();
});
