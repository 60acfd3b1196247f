import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure, failureOf, milliseconds } from "../../base/index.ts";
import type { TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import { encodeRecords } from "../../learn/trajectory/index.ts";
import { memoryStore } from "./memory.ts";
import { connectStore } from "./remote-client.ts";
import type { StoreServer, StoreServerOptions } from "./remote-server.ts";
import { serveStore } from "./remote-server.ts";

const recordAt = (step: number): TrajectoryRecord => ({
  episode: "e" as EpisodeId,
  agent: "a" as AgentId,
  step,
  at: step as Ms,
  obs: Float32Array.of(step),
  proposed: Float32Array.of(0),
  executed: Float32Array.of(0),
  logProb: null,
  reward: 1,
  end: "no",
});

let servers: StoreServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});
async function serve(options: Partial<StoreServerOptions> & { store: TrajectoryStore }): Promise<StoreServer> {
  const server = await serveStore(options);
  servers.push(server);
  return server;
}

const failureFrom = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown) => failureOf(thrown) ?? { code: `uncoded: ${String(thrown)}`, message: "", retry: false },
  );

describe("an owner that is gone", () => {
  test("is a failure worth retrying, and the retry after its return stores nothing twice", async () => {
    const store = memoryStore();
    const server = await serveStore({ store });
    const port = Number(new URL(server.url).port);
    const client = connectStore({ url: server.url });
    await client.append([recordAt(0)]);
    await server.close();
    const gone = await failureFrom(client.append([recordAt(0), recordAt(1)]));
    expect(gone).toMatchObject({ code: "store.unavailable", retry: true });
    expect(gone?.message).toContain(`at ${server.url} is gone: it does not answer`);
    await serve({ store, port });
    expect(await client.append([recordAt(0), recordAt(1)])).toEqual({ added: 1, repeated: 1 });
  });

  test("that closes its store says so, and it too is worth retrying", async () => {
    const store = memoryStore();
    const { url } = await serve({ store });
    await store.close();
    expect(await failureFrom(connectStore({ url }).counts())).toMatchObject({ code: "store.unavailable", retry: true });
  });

  test("that hangs is given up after the timeout", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = connectStore({ url, timeout: milliseconds(60) });
    expect((await failureFrom(client.counts()))?.code).toBe("store.unavailable");
    silent.closeAllConnections();
    silent.close();
  });

  test("may take longer over a whole scan than over one answer, and so may the reader", async () => {
    const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
    const slow = memoryStore();
    slow.scan = async function* () {
      for (const step of [0, 1, 2]) {
        await pause(300);
        yield [recordAt(step)];
      }
    };
    const { url } = await serve({ store: slow });
    const seen: number[] = [];
    for await (const [record] of connectStore({ url, timeout: milliseconds(1_500) }).scan()) {
      seen.push(record?.step ?? -1);
      await pause(900);
    }
    expect(seen).toEqual([0, 1, 2]);
  });

  test("that falls silent within a scan is given up after the timeout", async () => {
    const silent = memoryStore();
    silent.scan = async function* () {
      yield [recordAt(0)];
      await new Promise(() => undefined);
    };
    const { url } = await serve({ store: silent });
    const seen: number[] = [];
    const read = async () => {
      const client = connectStore({ url, timeout: milliseconds(600) });
      for await (const [record] of client.scan()) seen.push(record?.step ?? -1);
    };
    expect(await failureFrom(read())).toMatchObject({ code: "store.unavailable", retry: true });
    expect(seen).toEqual([0]);
  });

  test("in the middle of a scan does not look like the end of the data", async () => {
    const half = createServer((_request, response) => {
      const batch = encodeRecords([recordAt(0)]);
      const head = Buffer.alloc(4);
      head.writeUInt32LE(batch.byteLength);
      // One whole frame, then half of another, then nothing.
      response.write(Buffer.concat([head, batch, head, batch.subarray(0, 20)]), () => response.destroy());
    });
    await new Promise<void>((resolve) => half.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(half.address() as AddressInfo).port}`;
    const { seen, failed } = await scanned(url);
    expect(failed).toMatchObject({ code: "store.unavailable", retry: true });
    expect(seen.length).toBeLessThanOrEqual(1);
    half.close();
  });

  test("only for the rest of a scan tells why, after what it could read", async () => {
    const breaking = memoryStore();
    breaking.scan = async function* () {
      yield [recordAt(0)];
      throw new CodedError(failure("store.corrupt", "a block is damaged"));
    };
    const { url } = await serve({ store: breaking });
    const { seen, failed } = await scanned(url);
    expect(seen).toEqual([0]);
    expect(failed).toMatchObject({ code: "store.corrupt", message: "a block is damaged", retry: false });
  });
});

async function scanned(url: string) {
  const seen: number[] = [];
  const read = async () => {
    for await (const batch of connectStore({ url }).scan()) seen.push(...batch.map((r) => r.step));
  };
  const failed = await failureFrom(read());
  return { seen, failed };
}

describe("limits", () => {
  test("a batch over the limit is refused whole", async () => {
    const store = memoryStore();
    const { url } = await serve({ store, bodyLimit: 2_000 });
    const client = connectStore({ url });
    const many = Array.from({ length: 100 }, (_, step) => recordAt(step));
    expect(await failureFrom(client.append(many))).toMatchObject({ code: "store.too-large", retry: false });
    expect((await store.counts()).records).toBe(0);
    expect(await client.append(many.slice(0, 10))).toEqual({ added: 10, repeated: 0 });
  });

  test("requests beyond the allowed number are turned away and counted, the others are answered", async () => {
    const store = memoryStore();
    const counts = store.counts.bind(store);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    store.counts = async () => {
      await held;
      return counts();
    };
    const server = await serve({ store, concurrency: 2 });
    const client = connectStore({ url: server.url });
    const first = [client.counts(), client.counts()];
    // The two are inside once a third is refused.
    await expect
      .poll(async () => (await failureFrom(client.recentRewards("a" as AgentId, 1)))?.code)
      .toBe("store.busy");
    release();
    await Promise.all(first);
    expect(server.refused).toBe(1);
    expect(await client.recentRewards("a" as AgentId, 1)).toEqual([]);
  });
});

describe("requests that no client of ours sends", () => {
  const post = async (url: string, path: string, init: RequestInit) => {
    const response = await fetch(`${url}/v1/trajectories/${path}`, { method: "POST", ...init });
    return { status: response.status, body: (await response.json()) as { code: string; message: string } };
  };

  test("a page in a browser cannot reach the store, because it cannot send the header", async () => {
    const { url } = await serve({ store: memoryStore() });
    const answer = await post(url, "counts", {});
    expect([answer.status, answer.body.code]).toEqual([403, "store.protocol"]);
    const preflight = await fetch(`${url}/v1/trajectories/append`, {
      method: "OPTIONS",
      headers: { origin: "http://example.test" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });

  /** `fetch` sets the Host header itself, so this is asked one level below. */
  const countsAsHost = (url: string, host: string) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const headers = { host, "x-coxswain-store": "1" };
      request(`${url}/v1/trajectories/counts`, { method: "POST", headers }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode, body }));
      })
        .on("error", reject)
        .end();
    });

  test("a page whose name was made to point here cannot reach the store, because it asks for its own host", async () => {
    const { url } = await serve({ store: memoryStore() });
    const { port } = new URL(url);
    for (const host of [
      `rebound.test:${port}`,
      `localhost.rebound.test:${port}`,
      `127.0.0.1.rebound.test`,
      "10.0.0.1",
    ]) {
      const { status, body } = await countsAsHost(url, host);
      expect([host, status, JSON.parse(body).code]).toEqual([host, 403, "store.host"]);
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST`, `[::1]:${port}`]) {
      expect([host, (await countsAsHost(url, host)).status]).toEqual([host, 200]);
    }
  });

  test("nonsense is answered with a code and a sentence, never with a stack", async () => {
    const { url } = await serve({ store: memoryStore() });
    const headers = { "x-coxswain-store": "1" };
    const cases: [string, string, number, string][] = [
      ["append", "garbage bytes here", 400, "trajectory.malformed"],
      ["rewards", "{", 400, "store.protocol"],
      ["rewards", '{"agent":"a","count":1,"more":2}', 400, "store.protocol"],
      ["rewards", '{"agent":"a b","count":1}', 400, "store.protocol"],
      ["episodes", '{"order":"top","count":-4}', 400, "store.query"],
      ["drop", "{}", 404, "store.protocol"],
    ];
    for (const [path, body, status, code] of cases) {
      const answer = await post(url, path, { headers, body });
      expect([path, answer.status, answer.body.code]).toEqual([path, status, code]);
      expect(answer.body.message).not.toMatch(/\n| at .*\.ts/);
    }
  });

  test("an owner that fails in an unforeseen way does not leak why", async () => {
    const store = memoryStore();
    store.counts = async () => {
      throw new Error("secret path /home/me");
    };
    const { url } = await serve({ store });
    const failed = await failureFrom(connectStore({ url }).counts());
    expect(failed?.code).toBe("store.io");
    expect(failed?.message).not.toContain("secret");
  });

  test("a port that is taken is a coded failure", async () => {
    const { url } = await serve({ store: memoryStore() });
    const port = Number(new URL(url).port);
    expect(await failureFrom(serveStore({ store: memoryStore(), port }))).toMatchObject({ code: "store.port" });
  });
});
