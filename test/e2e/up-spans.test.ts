/**
 * Spans into a running `coxswain up`: from OpenTelemetry's own exporter over HTTP and as protobuf over gRPC, out of the API
 * as a service graph and a critical path; and what was acknowledged before the process was killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeOtlp } from "../../src/adapters/otlp/index.ts";
import type { ServiceGraphDocument, ServicesDocument, TraceDocument } from "../../src/contract/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../src/observe/telemetry/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { exportCartTrace } from "../fixtures/traces/cart-trace.ts";
import { cleanEnv, executable, runCli } from "./run-cli.ts";

let cwd: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  cwd = temporaryFolder("up-spans");
});
afterEach(async () => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

/** One workload and no simulated application: as little beside the spans as can be. */
const ARGS = ["up", "--port", "0", "--data", "kept", "--workloads", "1", "--speed", "1", "--application", "none"];

async function start(application = "none") {
  const args = [...ARGS.slice(0, -1), application];
  const child = spawn(process.execPath, [executable, ...args, "--otlp-http-port", "0", "--otlp-grpc-port", "0"], {
    cwd,
    env: cleanEnv({}),
    stdio: ["ignore", "pipe", "ignore"],
  });
  running.push(child);
  const ended = new Promise((resolve) => child.once("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => resolve(text.trim()));
    child.once("close", () => reject(new Error("it ended without an address")));
  });
  const get = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T;
  const { listeners } = await get<ServicesDocument>("/v1/services");
  return {
    get,
    put: async (path: string, body: object): Promise<number> =>
      (
        await fetch(`${url}${path}`, {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).status,
    status: async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status,
    http: `${listeners.http}/v1/traces`,
    grpc: String(listeners.grpc),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A request of `mobile` that waits for `shop`, 80 of 90 ms; resolves with gRPC's status. */
function exportOverGrpc(address: string, { traceId, began }: { traceId: string; began: number }): Promise<string> {
  const one = (id: string, service: string, [from, to]: readonly [number, number]): Span => ({
    traceId,
    spanId: id.padStart(16, "0"),
    ...(id === "1" ? {} : { parentId: "1".padStart(16, "0") }),
    service,
    instance: `${service}-0`,
    operation: "order",
    kind: "server",
    startUs: 1_000 * (began + from),
    endUs: 1_000 * (began + to),
    status: "ok",
  });
  const message = encodeOtlp(spanColumnsOf([one("1", "mobile", [0, 90]), one("2", "shop", [5, 85])], new NameTable()));
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  const client = connect(address);
  return new Promise<string>((resolve, reject) => {
    client.once("error", reject);
    const stream = client.request({
      ":method": "POST",
      ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.once("error", reject);
    stream.once("response", (fields) => fields["grpc-status"] !== undefined && resolve(String(fields["grpc-status"])));
    stream.once("trailers", (fields) => resolve(String(fields["grpc-status"])));
    stream.resume();
    stream.end(frame);
  }).finally(() => client.close());
}

const PATIENCE = { timeout: 60_000, interval: 250 };

test("spans come over HTTP and gRPC, outlive a kill, and give a graph and critical paths", {
  timeout: 120_000,
}, async () => {
  const first = await start();
  const began = Date.now() - 1_000;
  const overHttp = await exportCartTrace(first.http, began);
  const overGrpc = "ab".repeat(16);
  expect(await exportOverGrpc(first.grpc, { traceId: overGrpc, began })).toBe("0");
  // Acknowledged a moment ago: traces are complete six seconds after their root came, and none is stored.
  await first.kill();

  const second = await start();
  await expect.poll(() => second.status(`/v1/traces/${overHttp}`), PATIENCE).toBe(200);
  await expect.poll(() => second.status(`/v1/traces/${overGrpc}`), PATIENCE).toBe(200);
  const trace = await second.get<TraceDocument>(`/v1/traces/${overHttp}`);
  expect(trace).toMatchObject({ service: "shop", operation: "GET /cart", durationMs: 100, spans: 2 });
  expect(trace.tree.map(({ instance, criticalMs }) => [instance, criticalMs])).toEqual([
    ["shop-0", 30],
    ["database-0", 70],
  ]);
  expect(trace.path).toEqual([
    { span: 0, fromMs: 0, toMs: 20 },
    { span: 1, fromMs: 20, toMs: 90 },
    { span: 0, fromMs: 90, toMs: 100 },
  ]);
  const graph = await second.get<ServiceGraphDocument>(`/v1/services/graph?from=${began - 60_000}`);
  const call = (caller: string, callee: string, meanMs: number) =>
    expect.objectContaining({ caller, callee, calls: 1, errors: 0, meanMs, criticalCalls: 1 });
  expect([...graph.edges].sort((a, b) => a.meanMs - b.meanMs)).toEqual([
    call("shop", "database", 70),
    call("mobile", "shop", 80),
  ]);
  // Started once more, nothing is stored twice.
  await second.kill();
  const third = await start();
  const { counts } = await third.get<ServicesDocument>("/v1/services");
  expect(counts).toMatchObject({ storedTraces: 2, storedSpans: 4, waiting: 0 });
});

test("that nobody may act on the services outlives a kill, and is in the audit log; without an application there is nobody", {
  timeout: 120_000,
}, async () => {
  const first = await start("hotel-reservation");
  const mode = async ({ get }: typeof first) => (await get<ServicesDocument>("/v1/services")).simulated?.acting.mode;
  expect(await mode(first)).toBe("act");
  expect(await first.put("/v1/services/acting", { mode: "observe" })).toBe(200);
  await first.kill();
  const second = await start("hotel-reservation");
  expect(await mode(second)).toBe("observe");
  await second.kill();
  const [written] = readFileSync(join(cwd, "kept", "audit.jsonl"), "utf8")
    .trim()
    .split("\n");
  expect(JSON.parse(written ?? "")).toMatchObject({
    command: { kind: "set-acting", mode: "observe" },
    outcome: "done",
  });
  const third = await start();
  expect(await third.put("/v1/services/acting", { mode: "act" })).toBe(409);
});

test("a port for spans that somebody chose and another program has is one line and code 1", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as AddressInfo;
  const ended = await runCli([...ARGS, "--otlp-http-port", String(port)], { cwd });
  taken.close();
  expect(ended.code).toBe(1);
  const said = ended.stderr.split("\n").filter((line) => line.startsWith("coxswain: "));
  expect(said).toEqual([expect.stringContaining(`spans cannot be received on 127.0.0.1:${port}`)]);
});

test("with --no-otlp and no application nothing is known of services, and it is said how to change that", async () => {
  const args = [...ARGS, "--no-otlp", "--duration", "60"];
  const child = spawn(process.execPath, [executable, ...args], {
    cwd,
    env: cleanEnv({}),
    stdio: ["ignore", "pipe", "ignore"],
  });
  running.push(child);
  const url = await new Promise<string>((resolve) =>
    child.stdout.once("data", (text: Buffer) => resolve(String(text).trim())),
  );
  const answer = await fetch(`${url}/v1/services`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: "services.none", detail: expect.stringContaining("--no-otlp") });
});
