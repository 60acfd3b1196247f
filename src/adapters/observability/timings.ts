/** Durations counted by size, as a histogram shows them. */
import type { TimingsDocument } from "../../contract/index.ts";

/** From what a tick or a request takes (tens of microseconds) to what a turn may (its deadlines, seconds). */
const BOUNDS = [
  0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5,
] as const;

/** Seconds, counted by size. */
export class Timings {
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  add(seconds: number): void {
    const within = BOUNDS.findIndex((bound) => seconds <= bound);
    const i = within === -1 ? BOUNDS.length : within;
    this.#counts[i] = (this.#counts[i] ?? 0) + 1;
    this.#sum += seconds;
  }

  get figures(): TimingsDocument {
    return { bounds: BOUNDS, counts: [...this.#counts], sum: this.#sum };
  }
}
