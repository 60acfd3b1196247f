/**
 * Requests at a steady rate, whatever becomes of the ones before.
 * Owns: the schedule and the percentiles. A request's time counts from the moment at which it was due: a server that stalls
 * is charged for everybody who would have asked meanwhile, not only for the one that it kept waiting.
 */
import { setTimeout as after } from "node:timers/promises";
import { type Connection, openConnection } from "./connection.ts";

export interface LoadOptions {
  readonly url: string;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface LoadResult {
  readonly sent: number;
  /** Answers other than 2xx and 304, and requests without an answer. */
  readonly failed: number;
  /** Of all that were answered, ascending, in milliseconds. */
  readonly times: Float64Array;
}

/** So many answers may be outstanding; beyond, requests wait for one of them, and their time runs. */
const MOST_CONNECTIONS = 64;

export async function steadyLoad({ url, paths, perSecond, seconds, signal }: LoadOptions): Promise<LoadResult> {
  const count = Math.round(perSecond * seconds);
  const pool = new Pool(new URL(url));
  const times = new Float64Array(count);
  let answered = 0;
  const pending = new Set<Promise<void>>();
  const start = performance.now();
  const send = async (index: number): Promise<void> => {
    const status = await pool.ask(paths[index % paths.length] ?? "/");
    if (isGood(status)) times[answered++] = performance.now() - start - (index / perSecond) * 1_000;
  };
  try {
    for (let sent = 0; sent < count; ) {
      signal.throwIfAborted();
      // Timers are no finer than a millisecond: all that are due by now go out together.
      const due = Math.min(count, Math.floor(((performance.now() - start) / 1_000) * perSecond) + 1);
      for (; sent < due; sent++) {
        const sending: Promise<void> = send(sent).finally(() => pending.delete(sending));
        pending.add(sending);
      }
      await after(1);
    }
    await Promise.all(pending);
    return { sent: count, failed: count - answered, times: times.slice(0, answered).sort() };
  } finally {
    pool.close();
  }
}

const isGood = (status: number): boolean => (status >= 200 && status < 300) || status === 304;

/** Connections that are free are asked again, the last one that answered first. */
class Pool {
  readonly #url: URL;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  readonly #waiting: ((free: Connection) => void)[] = [];

  constructor(url: URL) {
    this.#url = url;
  }

  async ask(path: string): Promise<number> {
    const connection = await this.#take();
    const status = await connection.ask(path);
    this.#giveBack(connection);
    return status;
  }

  #take(): Connection | Promise<Connection> {
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (free.isOpen) return free;
      this.#all.delete(free);
    }
    return this.#all.size < MOST_CONNECTIONS ? this.#open() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  #giveBack(connection: Connection): void {
    if (!connection.isOpen) this.#all.delete(connection);
    const next = this.#waiting.shift();
    if (next !== undefined) next(connection.isOpen ? connection : this.#open());
    else if (connection.isOpen) this.#free.push(connection);
  }

  #open(): Connection {
    const connection = openConnection(this.#url);
    this.#all.add(connection);
    return connection;
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }
}

/** The smallest value that at least this share of all is not above; NaN of none. */
export function quantile(ascending: Float64Array, share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? Number.NaN;
}
