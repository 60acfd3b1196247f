/**
 * The audit log as a file of the data folder, one line of JSON for each attempt to change something.
 * Owns: that a line which was not finished ends before the next one, that what cannot be written is kept until it can be, and
 * that this is known meanwhile. Not here: what is in a line (server), the log for people.
 */
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { AuditEntry } from "../../server/index.ts";

/** More are not kept while nothing can be written; they are in the log. */
const MOST_WAITING = 1_000;
const LINE_FEED = 0x0a;

export class AuditFile {
  readonly #path: string;
  readonly #onFailure: (cause: unknown) => void;
  #waiting: string[] = [];
  #isTorn: boolean | undefined;

  constructor(folder: string, onFailure: (cause: unknown) => void) {
    this.#path = join(folder, "audit.jsonl");
    this.#onFailure = onFailure;
  }

  write(entry: AuditEntry): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(`${JSON.stringify(entry)}\n`);
    this.#flush();
  }

  /** Tries again: whoever asks is told how it is now. */
  get isWritten(): boolean {
    if (this.#waiting.length > 0) this.#flush();
    return this.#waiting.length === 0;
  }

  #flush(): void {
    try {
      this.#isTorn ??= endsTorn(this.#path);
      appendFileSync(this.#path, (this.#isTorn ? "\n" : "") + this.#waiting.join(""), { mode: 0o600 });
      this.#isTorn = false;
      this.#waiting = [];
    } catch (cause) {
      // A part of it may stand there.
      this.#isTorn = undefined;
      this.#onFailure(cause);
    }
  }
}

function endsTorn(path: string): boolean {
  const handle = openSync(path, "a+", 0o600);
  try {
    const { size } = fstatSync(handle);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== LINE_FEED;
  } finally {
    closeSync(handle);
  }
}
