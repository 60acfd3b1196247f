/** `coxswain up` with `store: { kind: influxdb }` in its settings, over a real InfluxDB 1.x. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openInfluxStore } from "../../src/adapters/store/index.ts";
import type { AgentId } from "../../src/base/index.ts";
import { cleanEnv, executable, runCli } from "../e2e/run-cli.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import type { InfluxServer } from "./influx-server.ts";
import { startInflux } from "./influx-server.ts";

const example = fileURLToPath(new URL("../../examples/own-workloads.yaml", import.meta.url));
const AGENT = "checkout-agent" as AgentId;

let server: InfluxServer;
beforeAll(async () => {
  server = await startInflux();
});
afterAll(() => server?.stop());

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}
interface Step {
  readonly episode: string;
  readonly step: number;
}

test("up writes its agents' steps into InfluxDB, and a second start reads them back", async () => {
  const cwd = temporaryFolder("up-influx");
  const store = `store: { kind: influxdb, url: "${server.url}", influxdb: { version: 1, database: up } }\n`;
  // A learner that learns from steps of long ago; the plan of the capacity model alone needs none.
  const learning = readFileSync(example, "utf8").replace(
    "    stakes: high\n",
    "    stakes: high\n    learner: { kind: bcq }\n",
  );
  writeFileSync(join(cwd, "own.yaml"), `${store}${learning}`);
  const up = ["up", "--config", "own.yaml", "--data", "kept", "--port", "0", "--no-otlp", "--application", "none"];
  const first = await runCli([...up, "--duration", "4", "--speed", "120", "--json"], { cwd });
  expect(first.code).toBe(0);
  expect(existsSync(join(cwd, "kept", "trajectories.duckdb"))).toBe(false);
  const before = await stepsInInflux();
  expect(before.length).toBeGreaterThan(3);

  const child = spawn(process.execPath, [executable, ...up, "--speed", "60"], { cwd, env: cleanEnv({}) });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  try {
    const url = await addressOf(child);
    // What its page shows is asked of the store, and what the agent begins with too.
    await expect.poll(() => shownSteps(url), { timeout: 20_000 }).toEqual(expect.arrayContaining([...before]));
    await expect.poll(() => stepsRemembered(url), { timeout: 20_000 }).toBeGreaterThan(0);
    // A step is learned from when the next one is known, so the last one is not, and its reward may be missing before it.
    expect(before.length - (await stepsRemembered(url))).toBeOneOf([0, 1, 2]);
    await expect.poll(async () => (await shownSteps(url)).length, { timeout: 20_000 }).toBeGreaterThan(before.length);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  expect(await ended).toBe(143);
  const after = await stepsInInflux();
  expect(after.length).toBeGreaterThan(before.length);
  expect(new Set(after).size).toBe(after.length);
});

const named = ({ episode, step }: Step): string => `${episode} ${step}`;

async function stepsInInflux(): Promise<readonly string[]> {
  const store = await openInfluxStore({ version: 1, url: server.url, database: "up" });
  const episodes = await store.recentEpisodes(AGENT, 100);
  const steps = await Promise.all(episodes.map((episode) => store.episode(episode)));
  await store.close();
  return steps.flat().map(named);
}

async function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => resolve(text.trim()));
    child.on("close", () => reject(new Error("it ended without an address")));
  });
}

async function shownSteps(url: string): Promise<readonly string[]> {
  const page = await ask<Page<Step>>(`${url}/v1/trajectories?agent=${AGENT}&limit=200`);
  return page.items.map(named);
}

/** As the agent's event says; 0 before. */
async function stepsRemembered(url: string): Promise<number> {
  const page = await ask<Page<{ readonly text: string }>>(`${url}/v1/events?workload=checkout`);
  const found = page.items.map(({ text }) => /remembers (\d+) steps from the store/.exec(text)?.[1]);
  return Number(found.find((steps) => steps !== undefined) ?? 0);
}

async function ask<T>(address: string): Promise<T> {
  const response = await fetch(address);
  return (await response.json()) as T;
}
