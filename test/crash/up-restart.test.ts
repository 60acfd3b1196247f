/**
 * What whoever looks at a killed and restarted `up` may rely on as soon as it says that it is ready, and that it does not say so
 * while what it takes cannot be kept.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ServicesDocument } from "../../src/contract/index.ts";
import { cleanEnv, executable } from "../e2e/run-cli.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";

let cwd: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  cwd = temporaryFolder("up-restart");
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

interface Up {
  readonly url: string;
  readonly child: ChildProcess;
  log(): string;
}

async function start(...args: string[]): Promise<Up> {
  const usual = ["up", "--port", "0", "--data", "data", "--log-format", "json", "--workloads", "1"];
  const child = spawn(process.execPath, [executable, ...usual, ...args], { cwd, env: cleanEnv({}) });
  children.push(child);
  let [out, log] = ["", ""];
  child.stderr?.on("data", (data: Buffer) => {
    log += data.toString();
  });
  child.stdout?.on("data", (data: Buffer) => {
    out += data.toString();
  });
  await expect.poll(() => out, { timeout: 60_000, interval: 50 }).toMatch(/^http:\S+\n/);
  return { url: out.trim(), child, log: () => log };
}

const PATIENCE = { timeout: 120_000, interval: 50 };
const statusOf = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status;
const post = (body: unknown = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Until the policy of the services is trained, twice, it takes a minute: `npm run test:crash` has the time. */
const isLong = process.env.COXSWAIN_CRASH_KILLS !== undefined;

// Not there rather than left out: a test that did not run counts as failed.
if (isLong)
  test("an acknowledged pause of a service's agent is shown at once, and by a restart that says it is ready", {
    timeout: 240_000,
  }, async () => {
    const first = await start("--no-otlp");
    const agent = "/v1/agents/hotel-reservation-geo-agent";
    await expect.poll(() => statusOf(first.url + agent), PATIENCE).toBe(200);
    expect(await statusOf(`${first.url}${agent}/pause`, post())).toBe(200);
    expect(await (await fetch(first.url + agent)).json()).toMatchObject({ isPaused: true });
    await kill(first.child);
    const second = await start("--no-otlp");
    await expect.poll(() => statusOf(`${second.url}/readyz`), { ...PATIENCE, interval: 5 }).toBe(200);
    expect(await (await fetch(second.url + agent)).json()).toMatchObject({ isPaused: true });
  });

const RESOURCE = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
const spans = (id: number) => {
  const at = Date.now();
  const span = {
    traceId: id.toString(16).padStart(32, "0"),
    spanId: id.toString(16).padStart(16, "0"),
    name: "GET /",
    startTimeUnixNano: `${at}000000`,
    endTimeUnixNano: `${at + 5}000000`,
  };
  return { resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ spans: [span] }] }] };
};

test("it is not ready while spans cannot be kept, says what of them was damaged after a kill, and keeps all for its owner", {
  timeout: 120_000,
}, async () => {
  const options = ["--application", "none", "--otlp-http-port", "0", "--otlp-grpc-port", "0"];
  const data = (...names: string[]) => join(cwd, "data", ...names);
  const first = await start(...options);
  const { listeners } = (await (await fetch(`${first.url}/v1/services`)).json()) as ServicesDocument;
  const send = (id: number) => statusOf(`${listeners.http}/v1/traces`, post(spans(id)));
  // Nothing can be written to a folder that is gone.
  rmSync(data("spans"), { recursive: true });
  expect(await send(1)).toBe(503);
  await expect.poll(() => statusOf(`${first.url}/readyz`), PATIENCE).toBe(503);
  expect(await (await fetch(`${first.url}/readyz`)).text()).toContain("spans cannot be kept");
  mkdirSync(data("spans"), 0o700);
  for (const id of [1, 2, 3]) expect(await send(id)).toBe(200);
  await expect.poll(() => statusOf(`${first.url}/readyz`), PATIENCE).toBe(200);
  expect(await statusOf(`${first.url}/v1/agents/web-shop-agent/pause`, post())).toBe(200);
  await kill(first.child);

  const modes = readdirSync(data(), { recursive: true, withFileTypes: true }).map((item) => {
    const mode = (statSync(join(item.parentPath, item.name)).mode & 0o777).toString(8);
    return `${item.isDirectory() ? "folder" : "file"} ${mode}`;
  });
  expect(new Set(modes)).toEqual(new Set(["folder 700", "file 600"]));
  const [name = ""] = readdirSync(data("spans"));
  const bytes = readFileSync(data("spans", name));
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(data("spans", name), bytes);
  chmodSync(data("audit.jsonl"), 0o644);

  const second = await start(...options);
  await expect.poll(() => statusOf(`${second.url}/readyz`), PATIENCE).toBe(200);
  expect(await (await fetch(`${second.url}/readyz`)).json()).toEqual({
    ok: true,
    notes: ["the span journal was damaged in 1 place: acknowledged spans are lost"],
  });
  expect(second.log()).toContain(`the span journal is damaged in 1 place (`);
  expect(second.log()).toContain("2 spans that were taken before the last end are put together now");
  expect(second.log()).toContain("other users could read the data folder");
  expect(statSync(data("audit.jsonl")).mode & 0o777).toBe(0o600);
  expect(await (await fetch(`${second.url}/v1/agents/web-shop-agent`)).json()).toMatchObject({ isPaused: true });
});
