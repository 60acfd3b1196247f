/**
 * The clock of a simulated world: it stands still until it is moved, and knows who waits for what.
 * Owns: sleepers in the order they are due. Not here: who moves it and how fast (plane.ts).
 */
import type { Clock, Ms } from "../../base/index.ts";

interface Sleeper {
  readonly due: number;
  /** Those that are due together wake in the order they went to sleep. */
  readonly number: number;
  readonly wake: () => void;
}

export class StepClock implements Clock {
  #now: number;
  #slept = 0;
  /** Few at a time (a turn per agent, a deadline per kind of call), so a sorted list is enough. */
  #sleepers: Sleeper[] = [];

  constructor(start: Ms) {
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
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        due: this.#now + Math.max(0, duration),
        number: this.#slept++,
        wake: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const after = this.#sleepers.findIndex(({ due }) => due > sleeper.due);
      this.#sleepers.splice(after < 0 ? this.#sleepers.length : after, 0, sleeper);
    });
  }

  /** When the next sleeper is to be woken; Infinity when all are awake. */
  get nextDue(): number {
    return this.#sleepers[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  /** Moves to a moment that is not before now, and wakes all who are due by then. */
  moveTo(moment: number): void {
    this.#now = Math.max(this.#now, moment);
    while (this.#sleepers[0] !== undefined && this.#sleepers[0].due <= this.#now) this.#sleepers.shift()?.wake();
  }
}
