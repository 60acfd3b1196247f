import { expect, test } from "vitest";
import { event, START, type Stage, samples, serverStage } from "../../test/fixtures/server/fake-plane.ts";
import { laggedSchema, snapshotSchema, updatesSchema } from "../contract/schemas/index.ts";

interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Reads what has arrived, without waiting for more than `count` messages. */
function readerOf(answer: Response) {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  const messages: Message[] = [];
  const comments: string[] = [];
  const parse = (): void => {
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      if (lines[0]?.startsWith(":")) comments.push(lines[0]);
      else messages.push({ id: field("id"), event: field("event"), data: JSON.parse(field("data")) as unknown });
    }
  };
  return {
    comments,
    async next(count: number): Promise<Message[]> {
      while (messages.length < count) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        parse();
      }
      return messages.splice(0, count);
    },
    async comment(): Promise<string> {
      while (comments.length === 0) {
        const { value } = await reader.read();
        text += decoder.decode(value, { stream: true });
        parse();
      }
      return comments.shift() ?? "";
    },
    cancel: () => reader.cancel(),
    isDone: async () => (await reader.read()).done,
  };
}

const open = async (stage: Stage, lastEventId?: string) =>
  readerOf(
    await stage.ask("/v1/stream", lastEventId === undefined ? {} : { headers: { "last-event-id": lastEventId } }),
  );

const textsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ data }) =>
    updatesSchema.parse(data).flatMap((update) => (update.kind === "event" ? update.event.text : [])),
  );

test("a snapshot comes first, then what happens, and both are what the contract says", async () => {
  const stage = serverStage();
  stage.plane.send(event("before"));
  const stream = await open(stage);
  const [first] = await stream.next(1);
  expect(first?.event).toBe("snapshot");
  expect(snapshotSchema.parse(first?.data)).toMatchObject({
    overview: { workloads: [{ id: "cart" }, { id: "pay" }] },
    agents: [{ id: "cart-agent" }, { id: "pay-agent" }],
    events: [{ text: "before" }],
  });
  stage.clock.move(100);
  stage.plane.send(samples(START + 1, ["cart"]), event("after"));
  const [second] = await stream.next(1);
  expect(second?.event).toBe("updates");
  expect(updatesSchema.parse(second?.data).map(({ kind }) => kind)).toEqual(["samples", "event"]);
  expect(second?.id).not.toBe(first?.id);
});

test("updates that come within a portion's time are sent together", async () => {
  const stage = serverStage();
  const stream = await open(stage);
  await stream.next(1);
  stage.clock.move(100);
  stage.plane.send(event("one"));
  stage.plane.send(event("two"));
  stage.plane.send(event("three"));
  stage.clock.move(100);
  const messages = await stream.next(2);
  expect(messages.map((message) => textsOf([message]))).toEqual([["one"], ["two", "three"]]);
});

test("a client that comes back gets what it missed and no snapshot", async () => {
  const stage = serverStage();
  const stream = await open(stage);
  await stream.next(1);
  const send = (text: string) => {
    stage.clock.move(100);
    stage.plane.send(event(text));
  };
  send("seen");
  const [seen] = await stream.next(1);
  await stream.cancel();
  send("missed 1");
  send("missed 2");
  const again = await open(stage, seen?.id);
  expect(textsOf(await again.next(2))).toEqual(["missed 1", "missed 2"]);
  send("live");
  expect(textsOf(await again.next(1))).toEqual(["live"]);
});

test.each([
  ["of another run", "otherrun.3"],
  ["of the future", undefined],
  ["that is none", "what?"],
])("an id %s gives a snapshot", async (_what, given) => {
  const stage = serverStage();
  const [first] = await (await open(stage)).next(1);
  const id = given ?? `${first?.id.split(".")[0]}.999`;
  expect((await (await open(stage, id)).next(1))[0]?.event).toBe("snapshot");
});

test("an id that is too long ago gives a snapshot", async () => {
  const stage = serverStage({ limits: { resumeBytes: 1 } });
  const [first] = await (await open(stage)).next(1);
  for (const text of ["one", "two", "three"]) {
    stage.clock.move(100);
    stage.plane.send(event(text));
  }
  expect((await (await open(stage, first?.id)).next(1))[0]?.event).toBe("snapshot");
});

test("a reader that does not read loses samples, not memory; once it reads it is told how many, and starts anew", async () => {
  const stage = serverStage({ limits: { backlogBytes: 20_000 } });
  const stream = await open(stage);
  await stream.next(1);
  const sent = 200;
  for (let step = 1; step <= sent; step += 1) {
    stage.clock.move(100);
    stage.plane.send(samples(START + step, ["cart", "pay"]));
  }
  const got: Message[] = [];
  let lagged: Message | undefined;
  while (lagged === undefined) {
    const [message] = await stream.next(1);
    if (message?.event === "lagged") lagged = message;
    else if (message !== undefined) got.push(message);
  }
  const [anew] = await stream.next(1);
  expect(anew?.event).toBe("snapshot");
  expect(snapshotSchema.parse(anew?.data).overview.worlds[0]?.at).toBe(START + sent);
  // Two samples per portion: what arrived and what was lost make the whole.
  const lost = laggedSchema.parse(lagged.data).samples;
  expect(got.length * 2 + lost).toBe(sent * 2);
  expect(JSON.stringify(got).length).toBeLessThan(25_000);
  const metrics = (await (await stage.ask("/v1/metrics")).json()) as { server: unknown };
  expect(metrics.server).toEqual({ streams: 1, samplesDropped: lost, updatesRefused: 0 });
  stage.clock.move(100);
  stage.plane.send(event("live again"));
  expect(textsOf(await stream.next(1))).toEqual(["live again"]);
});

test("a slow reader costs a quick one nothing", async () => {
  const stage = serverStage({ limits: { backlogBytes: 20_000 } });
  const slow = await open(stage);
  const quick = await open(stage);
  await quick.next(1);
  for (let step = 1; step <= 100; step += 1) {
    stage.clock.move(100);
    stage.plane.send(samples(START + step, ["cart", "pay"]));
    expect((await quick.next(1))[0]?.event).toBe("updates");
  }
  await slow.cancel();
});

test("a heartbeat comes while nothing happens", async () => {
  const stage = serverStage();
  const stream = await open(stage);
  await stream.next(1);
  stage.clock.move(15_000);
  expect(await stream.comment()).toBe(": still here");
});

test("streams are counted, limited, and freed by a reader that goes", async () => {
  const stage = serverStage({ limits: { streams: 1 } });
  const stream = await open(stage);
  const refused = await stage.ask("/v1/stream");
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: "server.too-many-streams" });
  await stream.cancel();
  expect((await stage.ask("/v1/stream")).status).toBe(200);
});

test("one name has only so many streams, and viewers leave some to operators", async () => {
  const tokens = [
    { name: "ann", role: "viewer", secret: "viewer-secret-0123456789" },
    { name: "eve", role: "viewer", secret: "another-secret-0123456789" },
    { name: "bob", role: "operator", secret: "operator-secret-0123456789" },
  ] as const;
  const limits = { streams: 5, streamsPerName: 2, streamsForOperators: 2 };
  const stage = serverStage({ limits, access: { kind: "tokens", tokens } });
  const statusFor = async (which: 0 | 1 | 2) =>
    (await stage.ask("/v1/stream", { headers: { authorization: `Bearer ${tokens[which].secret}` } })).status;
  expect([await statusFor(0), await statusFor(0), await statusFor(0)]).toEqual([200, 200, 503]);
  expect([await statusFor(1), await statusFor(1)]).toEqual([200, 503]);
  expect([await statusFor(2), await statusFor(2), await statusFor(2)]).toEqual([200, 200, 503]);
});

test("HEAD opens no stream", async () => {
  const stage = serverStage();
  const answer = await stage.ask("/v1/stream", { method: "HEAD" });
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  expect(await (await stage.ask("/v1/metrics")).json()).toMatchObject({ server: { streams: 0 } });
});

test("closing ends every stream, and a later one at once", async () => {
  const stage = serverStage();
  const stream = await open(stage);
  await stream.next(1);
  stage.app.close();
  expect(await stream.isDone()).toBe(true);
  expect(await (await open(stage)).next(1)).toEqual([]);
});

test("what was told before a restart goes to no stream", async () => {
  const stage = serverStage();
  const stream = await open(stage);
  await stream.next(1);
  stage.plane.sendPast(event("from before"));
  stage.plane.send(event("from now"));
  expect(textsOf(await stream.next(1))).toEqual(["from now"]);
});
