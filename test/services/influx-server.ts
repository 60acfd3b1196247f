/**
 * A real InfluxDB 1.x of its own for a test: Debian's package, started on free loopback ports with its data in a
 * temporary folder.
 */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, freePorts } from "./debian-program.ts";

export interface InfluxServer {
  readonly url: string;
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startInflux(): Promise<InfluxServer> {
  const program = await findProgram({ name: "influxd", from: "influxdb", folder: "usr/bin" });
  const folder = await mkdtemp(join(tmpdir(), "coxswain-influx-"));
  const [http, rpc] = await freePorts(2);
  const config = join(folder, "influxdb.conf");
  await writeFile(
    config,
    `reporting-disabled = true
bind-address = "127.0.0.1:${rpc}"
[meta]
  dir = "${folder}/meta"
[data]
  dir = "${folder}/data"
  wal-dir = "${folder}/wal"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:${http}"
  log-enabled = false
[monitor]
  store-enabled = false
`,
  );
  const url = `http://127.0.0.1:${http}`;
  let child = await start(program, { config, url });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill(signal);
    await gone;
  };
  return {
    url,
    kill: () => end("SIGKILL"),
    restart: async () => {
      await end("SIGKILL");
      child = await start(program, { config, url });
    },
    stop: async () => {
      await end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function start(program: string, { config, url }: { config: string; url: string }): Promise<ChildProcess> {
  const child = spawn(program, ["-config", config], { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.on("data", (data: Buffer) => {
    words = (words + data.toString()).slice(-2_000);
  });
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) break;
    const response = await fetch(`${url}/ping`).catch(() => undefined);
    if (response?.status === 204) return child;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill("SIGKILL");
  throw new Error(`InfluxDB did not start on ${url}; its last words:\n${words}`);
}
