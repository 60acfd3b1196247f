/**
 * `coxswain up` as a process that is attacked: its addresses, its log, its memory, its end.
 * Owns: starting it with a log that programs read, and what of the log no attack may cause. Not here: attacks.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import type { ServicesDocument } from "../../src/contract/index.ts";
import { cleanEnv, executable } from "../e2e/run-cli.ts";

/** A machine that others use as well is no reason to fail. */
const PATIENCE_MS = 120_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class HostileUp {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #address: Promise<string | null>;
  #said = "";

  constructor(folder: string, args: readonly string[]) {
    const ports = ["--port", "0", "--otlp-http-port", "0", "--otlp-grpc-port", "0"];
    const all = ["up", ...ports, "--data", folder, "--log-format", "json", "--log-level", "info", ...args];
    this.#child = spawn(process.execPath, [executable, ...all], {
      stdio: ["ignore", "pipe", "pipe"],
      env: cleanEnv({}),
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => resolve({ code, signal }));
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said += text;
    });
    this.#address = new Promise((resolve) => {
      this.#child.stdout?.once("data", (text: Buffer) => resolve(text.toString().trim()));
      this.#child.once("close", () => resolve(null));
    });
  }

  /** null where it ended instead of starting. */
  address(): Promise<string | null> {
    return this.#address;
  }

  async url(): Promise<string> {
    const url = await this.#address;
    if (url === null) throw new Error(`it ended instead of starting:\n${this.#said}`);
    return url;
  }

  async get<T>(path: string): Promise<{ readonly status: number; readonly body: T }> {
    const answer = await fetch(`${await this.url()}${path}`);
    return { status: answer.status, body: (await answer.json()) as T };
  }

  async write(method: "PUT" | "POST", path: string, body?: object): Promise<void> {
    const answer = await fetch(`${await this.url()}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
  }

  async listeners(): Promise<{ readonly http: string; readonly grpc: string }> {
    const { body } = await this.get<ServicesDocument>("/v1/services");
    const { http, grpc, problems } = body.listeners;
    if (http === null || grpc === null) throw new Error(`spans are not received: ${problems.join("; ")}`);
    return { http, grpc };
  }

  /** Asks until it is so; false where the patience ended first. */
  async becomes(isSo: () => Promise<boolean>): Promise<boolean> {
    for (const began = performance.now(); performance.now() - began < PATIENCE_MS; await after(200))
      if (this.isAlive && (await isSo())) return true;
      else if (!this.isAlive) return false;
    return false;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What the process holds, in bytes; 0 where the system does not tell. */
  get memory(): number {
    try {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8")) ?? [];
      return 1_024 * Number(kilobytes ?? 0);
    } catch {
      return 0;
    }
  }

  /** All that it wrote to standard error: the log, and whatever came beside it. */
  get said(): string {
    return this.#said;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async stop(): Promise<Ended> {
    this.#child.kill("SIGTERM");
    return this.ended;
  }
}

/** A stack is a defect, whoever caused it: frames of one, in a line of the log or beside the log. */
const FRAME = /(?:^|\n|\\n)\s+at \S.*?:\d+:\d+/;

/** Lines that show that something went wrong in a way that nobody had thought of. */
export const defectsIn = (said: string): readonly string[] =>
  said
    .split("\n")
    .filter((line) => FRAME.test(line) || /"level":"fatal"|a defect of coxswain|Segmentation|FATAL ERROR/.test(line));

export const linesOfLevel = (said: string, level: "warn" | "error"): readonly string[] =>
  said.split("\n").filter((line) => line.includes(`"level":"${level}"`));
