/**
 * Steps on their way to the trajectory store, without the loop ever waiting for it.
 * Owns: bounded acceptance, the count of what became durable and what did not, a new writer where one stopped.
 * Not here: batches and retries (learn/trajectory's BatchingWriter), durability (the store).
 *
 * A store that is down for a while costs nothing until the buffer is full: the writer retries. What is turned away
 * then, and what a broken store loses, is counted and told; ticks go on.
 */
import type { Clock, Failure, Ms } from "../../base/index.ts";
import { failure, failureOf, milliseconds, seconds } from "../../base/index.ts";
import type { Completion, TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import { BatchingWriter } from "../../learn/trajectory/index.ts";

export interface RecorderOptions {
  readonly store: TrajectoryStore;
  readonly clock: Clock;
  /** Steps and rewards that may wait for the store. */
  readonly capacity?: number;
  readonly flushEvery?: Ms;
  /** Pause before a writer that stopped is replaced. */
  readonly reopenAfter?: Ms;
  /** Told once for each step or reward that did not become durable, and with undefined when one did after that. */
  readonly onFailure?: (failure: Failure | undefined, item: TrajectoryRecord | Completion) => void;
}

export interface RecorderStats {
  readonly durable: number;
  /** Accepted, but not stored in the end: the store broke, or refused just this one. */
  readonly lost: number;
  /** Refused because too many were waiting. */
  readonly refused: number;
  readonly waiting: number;
  readonly reopened: number;
}

/** Failures of one item; after any other the writer has stopped. */
const OF_ONE_ITEM: ReadonlySet<string> = new Set(["trajectory.invalid", "id.invalid", "store.unknown-record"]);

export class Recorder {
  readonly #options: Required<Omit<RecorderOptions, "onFailure">> & Pick<RecorderOptions, "onFailure">;
  #writer: BatchingWriter | undefined;
  #stoppedAt: Ms | undefined;
  #why: Failure | undefined;
  #waiting = 0;
  #durable = 0;
  #lost = 0;
  #refused = 0;
  #reopened = 0;
  #isClosed = false;

  constructor(options: RecorderOptions) {
    this.#options = { capacity: 8_192, flushEvery: milliseconds(50), reopenAfter: seconds(30), ...options };
    this.#writer = this.#open();
  }

  get stats(): RecorderStats {
    return {
      durable: this.#durable,
      lost: this.#lost,
      refused: this.#refused,
      waiting: this.#waiting,
      reopened: this.#reopened,
    };
  }

  /** False when it was turned away; then its reward must not be offered either. */
  append(record: TrajectoryRecord): boolean {
    return this.#accept(record, (writer) => writer.append(record));
  }

  complete(completion: Completion): boolean {
    return this.#accept(completion, (writer) => writer.complete(completion));
  }

  /** Resolves when nothing waits any more, durable or lost. */
  async settle(): Promise<void> {
    try {
      await this.#writer?.flush();
    } catch {
      // Each item has told its own failure; there is nothing to add here.
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#writer?.close();
    } catch {
      // As above: counted and told per item.
    }
  }

  #accept(item: TrajectoryRecord | Completion, put: (writer: BatchingWriter) => Promise<void>): boolean {
    const writer = this.#current();
    if (writer === undefined || this.#waiting >= this.#options.capacity) {
      this.#refused += 1;
      this.#options.onFailure?.(this.#why ?? full(this.#options.capacity), item);
      return false;
    }
    this.#waiting += 1;
    // Not awaited by design: both ends of it are handled here, and `settle` waits for all of them.
    void put(writer).then(
      () => {
        this.#waiting -= 1;
        this.#durable += 1;
        this.#options.onFailure?.(undefined, item);
      },
      (thrown) => this.#lose(item, { writer, thrown }),
    );
    return true;
  }

  #lose(item: TrajectoryRecord | Completion, { writer, thrown }: { writer: BatchingWriter; thrown: unknown }): void {
    this.#waiting -= 1;
    this.#lost += 1;
    const why = failureOf(thrown) ?? broken(thrown);
    if (!OF_ONE_ITEM.has(why.code) && writer === this.#writer) {
      this.#writer = undefined;
      this.#why = why;
      this.#stoppedAt = this.#options.clock.monotonic();
    }
    this.#options.onFailure?.(why, item);
  }

  #current(): BatchingWriter | undefined {
    if (this.#isClosed || this.#writer !== undefined) return this.#isClosed ? undefined : this.#writer;
    const waited = this.#options.clock.monotonic() - (this.#stoppedAt ?? 0);
    if (waited < this.#options.reopenAfter) return undefined;
    this.#why = undefined;
    this.#reopened += 1;
    this.#writer = this.#open();
    return this.#writer;
  }

  #open(): BatchingWriter {
    const { store, clock, capacity, flushEvery } = this.#options;
    return new BatchingWriter({ store, clock, capacity, flushEvery });
  }
}

function full(capacity: number): Failure {
  return failure(
    "loop.recorder-full",
    `${capacity} steps wait for the trajectory store already, so this one is not recorded; see why the store is slow or down`,
    { retry: true },
  );
}

function broken(cause: unknown): Failure {
  return failure("loop.recorder", "the trajectory store threw while a step was recorded; see the cause", { cause });
}
