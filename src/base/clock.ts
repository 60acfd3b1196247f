/** Time as an argument: the pure part never asks the machine what time it is. */

import type { Ms } from "./units.ts";

export interface Clock {
  /** Wall time since the Unix epoch; may jump when the host's clock is set. */
  now(): Ms;
  /** Never goes back; only differences mean something. */
  monotonic(): Ms;
  /** Resolves after the time, or rejects with the signal's reason if that comes first. */
  sleep(duration: Ms, signal?: AbortSignal): Promise<void>;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock that moves only when told to: for tests and for simulated time. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(start: Ms = 0 as Ms) {
    this.#now = start;
  }

  now(): Ms {
    return this.#now as Ms;
  }

  monotonic(): Ms {
    return this.#now as Ms;
  }

  sleep(duration: Ms, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((s) => s !== sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        due: this.#now + duration,
        wake: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /** Moves time and wakes those who are due, earliest first. */
  advance(duration: Ms): void {
    this.#now += duration;
    const due = this.#sleepers.filter((s) => s.due <= this.#now).sort((a, b) => a.due - b.due);
    this.#sleepers = this.#sleepers.filter((s) => s.due > this.#now);
    for (const sleeper of due) sleeper.wake();
  }
}
