/**
 * A real NATS server with JetStream of its own for a test: Debian's package, started on a free loopback port with its store in
 * a temporary folder.
 */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as openSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, freePorts } from "./debian-program.ts";

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
  const program = await findProgram({ name: "nats-server", from: "nats-server", folder: "usr/sbin" });
  const folder = await mkdtemp(join(tmpdir(), "coxswain-nats-"));
  const [port = 0] = await freePorts(1);
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
