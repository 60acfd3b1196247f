/**
 * The contender's side of the line protocol for contenders written in TypeScript.
 * Times are taken here, around the task's own loop, as the C and Python contenders do.
 */

import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";

export interface Task {
  run(iterations: number): void | Promise<void>;
  /** The numbers others must agree with. */
  answer?(): Float32Array | Promise<Float32Array>;
  /** A number that is not a time. */
  value?(): number;
  close?(): void | Promise<void>;
}

export interface Server {
  /** Builds the task of that name from its fixture. */
  start(task: string): Task | Promise<Task>;
}

export async function serveLines({ start }: Server): Promise<void> {
  const ready = new Map<string, Task>();
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, name = "", number = "", ...rest] = line.split(" ");
    try {
      // A check begins from the fixture again, whatever ran before.
      if (verb === "check") {
        await ready.get(name)?.close?.();
        ready.delete(name);
      }
      let task = ready.get(name);
      if (!task) {
        task = await start(name);
        ready.set(name, task);
      }
      reply(await answerTo(task, { verb: verb ?? "", number: Number(number), file: rest.join(" ") }));
    } catch (error) {
      reply(`error ${(error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ")}`);
    }
  }
  for (const task of ready.values()) await task.close?.();
}

interface Request {
  readonly verb: string;
  readonly number: number;
  readonly file: string;
}

async function answerTo(task: Task, { verb, number, file }: Request): Promise<string> {
  switch (verb) {
    case "time": {
      const cpu = process.cpuUsage();
      const wall = process.hrtime.bigint();
      await task.run(number);
      const wallNs = process.hrtime.bigint() - wall;
      const used = process.cpuUsage(cpu);
      return `ok ${wallNs} ${(used.user + used.system) * 1_000}`;
    }
    case "check":
      if (!task.answer) throw new Error("this task has nothing to compare");
      await task.run(number);
      await writeFile(file, await task.answer());
      return "ok";
    case "value":
      if (!task.value) throw new Error("this task has no value");
      return `ok ${task.value()}`;
    default:
      throw new Error(`no request '${verb}'`);
  }
}

function reply(line: string): void {
  process.stdout.write(`${line}\n`);
}
