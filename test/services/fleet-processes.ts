/** A coordinator and agents of a fleet as processes of their own, for a test that kills them. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot, sealedLinesIn } from "../../src/adapters/runtime/index.ts";

export interface FleetProcess {
  /** What it logged, a line each. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly hasEnded: boolean;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface FleetSetup {
  readonly folder: string;
  readonly url: string;
  readonly pool: Readonly<Record<string, unknown>> & { readonly name: string };
}

export function startCoordinator({ folder, url, pool }: FleetSetup): FleetProcess {
  const config = { nats: { servers: [url] }, data: join(folder, "coordinator"), pools: [pool] };
  return start("coordinator", { config, file: join(folder, "coordinator.json") });
}

export function startAgent({ folder, url, pool }: FleetSetup, agent: string): FleetProcess {
  const config = { nats: { servers: [url] }, data: join(folder, agent), pool: pool.name, agents: [agent] };
  return start("agent", { config, file: join(folder, `${agent}.json`) });
}

function start(command: string, { config, file }: { readonly config: unknown; readonly file: string }): FleetProcess {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, JSON.stringify(config));
  const program = join(packageRoot(), "bin", "coxswain");
  const args = [program, command, "--config", file, "--log-format", "json", "--kernels", "wasm"];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  const lines: Readonly<Record<string, unknown>>[] = [];
  let rest = "";
  child.stderr?.on("data", (data: Buffer) => {
    const parts = (rest + data.toString()).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) lines.push(parsed(line));
  });
  return {
    lines,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once("close", resolve));
      child.kill(signal);
      await gone;
    },
  };
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return { msg: line };
  }
}

export interface StoredTransition {
  readonly agent: string;
  readonly incarnation: number;
  readonly step: number;
}

/** All whole lines of an agent's log, as any reader of it would find them. */
export function transitionsOnDisk(folder: string, agent: string): readonly StoredTransition[] {
  const { lines, damaged } = sealedLinesIn(readFileSync(join(folder, agent, "transitions.log")));
  if (damaged > 0) throw new Error(`the log of ${agent} has ${damaged} damaged lines`);
  return lines.map((line) => JSON.parse(line) as StoredTransition);
}
