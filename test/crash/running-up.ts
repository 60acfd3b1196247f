/**
 * `coxswain up` as a process of its own that gets killed, and its API as a person with a script uses it.
 * Owns: starting, asking, killing. Not here: what must be true afterwards (up-crash.test.ts).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cleanEnv, executable } from "../e2e/run-cli.ts";

/** Nothing was answered in the time that the server waits for the plane. */
export const TOO_LATE = 504;
const MOST_AGAIN = 50;

export interface Answered<T> {
  readonly status: number;
  readonly body: T;
}

export class RunningUp {
  readonly #child: ChildProcess;
  readonly #ended: Promise<NodeJS.Signals | null>;
  readonly #url: Promise<string>;
  #said = "";

  constructor(folder: string, { speed }: { readonly speed: number }) {
    const args = [executable, "up", "--port", "0", "--data", folder, "--speed", String(speed)];
    this.#child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: cleanEnv({}) });
    this.#ended = new Promise((resolve) => this.#child.once("close", (_code, signal) => resolve(signal)));
    this.#child.stderr?.on("data", (text: Buffer) => {
      this.#said = (this.#said + text.toString()).slice(-4_000);
    });
    this.#url = new Promise((resolve, reject) => {
      this.#child.stdout?.once("data", (text: Buffer) => resolve(text.toString().trim()));
      this.#child.once("close", (code, signal) => {
        if (signal !== "SIGKILL") reject(new Error(`it ended by itself with code ${code}:\n${this.#said}`));
      });
    });
    // Killed before anybody asked for it.
    this.#url.catch(() => undefined);
  }

  async ask<T>(path: string, { method = "GET", body }: { method?: string; body?: unknown } = {}): Promise<Answered<T>> {
    const response = await fetch(`${await this.#url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    return { status: response.status, body: (await response.json()) as T };
  }

  /** Asks again where the plane was too busy: on a machine that others use that is no finding. */
  async get<T>(path: string): Promise<T> {
    let { status, body } = await this.ask<T>(path);
    for (let again = 0; status === TOO_LATE && again < MOST_AGAIN; again++)
      ({ status, body } = await this.ask<T>(path));
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** No warning, no time to save. Resolves when the process is gone; false where it had ended by itself before. */
  async kill(): Promise<boolean> {
    this.#child.kill("SIGKILL");
    return (await this.#ended) === "SIGKILL";
  }

  get said(): string {
    return this.#said;
  }
}
