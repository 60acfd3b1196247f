/**
 * How requests ended lately.
 * Owns: the trailing window of endings, latency percentiles over it, the share that met the SLO.
 * Not here: totals since the beginning (the worlds count those), when a controller learns of it (pipeline.ts).
 */
import { quantileOf } from "./select.ts";

export const ENDING = {
  answered: 0,
  /** The client gave up for good. */
  timedOut: 1,
  /** The client gave up, and will try again: seen at the ingress, but not yet an ending for the client. */
  attemptTimedOut: 2,
  /** Refused for good, or in a pod when it was killed. */
  unanswered: 3,
} as const;

export class Outcomes {
  readonly #window: number;
  #head = 0;
  #size = 0;
  #at = new Float64Array(256);
  #latency = new Float64Array(256);
  #ending = new Uint8Array(256);
  #scratch = new Float64Array(256);

  constructor(window: number) {
    this.#window = window;
  }

  add(at: number, latency: number, ending: number): void {
    if (this.#size === this.#at.length) this.#makeRoom(at);
    const place = (this.#head + this.#size++) & (this.#at.length - 1);
    this.#at[place] = at;
    this.#latency[place] = latency;
    this.#ending[place] = ending;
  }

  /** As clients lived it: latency of those who were answered; null when nobody was. */
  latencyOfAnswered(now: number, quantile: number): number | null {
    return this.#quantile(now, quantile, false);
  }

  /** As the ingress logs it: those who gave up count with the time after which they did. */
  latencyAtIngress(now: number, quantile: number): number | null {
    return this.#quantile(now, quantile, true);
  }

  /** Of the requests that ended, the share that was answered within the target; null when none ended. */
  shareWithin(now: number, target: number): number | null {
    this.#forget(now);
    const mask = this.#at.length - 1;
    let ended = 0;
    let within = 0;
    for (let i = 0; i < this.#size; i++) {
      const place = (this.#head + i) & mask;
      const ending = this.#ending[place]!;
      if (ending === ENDING.attemptTimedOut) continue;
      ended++;
      if (ending === ENDING.answered && this.#latency[place]! <= target) within++;
    }
    return ended === 0 ? null : within / ended;
  }

  #quantile(now: number, quantile: number, withGivenUp: boolean): number | null {
    this.#forget(now);
    const mask = this.#at.length - 1;
    let count = 0;
    for (let i = 0; i < this.#size; i++) {
      const place = (this.#head + i) & mask;
      const ending = this.#ending[place]!;
      if (ending === ENDING.answered || (withGivenUp && ending !== ENDING.unanswered))
        this.#scratch[count++] = this.#latency[place]!;
    }
    return quantileOf(this.#scratch, count, quantile);
  }

  /** The window is open at its old end: what happened exactly a window ago is out. */
  #forget(now: number): void {
    const oldest = now - this.#window;
    const mask = this.#at.length - 1;
    while (this.#size > 0 && this.#at[this.#head]! <= oldest) {
      this.#head = (this.#head + 1) & mask;
      this.#size--;
    }
  }

  #makeRoom(now: number): void {
    this.#forget(now);
    if (this.#size <= this.#at.length / 2) return;
    const old = this.#at.length;
    const room = old * 2;
    const [at, latency, ending] = [new Float64Array(room), new Float64Array(room), new Uint8Array(room)];
    for (let i = 0; i < this.#size; i++) {
      const place = (this.#head + i) & (old - 1);
      at[i] = this.#at[place]!;
      latency[i] = this.#latency[place]!;
      ending[i] = this.#ending[place]!;
    }
    this.#at = at;
    this.#latency = latency;
    this.#ending = ending;
    this.#scratch = new Float64Array(room);
    this.#head = 0;
  }
}
