/**
 * A real NATS server with JetStream of its own for a test: Debian's package, started on a free loopback port with its store in
 * a temporary folder. An installed `nats-server` is used as it is; otherwise the package is downloaded and unpacked, without
 * being installed (which would start it as a service), into a cache folder.
 */

import type { ChildProcess } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { createServer, connect as openSocket } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface NatsServer {
  readonly url: string;
  kill(): Promise<void>;
  /** Starts it again on the same port with the same store. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface NatsServerOptions {
  /** False: without JetStream. */
  readonly jetStream?: boolean;
  /** More of the command line, such as `--auth <token>`. */
  readonly args?: readonly string[];
}

export async function startNats({ jetStream = true, args = [] }: NatsServerOptions = {}): Promise<NatsServer> {
  const program = await findNatsServer();
  const folder = await mkdtemp(join(tmpdir(), "coxswain-nats-"));
  const port = await freePort();
  const line = [
    "-a",
    "127.0.0.1",
    "-p",
    String(port),
    ...(jetStream ? ["-js", "-sd", join(folder, "store")] : []),
    ...args,
  ];
  let child = await start(program, { line, port });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill(signal);
    await gone;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    kill: () => end("SIGKILL"),
    restart: async () => {
      await end("SIGKILL");
      child = await start(program, { line, port });
    },
    stop: async () => {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function start(
  program: string,
  { line, port }: { line: readonly string[]; port: number },
): Promise<ChildProcess> {
  const child = spawn(program, line, { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.on("data", (data: Buffer) => {
    words = (words + data.toString()).slice(-2_000);
  });
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) break;
    // It listens once its store is read; the line says that it means this.
    if (words.includes("Server is ready") && (await accepts(port))) return child;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill("SIGKILL");
  throw new Error(`nats-server did not start on port ${port}; its last words:\n${words}`);
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = openSocket({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

async function findNatsServer(): Promise<string> {
  for (const folder of [...(process.env.PATH ?? "").split(":"), "/usr/sbin"]) {
    if (existsSync(join(folder, "nats-server"))) return join(folder, "nats-server");
  }
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "coxswain", "nats-server");
  const program = join(cache, "usr", "sbin", "nats-server");
  if (!existsSync(program)) await unpackPackage(cache);
  return program;
}

async function unpackPackage(cache: string): Promise<void> {
  const work = `${cache}.${process.pid}`;
  try {
    await mkdir(join(work, "root"), { recursive: true });
    // Without a list of packages the download finds nothing; updating it needs root, and then it is harmless.
    await run("apt-get", ["download", "nats-server"], { cwd: work }).catch(async () => {
      await run("apt-get", ["update"]);
      await run("apt-get", ["download", "nats-server"], { cwd: work });
    });
    const [file] = (await readdir(work)).filter((name) => name.endsWith(".deb"));
    if (file === undefined) throw new Error("apt-get downloaded nothing");
    await run("dpkg", ["-x", file, join(work, "root")], { cwd: work });
    await rm(cache, { recursive: true, force: true });
    await rename(join(work, "root"), cache);
  } catch (cause) {
    throw new Error(
      "nats-server is needed and could not be fetched with apt-get and dpkg; install the package 'nats-server' so that it is in the PATH",
      { cause },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return address.port;
}
