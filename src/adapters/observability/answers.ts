/**
 * Answers of the API by method, route and status, with their times.
 * Owns: counting them, in memory that does not grow: methods and statuses come from outside, so there is room for some
 * combinations and the rest is counted together. Not here: the page (plane-metrics.ts), measuring (server).
 */
import type { TimingsDocument } from "../../contract/index.ts";
import { Timings } from "./timings.ts";

export interface AnswerSeen {
  readonly method: string;
  /** Its pattern, so that it has few values. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

const MOST_COMBINATIONS = 256;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT"]);
const SEPARATOR = " ";

export class Answers {
  readonly #timings = new Map<string, Timings>();

  add({ method, route, status, ms }: AnswerSeen): void {
    const key = [METHODS.has(method) ? method : "other", route, status].join(SEPARATOR);
    const kept = this.#timings.has(key) || this.#timings.size < MOST_COMBINATIONS ? key : "other other other";
    let timings = this.#timings.get(kept);
    if (timings === undefined) {
      timings = new Timings();
      this.#timings.set(kept, timings);
    }
    timings.add(ms / 1_000);
  }

  /** Labels: method, route, status. */
  *entries(): Generator<readonly [labels: readonly string[], figures: TimingsDocument]> {
    for (const [key, timings] of this.#timings) yield [key.split(SEPARATOR), timings.figures];
  }
}
