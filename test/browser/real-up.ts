/**
 * `coxswain up` as its users run it: a process of its own on loopback.
 * Owns: starting it and waiting for its address, ending it kindly or not at all kindly. It ends no process but its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface RunningUp {
  readonly url: string;
  readonly port: number;
  /** As Ctrl-C does; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** As a power cut does. */
  kill(): Promise<void>;
}

export interface UpOptions {
  /** Where bin/coxswain lies. */
  readonly installed: string;
  readonly data: string;
  /** 0 takes a free one. */
  readonly port?: number;
  readonly speed?: number;
  /** The folder of a finished pre-training. */
  readonly sharedModel?: string;
  /** Pods of a cluster unless said. */
  readonly demo?: "pods" | "functions";
}

/** A second on a free machine; CI has others to serve. */
const START_MS = 180_000;
/** Of its output, for the case that it does not start. */
const MOST_SAID = 20_000;

export async function startUp(options: UpOptions): Promise<RunningUp> {
  const { installed, data, port = 0, speed = 360, sharedModel, demo = "pods" } = options;
  const model = sharedModel === undefined ? [] : ["--shared-model", sharedModel];
  const args = ["up", "--port", String(port), "--data", data, "--speed", String(speed), "--demo", demo, ...model];
  const child = spawn(process.execPath, [join(installed, "bin/coxswain"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = await addressOf(child);
  const ended = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const over = once(child, "exit");
    child.kill(signal);
    await over;
    return child.exitCode;
  };
  return {
    url,
    port: Number(new URL(url).port),
    stop: () => ended("SIGINT"),
    async kill() {
      await ended("SIGKILL");
    },
  };
}

/** The address that it prints alone in a line; what it said instead, where there is none. */
function addressOf(child: ChildProcess): Promise<string> {
  let printed = "";
  let said = "";
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`coxswain up printed no address (${reason}); it said:\n${printed}${said}`));
    };
    const timer = setTimeout(() => fail(`within ${START_MS / 1000} s`), START_MS);
    const onExit = (code: number | null): void => fail(`it ended with code ${code}`);
    child.once("exit", onExit);
    // Both are read to the end: a pipe that nobody reads would stop it once full.
    child.stderr?.on("data", (piece: Buffer) => {
      if (said.length < MOST_SAID) said += piece.toString();
    });
    child.stdout?.on("data", (piece: Buffer) => {
      if (printed.length < MOST_SAID) printed += piece.toString();
      const address = /^(http:\/\/\S+)\n/m.exec(printed)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      child.off("exit", onExit);
      resolve(address);
    });
  });
}
