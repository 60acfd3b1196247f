/** What a check of the machine says, and how outside programs are asked. */

import { execFile } from "node:child_process";

export interface Finding {
  readonly id: string;
  readonly what: string;
  /** "absent" is fine until one wants what needs it; "bad" means coxswain itself cannot work well here. */
  readonly status: "ok" | "absent" | "bad";
  readonly found: string;
  /** What to do about it, when there is something to do. */
  readonly advice?: string;
}

export type Check = () => Finding | Promise<Finding>;

/** The first line a program prints, or undefined when it is not there or does not answer in time. */
export function ask(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 10_000, encoding: "utf8" }, (error, stdout, stderr) => {
      if (error) return resolve(undefined);
      const line = `${stdout}\n${stderr}`.split("\n").find((text) => text.trim() !== "");
      resolve(line?.trim() ?? "");
    });
  });
}

export interface ProgramCheck {
  readonly id: string;
  readonly what: string;
  /** Tried in this order. */
  readonly programs: readonly string[];
  readonly args: readonly string[];
  readonly advice: string;
}

export function programCheck({ id, what, programs, args, advice }: ProgramCheck): Check {
  return async () => {
    for (const program of programs) {
      const line = await ask(program, args);
      if (line !== undefined) return { id, what, status: "ok", found: line.slice(0, 60) };
    }
    return { id, what, status: "absent", found: "not found", advice };
  };
}
