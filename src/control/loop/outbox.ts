/**
 * Events on their way out: bounded, never waited for, drops counted.
 * Owns: the queue and its one consumer. Not here: what the sink does with them.
 */
import type { Ms } from "../../base/index.ts";
import { Mailbox, ok, seconds } from "../../base/index.ts";
import type { Deadlines } from "./bounded-call.ts";
import { Lane } from "./bounded-call.ts";
import type { EventSink, LoopEvent } from "./ports.ts";

export interface OutboxOptions {
  readonly sink: EventSink;
  readonly deadlines: Deadlines;
  readonly capacity?: number;
  /** Most events handed over at once. */
  readonly batch?: number;
  /** How long the sink may take for a batch before it is given up. */
  readonly limit?: Ms;
}

export interface OutboxStats {
  readonly delivered: number;
  /** Refused because the queue was full. */
  readonly dropped: number;
  /** Handed to a sink that failed or did not answer in time. */
  readonly lost: number;
  readonly waiting: number;
}

export class Outbox {
  readonly #options: Required<OutboxOptions>;
  readonly #mailbox: Mailbox<LoopEvent>;
  readonly #lane = new Lane("the event sink");
  readonly #running: Promise<void>;
  #delivered = 0;
  #lost = 0;

  constructor(options: OutboxOptions) {
    this.#options = { capacity: 8_192, batch: 512, limit: seconds(5), ...options };
    this.#mailbox = new Mailbox({ capacity: this.#options.capacity });
    this.#running = this.#run();
  }

  get stats(): OutboxStats {
    return {
      delivered: this.#delivered,
      dropped: this.#mailbox.refused,
      lost: this.#lost,
      waiting: this.#mailbox.size,
    };
  }

  post(event: LoopEvent): void {
    this.#mailbox.offer(event);
  }

  /** Delivers what was posted, then ends. */
  async close(): Promise<void> {
    this.#mailbox.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      const first = await this.#mailbox.take();
      if (first === undefined) return;
      const batch = [first];
      while (batch.length < this.#options.batch) {
        const next = this.#mailbox.poll();
        if (next === undefined) break;
        batch.push(next);
      }
      await this.#deliver(batch);
    }
  }

  async #deliver(batch: readonly LoopEvent[]): Promise<void> {
    const deadline = this.#options.deadlines.start(this.#options.limit);
    const told = await this.#lane.call(async (signal) => {
      await this.#options.sink.write(batch, signal);
      return ok(undefined);
    }, deadline);
    deadline.end();
    if (told.ok) this.#delivered += batch.length;
    else this.#lost += batch.length;
  }
}
