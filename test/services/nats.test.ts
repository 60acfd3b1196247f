import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectNats, type NatsLink, openBucket } from "../../src/adapters/nats/index.ts";
import { milliseconds, unwrap } from "../../src/base/index.ts";
import { type NatsServer, startNats } from "./nats-server.ts";

let server: NatsServer;
beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server?.stop());

const open = async (): Promise<NatsLink> => unwrap(await connectNats({ servers: [server.url], name: "a test" }));
const parse = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const until = async (isSo: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 200 && !isSo(); tries++) await new Promise((resolve) => setTimeout(resolve, 50));
};

describe("a connection to NATS", () => {
  test("comes back after the server was killed, and asks and answers go on", async () => {
    const [asks, answers] = [await open(), await open()];
    answers.connection.subscribe("double", {
      callback: (_, message) => {
        message.respond(String(2 * Number(message.string())));
      },
    });
    const states: string[] = [];
    asks.onState((state) => states.push(state));
    expect((await asks.connection.request("double", "21")).string()).toBe("42");
    await server.kill();
    await until(() => asks.state === "disconnected");
    expect(asks.state).toBe("disconnected");
    await server.restart();
    await until(() => asks.state === "connected" && answers.state === "connected");
    expect((await asks.connection.request("double", "4")).string()).toBe("8");
    await asks.close();
    await answers.close();
    expect(states).toEqual(["disconnected", "connected", "closed"]);
  });

  test("a server that wants a token refuses whoever has none, and says so", async () => {
    const guarded = await startNats({ args: ["--auth", "a-token-of-this-test"] });
    try {
      const refused = await connectNats({ servers: [guarded.url], name: "a test" });
      expect(refused).toMatchObject({ ok: false, failure: { code: "nats.refused" } });
      const taken = await connectNats({
        servers: [guarded.url],
        name: "a test",
        access: { kind: "token", token: "a-token-of-this-test" },
      });
      await unwrap(taken).close();
    } finally {
      await guarded.stop();
    }
  });

  test("a server without JetStream is told apart", async () => {
    const plain = await startNats({ jetStream: false });
    try {
      const link = unwrap(await connectNats({ servers: [plain.url], name: "a test" }));
      const bucket = await openBucket(link, { name: "numbers", parse });
      expect(bucket).toMatchObject({ ok: false, failure: { code: "nats.no-jetstream" } });
      await link.close();
    } finally {
      await plain.stop();
    }
  });
});

describe("a bucket", () => {
  test("keeps values when the server is killed, and drops those that are too old", async () => {
    const link = await open();
    const kept = unwrap(await openBucket(link, { name: "kept", parse }));
    const brief = unwrap(await openBucket(link, { name: "brief", parse, maxAge: milliseconds(3_000) }));
    unwrap(await kept.put("a", 1));
    unwrap(await brief.put("a", 2));
    expect(unwrap(await brief.get("a"))?.value).toBe(2);
    await server.restart();
    await until(() => link.state === "connected");
    expect(unwrap(await kept.entries()).entries.map(({ key, value }) => [key, value])).toEqual([["a", 1]]);
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    expect(unwrap(await brief.get("a"))).toBeUndefined();
    expect(unwrap(await brief.entries()).entries).toEqual([]);
    await link.close();
  });

  test("that is there already is given the age that is asked for now", async () => {
    const link = await open();
    for (const maxAge of [milliseconds(60_000), milliseconds(1_000), milliseconds(1_000)])
      unwrap(await openBucket(link, { name: "aging", parse, maxAge }));
    const aging = unwrap(await openBucket(link, { name: "aging", parse, maxAge: milliseconds(1_000) }));
    unwrap(await aging.put("a", 1));
    await expect.poll(async () => unwrap(await aging.get("a")), { timeout: 5_000 }).toBeUndefined();
    await link.close();
  });

  test("refuses a write where somebody else wrote in between", async () => {
    const link = await open();
    const bucket = unwrap(await openBucket(link, { name: "counters", parse }));
    const first = unwrap(await bucket.put("next", 1, { revision: 0 }));
    expect(await bucket.put("next", 5, { revision: 0 })).toMatchObject({ failure: { code: "nats.conflict" } });
    unwrap(await bucket.put("next", 2, { revision: first }));
    expect(await bucket.put("next", 3, { revision: first })).toMatchObject({ failure: { code: "nats.conflict" } });
    unwrap(await bucket.remove("next"));
    expect(unwrap(await bucket.get("next"))).toBeUndefined();
    await link.close();
  });
});
