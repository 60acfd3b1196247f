/**
 * A step over NATS: 110 agents in four processes of `coxswain agent`, a real server, the coordinator in this process.
 * Owns: starting and stopping them, the time from one closing to the next. Not here: agents in one process (agents.bench.ts).
 *
 * Timed is all that a step takes: choices, messages both ways, global states, the platform's own arithmetic, each process's flush
 * to its disk, and in one of fifty steps the agents' updates and checkpoints.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectNats, openFleetRecords, serveFleet } from "../../src/adapters/nats/index.ts";
import { packageRoot, systemClock } from "../../src/adapters/runtime/index.ts";
import { seconds, unwrap } from "../../src/base/index.ts";
import { coordinatorSchema } from "../../src/cli/fleet/fleet-schema.ts";
import { simulatedPool } from "../../src/cli/fleet/simulated-pool.ts";
import { atMost, type Figure, round } from "../report.ts";

const AGENTS = 110;
const PROCESSES = 4;

export interface OverNats {
  readonly figures: readonly Figure[];
  readonly absent: readonly string[];
}

export async function agentsOverNats({
  quick,
  signal,
}: {
  readonly quick: boolean;
  readonly signal: AbortSignal;
}): Promise<OverNats> {
  const program = natsServer();
  if (program === undefined) return { figures: [], absent: ["a step over NATS: nats-server is not in the PATH"] };
  const folder = mkdtempSync(join(tmpdir(), "coxswain-bench-nats-"));
  const port = await freePort();
  const server = spawn(program, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", join(folder, "store")], {
    stdio: "ignore",
  });
  try {
    const url = `nats://127.0.0.1:${port}`;
    const figures: Figure[] = [];
    for (const learning of [false, true]) {
      const { steps, platform } = await timesOf({ url, folder, learning, count: quick ? 150 : 600, signal });
      const what = learning ? ", learning" : "";
      const bound = atMost(20, "ms");
      const id = learning ? "agents.nats.learning" : "agents.nats";
      const median = quantile(steps, 0.5);
      figures.push(
        {
          id,
          what: `a step over NATS, ${AGENTS} agents in ${PROCESSES} processes${what}: median`,
          value: median,
          unit: "ms",
          target: bound.text,
          holds: bound.accepts(median),
        },
        { id: `${id}.p99`, what: `the same${what}: 99th percentile`, value: quantile(steps, 0.99), unit: "ms" },
      );
      if (learning) continue;
      figures.push({
        id: "agents.nats.platform",
        what: `of it the coordinator's sums and the simulated platform of ${AGENTS} functions: median`,
        value: quantile(platform, 0.5),
        unit: "ms",
      });
    }
    return { figures, absent: [] };
  } finally {
    await ended(server);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Run {
  readonly url: string;
  readonly folder: string;
  readonly learning: boolean;
  readonly count: number;
  readonly signal: AbortSignal;
}

/** Milliseconds from closing to closing, once all agents take part. */
async function timesOf({
  url,
  folder,
  learning,
  count,
  signal,
}: Run): Promise<{ readonly steps: readonly number[]; readonly platform: readonly number[] }> {
  const pool = learning ? "learning" : "acting";
  const platform = { kind: "simulated", functions: AGENTS, cluster: "cloud" };
  const settings = coordinatorSchema.parse({
    data: folder,
    pools: [{ name: pool, everySeconds: 0, patienceSeconds: 20, expirySeconds: 60, platform }],
  }).pools[0] as Parameters<typeof simulatedPool>[0];
  const waitFor = { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) };
  const link = unwrap(await connectNats({ servers: [url], name: "bench", waitFor }));
  const expiry = seconds(60);
  const records = unwrap(await openFleetRecords(link, { pool, expiry, lastLife: 0, signal, onWait: () => undefined }));
  const fleet = simulatedPool(settings, { life: 1, now: systemClock.monotonic() });
  const times: number[] = [];
  const platforms: number[] = [];
  const close = fleet.close.bind(fleet);
  fleet.close = (now) => {
    const from = performance.now();
    const closed = close(now);
    platforms.push(performance.now() - from);
    return closed;
  };
  const agents: ChildProcess[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      let last: number | undefined;
      const service = serveFleet({
        link,
        pool,
        fleet,
        records,
        expiry,
        clock: systemClock,
        on: {
          trouble: ({ message }) => reject(new Error(message)),
          closed: () => {
            const now = performance.now();
            const isWhole = fleet.state().members.filter(({ actor }) => actor === "agent").length === AGENTS;
            if (isWhole && last !== undefined) times.push(now - last);
            last = isWhole ? performance.now() : undefined;
            if (times.length < count && !signal.aborted) return;
            void service.close().then(resolve);
          },
        },
      });
      for (let i = 0; i < PROCESSES; i++) {
        const child = agentProcess({ url, folder, pool, learning, number: i });
        child.once("exit", (code) => reject(new Error(`an agent process of the bench ended by itself (${code})`)));
        agents.push(child);
      }
    });
  } finally {
    for (const child of agents) {
      child.removeAllListeners("exit");
      await ended(child);
    }
    await link.close();
  }
  return { steps: times, platform: platforms.slice(-times.length) };
}

function agentProcess({
  url,
  folder,
  pool,
  learning,
  number,
}: Pick<Run, "url" | "folder" | "learning"> & { readonly pool: string; readonly number: number }): ChildProcess {
  const agents = Array.from({ length: AGENTS }, (_, i) => `function-${i + 1}`).filter(
    (_, i) => i % PROCESSES === number,
  );
  const file = join(folder, `${pool}-${number}.json`);
  const data = join(folder, `${pool}-${number}`);
  writeFileSync(file, JSON.stringify({ nats: { servers: [url] }, data, pool, agents, learning }));
  const args = [join(packageRoot(), "bin", "coxswain"), "agent", "--config", file, "--log-level", "error"];
  return spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
    child.kill("SIGKILL");
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  return round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN);
}

function natsServer(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin"];
  return folders.map((folder) => join(folder, "nats-server")).find((file) => existsSync(file));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return address.port;
}
