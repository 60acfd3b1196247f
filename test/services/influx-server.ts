/**
 * A real InfluxDB 1.x of its own for a test: Debian's package, started on free loopback ports with its data in a
 * temporary folder. An installed `influxd` is used as it is; otherwise the package is downloaded and unpacked, without
 * being installed, into a cache folder.
 */

import type { ChildProcess } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface InfluxServer {
  readonly url: string;
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startInflux(): Promise<InfluxServer> {
  const program = await findInfluxd();
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

async function findInfluxd(): Promise<string> {
  for (const folder of (process.env.PATH ?? "").split(":")) {
    if (existsSync(join(folder, "influxd"))) return join(folder, "influxd");
  }
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "coxswain", "influxdb");
  const program = join(cache, "usr", "bin", "influxd");
  if (!existsSync(program)) await unpackPackage(cache);
  return program;
}

async function unpackPackage(cache: string): Promise<void> {
  const work = `${cache}.${process.pid}`;
  try {
    await mkdir(join(work, "root"), { recursive: true });
    // Without a list of packages the download finds nothing; updating it needs root, and then it is harmless.
    await run("apt-get", ["download", "influxdb"], { cwd: work }).catch(async () => {
      await run("apt-get", ["update"]);
      await run("apt-get", ["download", "influxdb"], { cwd: work });
    });
    const [file] = (await readdir(work)).filter((name) => name.endsWith(".deb"));
    if (file === undefined) throw new Error("apt-get downloaded nothing");
    await run("dpkg", ["-x", file, join(work, "root")], { cwd: work });
    await rm(cache, { recursive: true, force: true });
    await rename(join(work, "root"), cache);
  } catch (cause) {
    throw new Error(
      "InfluxDB 1.x is needed and could not be fetched with apt-get and dpkg; install the package 'influxdb' so that influxd is in the PATH",
      { cause },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
