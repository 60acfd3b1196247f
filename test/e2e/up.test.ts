import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createServer as createReceiver } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { readSpans } from "../fixtures/observability/otlp.ts";
import { cleanEnv, executable, runCli } from "./run-cli.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("up");
});

const up = (...args: string[]) => runCli(["up", "--port", "0", ...args], { cwd });

test("with --duration it ends by itself and compares four workloads with their twins", async () => {
  const { code, stdout } = await up("--data", ":memory:", "--duration", "3", "--speed", "120", "--json");
  expect(code).toBe(0);
  const { url, worldSeconds, workloads } = JSON.parse(stdout);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
  expect(worldSeconds).toBeGreaterThanOrEqual(15);
  expect(workloads.map(({ workload }: { workload: string }) => workload)).toEqual([
    "web-shop",
    "image-resizing",
    "ml-serving",
    "queue-worker",
  ]);
  for (const { stage, steps, twin } of workloads) {
    expect(stage).toBe("OFFLINE");
    expect(steps).toBe(worldSeconds / 15);
    expect(twin.dollars).toBeGreaterThan(0);
  }
});

test("it answers on the one address that it prints, ends cleanly at Ctrl-C, and a second start goes on", async () => {
  const first = await untilStopped(["up", "--port", "0", "--data", "kept", "--speed", "120"]);
  expect(first.code).toBe(130);
  expect(first.overview.workloads).toHaveLength(4);
  expect(existsSync(join(cwd, "kept", "plane.json"))).toBe(true);
  const again = await runCli(["up", "--port", "0", "--data", "kept", "--duration", "1", "--json"], { cwd });
  expect(again.code).toBe(0);
  const { worldSeconds } = JSON.parse(again.stdout);
  expect(worldSeconds * 1_000).toBeGreaterThan(passed(first.overview));
});

interface Overview {
  /** The cluster's first. */
  readonly worlds: readonly { readonly at: number; readonly startedAt: number }[];
  readonly workloads: readonly unknown[];
}

const passed = ({ worlds: [cluster] }: Overview): number =>
  cluster === undefined ? 0 : cluster.at - cluster.startedAt;

/** Asks for the overview until a step was measured, then presses Ctrl-C. */
async function untilStopped(args: readonly string[]): Promise<{ code: number | null; overview: Overview }> {
  const child = spawn(process.execPath, [executable, ...args], { cwd, env: cleanEnv({}) });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => resolve(text.trim()));
    child.on("close", () => reject(new Error("it ended without an address")));
  });
  let overview: Overview;
  do {
    overview = (await (await fetch(`${url}/v1/overview`)).json()) as Overview;
  } while (!(passed(overview) > 0));
  child.kill("SIGINT");
  return { code: await ended, overview };
}

test("programs get one address and JSON lines, people a banner and readable lines, coloured for nobody without a terminal", async () => {
  const brief = ["up", "--port", "0", "--data", ":memory:", "--duration", "1", "--no-otlp", "--application", "none"];
  const programs = await runCli(brief, { cwd });
  expect(programs.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n workload/);
  const events = programs.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg: string });
  expect(events.map(({ msg }) => msg)).toContain("plane event");

  // Where no dashboard is built, as in a clean checkout, the banner leads to the API.
  const people = await runCli([...brief, "--log-format", "text"], { cwd });
  expect(people.code).toBe(0);
  expect(people.stdout).toMatch(
    /^\nCoxswain \S+ is running\n\n {2}open {8}http:\/\/127\.0\.0\.1:\d+(\/v1\/overview)?\n/,
  );
  expect(people.stderr).toMatch(/^\d\d:\d\d:\d\d {2}notice {3}Web shop: INITIALIZED → OFFLINE/m);
  expect(people.stdout + people.stderr).not.toContain("\u001b");
});

test("a port that is taken, a folder that cannot be written and a bad setting are one line each", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as AddressInfo;
  const busy = await runCli(["up", "--data", ":memory:", "--port", String(port)], { cwd });
  taken.close();
  expect(busy.code).toBe(1);
  expect(
    busy.stderr
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("coxswain: ")),
  ).toHaveLength(1);
  expect(busy.stderr).toContain(String(port));

  writeFileSync(join(cwd, "file"), "");
  const folder = await up("--data", "file/below");
  expect(folder.code).toBe(1);
  expect(folder.stderr).toMatch(/^coxswain: the folder .*file\/below cannot be written/);

  writeFileSync(join(cwd, "bad.yaml"), "logg: 1\n");
  const config = await up("--config", "bad.yaml");
  expect(config.code).toBe(2);
  expect(config.stderr).toContain("logg");

  expect((await up("--speed", "-1")).code).toBe(2);
});

test("where an OTLP receiver is named, the turns of every agent arrive there as spans, the last ones too", async () => {
  const requests: { readonly path: string | undefined; readonly type: string | undefined; readonly body: Buffer }[] =
    [];
  const receiver = createReceiver((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      requests.push({ path: request.url, type: request.headers["content-type"], body: Buffer.concat(parts) });
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => receiver.once("listening", resolve));
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  const args = ["up", "--port", "0", "--data", ":memory:", "--duration", "1", "--speed", "60", "--json"];
  const { code, stdout } = await runCli(args, { cwd, env });
  receiver.closeAllConnections();
  receiver.close();
  expect(code).toBe(0);
  const { worldSeconds } = JSON.parse(stdout) as { worldSeconds: number };
  expect(new Set(requests.map(({ path, type }) => `${path} ${type}`))).toEqual(
    new Set(["/v1/traces application/x-protobuf"]),
  );
  const spans = requests.flatMap(({ body }) => readSpans(body));
  const turns = spans.filter(({ name }) => name === "turn");
  expect(turns[0]?.resource).toMatchObject({ "service.name": "coxswain" });
  // Every agent has a turn in every step that was measured, and may have begun one more.
  for (const workload of ["web-shop", "image-resizing", "ml-serving", "queue-worker"]) {
    const own = turns.filter(({ attributes }) => attributes["coxswain.workload"] === workload);
    expect(own.length).toBeGreaterThanOrEqual(worldSeconds / 15);
    expect(spans.some(({ name, parent }) => name === "loop.tick" && own.some(({ id }) => id === parent))).toBe(true);
  }
});
