import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectNats, type FleetClient, fleetClient, type NatsLink } from "../../src/adapters/nats/index.ts";
import { milliseconds, unwrap } from "../../src/base/index.ts";
import type { HostState } from "../../src/control/agents/index.ts";
import {
  type FleetProcess,
  type FleetSetup,
  startAgent,
  startCoordinator,
  transitionsOnDisk,
} from "./fleet-processes.ts";
import { type NatsServer, startNats } from "./nats-server.ts";

const COUNT = 20;
const pool = {
  name: "functions",
  everySeconds: 0.05,
  patienceSeconds: 0.5,
  expirySeconds: 6,
  platform: { kind: "simulated", functions: COUNT, rung: "fluid" },
};
const names = Array.from({ length: COUNT }, (_, i) => `function-${i + 1}`);

let server: NatsServer;
let link: NatsLink;
let client: FleetClient;
let setup: FleetSetup;
let coordinator: FleetProcess;
const agents = new Map<string, FleetProcess>();
/** What agents told the coordinator to have on disk, by incarnation: the promise that is tested. */
const acknowledged = new Map<string, number>();
let watching: NodeJS.Timeout;

beforeAll(async () => {
  server = await startNats();
  setup = { folder: mkdtempSync(join(tmpdir(), "coxswain-fleet-")), url: server.url, pool };
  link = unwrap(await connectNats({ servers: [server.url], name: "a test" }));
  client = fleetClient(link, "functions");
  watching = setInterval(() => void look(), 100);
});

afterAll(async () => {
  clearInterval(watching);
  await Promise.all([...agents.values()].map((agent) => agent.kill("SIGKILL")));
  await coordinator?.kill("SIGKILL");
  await link?.close();
  await server?.stop();
  if (setup !== undefined) rmSync(setup.folder, { recursive: true, force: true });
});

async function look(): Promise<HostState | undefined> {
  const state = await client.state(milliseconds(500));
  if (!state.ok) return undefined;
  for (const { agent, incarnation, kept } of state.value.members) {
    const key = `${agent} ${incarnation}`;
    acknowledged.set(key, Math.max(kept, acknowledged.get(key) ?? 0));
  }
  return state.value;
}

async function until(what: string, isSo: (state: HostState) => boolean): Promise<HostState> {
  let last: HostState | undefined;
  for (const end = performance.now() + 60_000; performance.now() < end; ) {
    last = (await look()) ?? last;
    if (last !== undefined && isSo(last)) return last;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const words = [...agents].map(
    ([name, { hasEnded, lines }]) => `${name}${hasEnded ? " (ended)" : ""}: ${JSON.stringify(lines.at(-1))}`,
  );
  throw new Error(`waited for ${what}; last seen: ${JSON.stringify(last)}\n${words.join("\n")}`);
}

const incarnations = ({ members }: HostState) =>
  new Map(members.map(({ agent, incarnation }) => [agent as string, incarnation]));
const allActing = ({ members }: HostState): boolean =>
  members.length === COUNT && members.every(({ actor }) => actor === "agent");
/** All act, and have learned steps of their present life. */
const allGoOn = (state: HostState): boolean => allActing(state) && state.members.every(({ kept }) => kept >= 3);
const hasSaidThatItIsOut = ({ lines }: FleetProcess, from: number): boolean =>
  lines.slice(from).some(({ code }) => code === "agents.coordinator-lost");
const updatesOf = (agent: FleetProcess): number => agent.lines.filter(({ msg }) => msg === "policy updated").length;

test("agents, the coordinator and the server are killed in turn: training goes on, nothing acknowledged is lost", async () => {
  coordinator = startCoordinator(setup);
  for (const name of names) agents.set(name, startAgent(setup, name));
  const first = await until("all to act", allGoOn);

  // ── A third of the agents ──────────────────────────────────────────────────────────────────────────
  const killed = names.slice(0, 7);
  await Promise.all(killed.map((name) => agents.get(name)?.kill("SIGKILL")));
  const without = await until("rules to act for those who are gone", ({ members }) => members.length === COUNT - 7);
  expect([...without.unattended].sort()).toEqual([...killed].sort());
  expect(without.step).toBeGreaterThan(first.step);
  expect(without.members.every(({ actor }) => actor === "agent")).toBe(true);
  for (const name of killed) agents.set(name, startAgent(setup, name));
  const again = await until("them to be back", allGoOn);
  for (const [name, incarnation] of incarnations(again)) {
    const before = incarnations(first).get(name) as number;
    // The others never noticed.
    if (killed.includes(name)) expect(incarnation).toBeGreaterThan(before);
    else expect(incarnation).toBe(before);
  }

  // ── The coordinator ────────────────────────────────────────────────────────────────────────────────
  await coordinator.kill("SIGKILL");
  const lastSeen = Math.max(...incarnations(again).values());
  coordinator = startCoordinator(setup);
  const restarted = await until(
    "a new coordinator with all members",
    (state) => state.step > again.step + 1e6 && allGoOn(state),
  );
  // Whoever was a member still is; a process that gave up waiting meanwhile is a new incarnation, with a number of its own.
  for (const [name, incarnation] of incarnations(restarted))
    expect(incarnation === incarnations(again).get(name) || incarnation > lastSeen).toBe(true);
  expect(coordinator.lines.find(({ msg }) => msg === "coordinating")).toMatchObject({ life: 2, members: COUNT });

  // ── The server ─────────────────────────────────────────────────────────────────────────────────────
  const said = new Map([...agents].map(([name, agent]) => [name, agent.lines.length]));
  await server.kill();
  // Each says so by itself, within the time of a step.
  await expect
    .poll(
      () =>
        [...agents].filter(([name, agent]) => !hasSaidThatItIsOut(agent, said.get(name) ?? 0)).map(([name]) => name),
      { timeout: 10_000 },
    )
    .toEqual([]);
  await server.restart();
  const updatesBefore = new Map([...agents].map(([name, agent]) => [name, updatesOf(agent)]));
  const back = await until("all to be back", (state) => state.step > restarted.step && allGoOn(state));
  for (const [name, incarnation] of incarnations(back))
    expect(incarnation).toBeGreaterThan(incarnations(restarted).get(name) as number);

  // ── Training goes on ───────────────────────────────────────────────────────────────────────────────
  await until("an update of each", () =>
    [...agents].every(([name, agent]) => updatesOf(agent) > (updatesBefore.get(name) ?? 0)),
  );
  await look();
  // Half of them by force: what they were writing is not acknowledged.
  await Promise.all([...agents.values()].map((agent, i) => agent.kill(i % 2 === 0 ? "SIGKILL" : "SIGTERM")));

  const stored = new Map<string, Set<number>>();
  for (const name of names)
    for (const { agent, incarnation, step } of transitionsOnDisk(setup.folder, name)) {
      expect(agent).toBe(name);
      const key = `${agent} ${incarnation}`;
      const steps = stored.get(key) ?? new Set();
      expect(steps.has(step)).toBe(false);
      stored.set(key, steps.add(step));
    }
  expect(acknowledged.size).toBeGreaterThanOrEqual(COUNT * 2 + 7);
  for (const [key, kept] of acknowledged) expect(stored.get(key)?.size ?? 0, key).toBeGreaterThanOrEqual(kept);
}, 180_000);
