/**
 * What happened to the activations of one function: for its readings, and for the truth.
 * Owns: counts since the beginning, the latencies of those that ended lately, percentiles.
 * Not here: the records that are handed out (activation-log.ts), counters of containers (containers.ts), delays (platform.ts).
 */
import type { Ms } from "../../base/index.ts";
import { milliseconds } from "../../base/index.ts";
import { quantileOf } from "../cluster/metrics/select.ts";

/** Of an activation that completed, ms. */
export interface Timing {
  waiting: number;
  coldStart: number;
  execution: number;
}

const FIRST_ROOM = 128;
const COLUMNS = 5;
const [LATENCY, EXECUTION, WAITING, COLD, ENDED] = [0, 1, 2, 3, 4] as const;

export interface Tails {
  readonly latency: Ms | null;
  readonly execution: Ms | null;
  readonly waiting: Ms | null;
  readonly coldStart: Ms | null;
}

const NOTHING: Tails = { latency: null, execution: null, waiting: null, coldStart: null };

export class FunctionLedger {
  readonly #slo: number;
  readonly #window: number;
  arrived = 0;
  completed = 0;
  killed = 0;
  dropped = 0;
  refused = 0;
  late = 0;
  /** Completed activations for which a container was started. */
  cold = 0;
  /** Those of the window, in a ring by column: place = column · room + slot. */
  #recent = new Float64Array(FIRST_ROOM * COLUMNS);
  #room = FIRST_ROOM;
  #head = 0;
  #size = 0;
  #scratch = new Float64Array(FIRST_ROOM);
  #since = new Float64Array(FIRST_ROOM);
  #count = 0;

  constructor({ slo, window }: { readonly slo: number; readonly window: number }) {
    this.#slo = slo;
    this.#window = window;
  }

  get ended(): number {
    return this.completed + this.killed + this.dropped + this.refused;
  }

  complete(at: number, { waiting, coldStart, execution }: Timing): void {
    const latency = waiting + coldStart + execution;
    this.completed++;
    if (latency > this.#slo) this.late++;
    if (coldStart > 0) this.cold++;
    if (this.#count === this.#since.length) {
      const more = new Float64Array(2 * this.#count);
      more.set(this.#since);
      this.#since = more;
    }
    this.#since[this.#count++] = latency;
    if (this.#size === this.#room) this.#makeRoom(at);
    const slot = (this.#head + this.#size++) & (this.#room - 1);
    this.#recent[LATENCY * this.#room + slot] = latency;
    this.#recent[EXECUTION * this.#room + slot] = execution;
    this.#recent[WAITING * this.#room + slot] = waiting;
    this.#recent[COLD * this.#room + slot] = coldStart;
    this.#recent[ENDED * this.#room + slot] = at;
  }

  /** 99th percentiles over the window that ends at a moment; moments never go back. */
  tails(at: number): Tails {
    this.#forget(at);
    if (this.#size === 0) return NOTHING;
    return {
      latency: this.#tail(LATENCY, at),
      execution: this.#tail(EXECUTION, at),
      waiting: this.#tail(WAITING, at),
      coldStart: this.#tail(COLD, at),
    };
  }

  /** Latencies since the last call. */
  takeLatencies(): Float64Array {
    const taken = this.#since.slice(0, this.#count);
    this.#count = 0;
    return taken;
  }

  #tail(column: number, at: number): Ms | null {
    let count = 0;
    for (let i = 0; i < this.#size; i++)
      if (this.#ended(i) <= at)
        this.#scratch[count++] = this.#recent[column * this.#room + ((this.#head + i) & (this.#room - 1))]!;
    const found = quantileOf(this.#scratch, count, 0.99);
    return found === null ? null : milliseconds(found);
  }

  #ended(i: number): number {
    return this.#recent[ENDED * this.#room + ((this.#head + i) & (this.#room - 1))]!;
  }

  #forget(at: number): void {
    const oldest = at - this.#window;
    while (this.#size > 0 && this.#ended(0) <= oldest) {
      this.#head = (this.#head + 1) & (this.#room - 1);
      this.#size--;
    }
  }

  #makeRoom(now: number): void {
    // A reading may end its window up to its delay ago.
    this.#forget(now - this.#window);
    if (this.#size <= this.#room / 2) return;
    const room = 2 * this.#room;
    const recent = new Float64Array(room * COLUMNS);
    for (let column = 0; column < COLUMNS; column++)
      for (let i = 0; i < this.#size; i++)
        recent[column * room + i] = this.#recent[column * this.#room + ((this.#head + i) & (this.#room - 1))]!;
    this.#recent = recent;
    this.#room = room;
    this.#head = 0;
    this.#scratch = new Float64Array(room);
  }
}
