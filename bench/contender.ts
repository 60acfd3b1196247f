/**
 * A contender: a process that computes a task as often as it is told and reports how long that took.
 * Owns: the line protocol (spelt out in native/line-protocol.h) as its client, and the process's life.
 * Not here: the order of turns (measure.ts), what a task computes.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Lap } from "./statistics.ts";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class Contender {
  /** For people: "PyTorch 2.15.0". May be completed by the process's own greeting. */
  readonly label: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #answers: { resolve: (line: string) => void; reject: (why: Error) => void }[] = [];
  #complaints = "";
  #ended: Error | undefined;
  /** What the process said before the first request, if it greets. */
  greeting = "";

  constructor(label: string, command: Command) {
    this.label = label;
    this.#child = spawn(command.program, command.args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...command.env },
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#complaints = (this.#complaints + text).slice(-2_000);
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) this.greeting = line.slice("ready ".length);
      else this.#answers.shift()?.resolve(line);
    });
    this.#child.stdin.on("error", () => {}); // the exit below says more than EPIPE
    this.#child.on("error", (cause) => this.#fail(new Error(`${label} did not start: ${cause.message}`)));
    this.#child.on("exit", (code, signal) => {
      const last = this.#complaints.trim().split("\n").at(-1) ?? "";
      this.#fail(new Error(`${label} ended (${signal ?? `exit code ${code}`})${last ? `: ${last}` : ""}`));
    });
  }

  /** Runs the task that many times. */
  async time(task: string, iterations: number): Promise<Lap> {
    const [wall, cpu] = await this.#ask(`time ${task} ${iterations}`);
    return { iterations, wallNs: Number(wall), cpuNs: Number(cpu) };
  }

  /** Starts the task anew from its fixture, does that many steps and returns the numbers others must agree with. */
  async check(task: string, { steps, answerFile }: { steps: number; answerFile: string }): Promise<Float32Array> {
    await this.#ask(`check ${task} ${steps} ${answerFile}`);
    const bytes = await readFile(answerFile);
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  }

  /** A number the contender knows: bytes, counts. */
  async value(task: string): Promise<number> {
    const [value] = await this.#ask(`value ${task} 0`);
    return Number(value);
  }

  /** Ends the process; a contender that is done does not disturb the others. */
  async close(): Promise<void> {
    if (this.#ended) return;
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 3_000);
    await gone;
    clearTimeout(timer);
  }

  /** Ends the process now. */
  kill(): void {
    if (!this.#ended) this.#child.kill("SIGKILL");
  }

  async #ask(request: string): Promise<string[]> {
    if (this.#ended) throw this.#ended;
    const answer = new Promise<string>((resolve, reject) => this.#answers.push({ resolve, reject }));
    this.#child.stdin.write(`${request}\n`);
    const [status, ...rest] = (await answer).split(" ");
    if (status !== "ok") throw new Error(rest.join(" ") || `${this.label} answered "${status}"`);
    return rest;
  }

  #fail(why: Error): void {
    this.#ended ??= why;
    for (const { reject } of this.#answers.splice(0)) reject(why);
  }
}
