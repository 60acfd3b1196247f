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
  /** In the order they are due; those that are due together in the order they went to sleep. */
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
        due: this.#now + Math.max(0, duration),
        wake: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      // Most go to sleep for longer than those who sleep already, so the place is looked for from the end.
      let place = this.#sleepers.length;
      while (place > 0 && (this.#sleepers[place - 1] as Sleeper).due > sleeper.due) place -= 1;
      this.#sleepers.splice(place, 0, sleeper);
    });
  }

  /** When the next sleeper is to be woken; Infinity when all are awake. */
  get nextDue(): number {
    return this.#sleepers[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  /** Moves time and wakes those who are due, earliest first. */
  advance(duration: Ms): void {
    this.advanceTo((this.#now + duration) as Ms);
  }

  /** To a moment; one that is before now moves nothing. */
  advanceTo(moment: Ms): void {
    this.#now = Math.max(this.#now, moment);
    const firstLater = this.#sleepers.findIndex(({ due }) => due > this.#now);
    const due = this.#sleepers.splice(0, firstLater < 0 ? this.#sleepers.length : firstLater);
    for (const sleeper of due) sleeper.wake();
  }
}
