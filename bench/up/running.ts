/**
 * `coxswain up` as a process of its own, started and stopped by a bench.
 * Owns: starting it on a free port with a folder that is thrown away, its url, its memory, the way out.
 * Not here: what is measured of it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packageRoot, workerEntry } from "../../src/adapters/runtime/index.ts";
import type { HeapFigures } from "./memory-worker.ts";

export interface RunningUp {
  readonly url: string;
  /** When it was started, by `performance.now`. */
  readonly startedAt: number;
  /** After a collection in every thread; only where it was started for that. */
  memory(): Promise<HeapFigures>;
  stop(): Promise<void>;
}

export interface UpStart {
  /** Times the wall's speed. */
  readonly speed?: number;
  readonly workloads?: number;
  readonly isMemoryWatched?: boolean;
  readonly signal: AbortSignal;
}

const STOP_WITHIN_MS = 20_000;

export async function startUp({ speed, workloads, isMemoryWatched = false, signal }: UpStart): Promise<RunningUp> {
  const entry = join(packageRoot(), "bin", "coxswain");
  if (!existsSync(entry)) throw new Error(`${entry} is missing; run the bench from a checkout or an installed package`);
  const folder = await mkdtemp(join(tmpdir(), "coxswain-bench-up-"));
  const startedAt = performance.now();
  const watching = isMemoryWatched
    ? ["--expose-gc", "--import", workerEntry("./memory-worker.ts", import.meta.url).href]
    : [];
  const flags = [
    ...(speed === undefined ? [] : ["--speed", String(speed)]),
    ...(workloads === undefined ? [] : ["--workloads", String(workloads)]),
  ];
  const child = spawn(process.execPath, [...watching, entry, "up", "--port", "0", "--data", folder, ...flags], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    signal.removeEventListener("abort", onAbort);
    await end(child, ended);
    await rm(folder, { recursive: true, force: true });
  };
  const onAbort = () => void stop();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const url = await urlOf(child);
    return { url, startedAt, memory: () => heapOf(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The first line that it prints; where it ends without one, what it said instead. */
function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (part: Buffer) => {
      said = (said + part.toString()).slice(-2_000);
    });
    if (child.stdout === null) return reject(new Error("coxswain up has no standard output"));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url !== undefined) resolve(url.replace(/\/+$/, ""));
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`coxswain up ended with code ${code}: ${said.trim()}`)));
  });
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGINT");
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
  await ended;
  clearTimeout(late);
}

export function heapOf(child: Pick<ChildProcess, "once" | "off" | "send">): Promise<HeapFigures> {
  return new Promise((resolve, reject) => {
    // It is asked many times in its life, so neither listener may outlive the question.
    const onFigures = (figures: unknown) => {
      child.off("exit", onExit);
      resolve(figures as HeapFigures);
    };
    const onExit = () => {
      child.off("message", onFigures);
      reject(new Error("coxswain up ended while its memory was looked at"));
    };
    child.once("message", onFigures);
    child.once("exit", onExit);
    child.send("measure");
  });
}
