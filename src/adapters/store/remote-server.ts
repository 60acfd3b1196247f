/**
 * The owner's side of the remote store: one store, offered to other processes of this host over HTTP.
 * Owns: routes, limits on size and on requests at a time, failures as answers.
 * Not here: the other end (remote-client.ts), access from other hosts (it listens on loopback, which is no option; put
 * a proxy that authenticates in front to go further, and let it name this host by its loopback address).
 */

import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Context } from "hono";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as z from "zod";
import type { Failure } from "../../base/index.ts";
import { CodedError, failure, failureOf, seededRng } from "../../base/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import { decodeCompletions, decodeRecords, encodeRecords, encodeTransitions } from "../../learn/trajectory/index.ts";
import {
  BINARY,
  DEFAULT_BODY_LIMIT,
  EpisodeRequest,
  EpisodesQuery,
  FAILURE_FRAME,
  ForgetRequest,
  GUARD_HEADER,
  PREFIX,
  RecentQuery,
  SampleRequest,
} from "./remote-protocol.ts";

export interface StoreServerOptions {
  readonly store: TrajectoryStore;
  /** 0 takes a free one. */
  readonly port?: number;
  readonly bodyLimit?: number;
  /** More requests than this at a time are turned away with `store.busy`. */
  readonly concurrency?: number;
}

export interface StoreServer {
  readonly url: string;
  /** Requests turned away since the start. */
  readonly refused: number;
  /** Answers what is under way, then stops listening; the store stays open. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Names of this host that no stranger can give to it. */
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

export async function serveStore(options: StoreServerOptions): Promise<StoreServer> {
  const load = { active: 0, refused: 0, limit: options.concurrency ?? 64 };
  const app = buildApp(options.store, { limit: options.bodyLimit ?? DEFAULT_BODY_LIMIT, load });
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new CodedError(portFailure(options.port ?? 0, cause))));
    server.listen(options.port ?? 0, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${port}`,
    get refused() {
      return load.refused;
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        if ("closeIdleConnections" in server) server.closeIdleConnections();
      }),
  };
}

interface Load {
  active: number;
  refused: number;
  readonly limit: number;
}

function buildApp(store: TrajectoryStore, { limit, load }: { limit: number; load: Load }): Hono {
  const app = new Hono().basePath(PREFIX);
  app.use(async (c, next) => {
    // A page whose own name was made to point to loopback may send any header, but not change whom it asks.
    if (!OWN_HOST.test(c.req.header("host") ?? "")) return answerFailure(c, hostFailure(), 403);
    if (c.req.header(GUARD_HEADER) === undefined) return answerFailure(c, strangerFailure(), 403);
    if (load.active >= load.limit) {
      load.refused += 1;
      return answerFailure(c, busyFailure(load.limit), 503);
    }
    load.active += 1;
    try {
      await next();
    } finally {
      load.active -= 1;
    }
  });
  app.use(bodyLimit({ maxSize: limit, onError: (c) => answerFailure(c, tooLarge(limit), 413) }));
  app.onError((error, c) => answerFailure(c, publicFailure(error), statusOf(error)));
  app.notFound((c) =>
    answerFailure(
      c,
      failure("store.protocol", "the trajectory store has no such call; use the same version on both ends"),
      404,
    ),
  );

  app.post("/append", async (c) => c.json(await store.append(decodeRecords(await bytesOf(c)))));
  app.post("/complete", async (c) => c.json(await store.complete(decodeCompletions(await bytesOf(c)))));
  app.post("/counts", async (c) => c.json(await store.counts()));
  app.post("/forget", async (c) =>
    c.json({ forgotten: await store.forget((await parsed(c, ForgetRequest)).episodes) }),
  );
  app.post("/rewards", async (c) => {
    const { agent, count } = await parsed(c, RecentQuery);
    return c.json(await store.recentRewards(agent, count));
  });
  app.post("/recent", async (c) => {
    const { agent, count } = await parsed(c, RecentQuery);
    return c.json(await store.recentEpisodes(agent, count));
  });
  app.post("/episodes", async (c) => {
    const { order, count, agent } = await parsed(c, EpisodesQuery);
    const query = { count, ...(agent === undefined ? {} : { agent }) };
    const ask = { top: "topEpisodes", bottom: "bottomEpisodes", oldest: "oldestEpisodes" } as const;
    return c.json(await store[ask[order]](query));
  });
  app.post("/sample", async (c) => {
    const { count, seed, agent } = await parsed(c, SampleRequest);
    const query = { count, rng: seededRng(seed), ...(agent === undefined ? {} : { agent }) };
    return answerBytes(c, encodeTransitions(await store.sample(query)));
  });
  app.post("/episode", async (c) =>
    answerBytes(c, encodeRecords(await store.episode((await parsed(c, EpisodeRequest)).episode))),
  );
  app.post("/scan", (c) => {
    c.header("content-type", BINARY);
    return c.body(framesOf(store));
  });
  return app;
}

/** Pulled by the reader, so a slow one slows the scan and nothing piles up here. */
function framesOf(store: TrajectoryStore): ReadableStream<Uint8Array> {
  const batches = store.scan()[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await batches.next();
        const batch = next.done === true ? new Uint8Array(0) : encodeRecords(next.value);
        controller.enqueue(lengthBytes(batch.byteLength));
        if (next.done === true) controller.close();
        else controller.enqueue(batch);
      } catch (thrown) {
        // The status has long been sent, so the failure travels in the stream.
        const { code, message, retry } = publicFailure(thrown);
        controller.enqueue(lengthBytes(FAILURE_FRAME));
        controller.enqueue(new TextEncoder().encode(JSON.stringify({ code, message, retry })));
        controller.close();
      }
    },
    async cancel() {
      await batches.return?.();
    },
  });
}

function lengthBytes(length: number): Uint8Array {
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, length, true);
  return head;
}

async function bytesOf(c: Context): Promise<Uint8Array> {
  return new Uint8Array(await c.req.arrayBuffer());
}

async function parsed<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const body: unknown = await c.req.json().catch(() => undefined);
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const what = issue === undefined ? "it does not fit" : `${issue.path.join(".") || "the body"}: ${issue.message}`;
  throw new CodedError(
    failure(
      "store.protocol",
      `a question to the trajectory store was not understood (${what}); use the same version on both ends`,
    ),
  );
}

function answerBytes(c: Context, data: Uint8Array<ArrayBuffer>): Response {
  return c.body(data, 200, { "content-type": BINARY });
}

function answerFailure(
  c: Context,
  { code, message, retry }: Failure,
  status: 400 | 403 | 404 | 409 | 413 | 500 | 503,
): Response {
  return c.json({ code, message, retry }, status);
}

/** An owner that is closing looks to the others like one that is gone: they may try again when it is back. */
function publicFailure(error: unknown): Failure {
  const known = failureOf(error);
  if (known?.code === "store.closed") {
    return failure("store.unavailable", "the owner of the trajectory store is closing it; try again when it is back", {
      retry: true,
    });
  }
  return (
    known ?? failure("store.io", "the owner of the trajectory store failed in an unexpected way; its log says more")
  );
}

function statusOf(error: Error): 400 | 409 | 500 | 503 {
  const code = failureOf(error)?.code;
  if (code === undefined) return 500;
  if (code === "store.conflict" || code === "store.unknown-record") return 409;
  if (code === "store.closed") return 503;
  return code.startsWith("trajectory.") || code === "store.query" || code === "store.protocol" ? 400 : 500;
}

function strangerFailure(): Failure {
  return failure(
    "store.protocol",
    `a request without the header ${GUARD_HEADER} is not from a store client; use 'connectStore'`,
  );
}

function hostFailure(): Failure {
  return failure(
    "store.host",
    `a request to the trajectory store names another host than ${HOST} or localhost; connect to the url of 'serveStore'`,
  );
}

function busyFailure(limit: number): Failure {
  return failure(
    "store.busy",
    `the owner of the trajectory store is answering ${limit} requests already; try again shortly`,
    { retry: true },
  );
}

function tooLarge(limit: number): Failure {
  return failure(
    "store.too-large",
    `a batch is larger than the ${limit} bytes that the trajectory store takes at once; send smaller batches`,
  );
}

function portFailure(port: number, cause: Error): Failure {
  return failure("store.port", `the trajectory store cannot listen on ${HOST}:${port}; choose a free port`, { cause });
}
