/**
 * A bounded buffer in front of a store: callers hand over single steps, the store gets batches.
 * Owns: flushing by size and by time, back-pressure (`append` waits for room) and counted refusals (`offer` does not).
 * Not here: durability and retries' safety, which the store promises (append and complete may be repeated).
 *
 * A failure that a retry may cure is retried with growing pauses while the buffer fills and then refuses. A completion
 * of a record that the store does not know fails alone. Any other failure stops the writer: everything not yet durable
 * and every later call gets that failure. Nothing is dropped silently.
 */

import type { Clock, Failure, Ms } from "../../base/index.ts";
import { CodedError, failure, failureOf, Mailbox, milliseconds } from "../../base/index.ts";
import type { Completion, TrajectoryRecord } from "./record.ts";
import { ownCompletion, ownCopy, problemInCompletions, problemInRecords } from "./record.ts";
import type { TrajectoryStore } from "./store.ts";

export interface BatchingWriterOptions {
  readonly store: TrajectoryStore;
  readonly clock: Clock;
  /** How many items may wait. */
  readonly capacity?: number;
  /** A batch of this size is written at once. */
  readonly flushSize?: number;
  /** A smaller batch is written after this time. */
  readonly flushEvery?: Ms;
  /** Pause before the first retry; it doubles up to a hundred times that. */
  readonly retryAfter?: Ms;
}

export interface WriterStats {
  readonly waiting: number;
  readonly durable: number;
  /** Items turned away because the buffer was full, the writer closed or failed, or their record is not stored. */
  readonly refused: number;
  readonly retries: number;
}

type Content =
  | { readonly kind: "record"; readonly record: TrajectoryRecord }
  | { readonly kind: "completion"; readonly completion: Completion };
interface Item<Kind extends Content = Content> {
  readonly content: Kind;
  readonly settle?: { readonly resolve: () => void; readonly reject: (reason: CodedError) => void };
}

type CompletionItem = Item<Extract<Content, { kind: "completion" }>>;
type TurnedAway = Map<Item, Failure>;

export class BatchingWriter {
  readonly #store: TrajectoryStore;
  readonly #clock: Clock;
  readonly #mailbox: Mailbox<Item>;
  readonly #capacity: number;
  readonly #flushSize: number;
  readonly #flushEvery: Ms;
  readonly #retryAfter: Ms;
  readonly #running: Promise<void>;
  #linger = new AbortController();
  #room: (() => void)[] = [];
  #taken = 0;
  #durable = 0;
  #refused = 0;
  #retries = 0;
  #failed: Failure | undefined;
  /** Why an item was turned away whose caller did not wait: for the next flush or the close to tell. */
  #untold: Failure | undefined;
  /** Accepted items of which it is known what became of them. */
  #settled = 0;
  /** Flushes that wait until `settled` reaches their mark. */
  #marks: { readonly at: number; readonly resolve: () => void; readonly reject: (reason: CodedError) => void }[] = [];
  #accepted = 0;

  constructor({ store, clock, capacity = 65_536, flushSize = 8_192, flushEvery, retryAfter }: BatchingWriterOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#capacity = capacity;
    this.#mailbox = new Mailbox({ capacity });
    this.#flushSize = Math.min(flushSize, capacity);
    this.#flushEvery = flushEvery ?? milliseconds(50);
    this.#retryAfter = retryAfter ?? milliseconds(20);
    this.#running = this.#run();
  }

  get stats(): WriterStats {
    const { size } = this.#mailbox;
    return { waiting: size + this.#taken, durable: this.#durable, refused: this.#refused, retries: this.#retries };
  }

  /** Takes the record if there is room, without promising durability; a refusal is counted. Throws on a bad record. */
  offer(record: TrajectoryRecord): boolean {
    return this.#offer({ content: { kind: "record", record: ownCopy(record) } });
  }

  offerCompletion(completion: Completion): boolean {
    return this.#offer({ content: { kind: "completion", completion: ownCompletion(completion) } });
  }

  /** Waits for room, then until the record is durable. */
  append(record: TrajectoryRecord, signal?: AbortSignal): Promise<void> {
    return this.#put({ kind: "record", record: ownCopy(record) }, signal);
  }

  complete(completion: Completion, signal?: AbortSignal): Promise<void> {
    return this.#put({ kind: "completion", completion: ownCompletion(completion) }, signal);
  }

  /**
   * Resolves when everything accepted so far is durable, save completions whose callers heard that their record is not
   * stored. Rejects, once, if nobody waited for such a completion.
   */
  flush(): Promise<void> {
    if (this.#failed) return Promise.reject(new CodedError(this.#failed));
    if (this.#settled >= this.#accepted) {
      const untold = this.#takeUntold();
      return untold ? Promise.reject(new CodedError(untold)) : Promise.resolve();
    }
    this.#linger.abort();
    return new Promise((resolve, reject) => this.#marks.push({ at: this.#accepted, resolve, reject }));
  }

  /** Writes what was accepted, then stops; the store stays open. */
  async close(): Promise<void> {
    this.#mailbox.close();
    this.#linger.abort();
    await this.#running;
    const problem = this.#failed ?? this.#takeUntold();
    if (problem) throw new CodedError(problem);
  }

  #offer(item: Item): boolean {
    const { content } = item;
    const problem =
      content.kind === "record" ? problemInRecords([content.record]) : problemInCompletions([content.completion]);
    // One bad step must not spoil the batch it would travel in, so it is refused on entry.
    if (problem) throw new CodedError(problem);
    if (this.#failed || !this.#mailbox.offer(item)) {
      this.#refused += 1;
      return false;
    }
    this.#accepted += 1;
    if (this.#mailbox.size + this.#taken >= this.#flushSize) this.#linger.abort();
    return true;
  }

  #put(content: Content, signal: AbortSignal | undefined): Promise<void> {
    return this.#mustWait ? this.#putLater(content, signal) : this.#putNow(content);
  }

  get #mustWait(): boolean {
    return this.#mailbox.size >= this.#capacity && !this.#failed && !this.#mailbox.isClosed;
  }

  async #putLater(content: Content, signal: AbortSignal | undefined): Promise<void> {
    while (this.#mustWait) await this.#roomMade(signal);
    await this.#putNow(content);
  }

  #putNow(content: Content): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (!this.#offer({ content, settle: { resolve, reject } }))
        reject(new CodedError(this.#failed ?? writerClosed()));
    });
  }

  #roomMade(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const wake = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#room = this.#room.filter((w) => w !== wake);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#room.push(wake);
    });
  }

  async #run(): Promise<void> {
    for (;;) {
      const first = await this.#mailbox.take();
      if (first === undefined) return;
      const batch = [first];
      this.#drainInto(batch);
      await this.#lingerFor(batch);
      const turnedAway: TurnedAway = new Map();
      try {
        await this.#write(batch, turnedAway);
      } catch (thrown) {
        this.#stop(batch, thrown);
        return;
      }
      this.#settle(batch, turnedAway);
    }
  }

  #settle(batch: readonly Item[], turnedAway: TurnedAway): void {
    this.#taken = 0;
    this.#settled += batch.length;
    this.#durable += batch.length - turnedAway.size;
    this.#refused += turnedAway.size;
    for (const item of batch) {
      const why = turnedAway.get(item);
      if (why === undefined) item.settle?.resolve();
      else if (item.settle) item.settle.reject(new CodedError(why));
      else this.#untold ??= why;
    }
    const reached = this.#marks.filter((mark) => mark.at <= this.#settled);
    if (reached.length === 0) return;
    this.#marks = this.#marks.filter((mark) => mark.at > this.#settled);
    const untold = this.#takeUntold();
    for (const mark of reached) {
      if (untold) mark.reject(new CodedError(untold));
      else mark.resolve();
    }
  }

  #takeUntold(): Failure | undefined {
    const untold = this.#untold;
    this.#untold = undefined;
    return untold;
  }

  #drainInto(batch: Item[]): void {
    while (batch.length < this.#flushSize) {
      const item = this.#mailbox.poll();
      if (item === undefined) break;
      batch.push(item);
    }
    this.#taken = batch.length;
    const waiting = this.#room;
    this.#room = [];
    for (const wake of waiting) wake();
  }

  /** Waits for company until the batch is full, the time is up, or somebody asks for a flush. */
  async #lingerFor(batch: Item[]): Promise<void> {
    if (batch.length >= this.#flushSize || this.#mailbox.isClosed || this.#marks.length > 0) return;
    this.#linger = new AbortController();
    try {
      await this.#clock.sleep(this.#flushEvery, this.#linger.signal);
    } catch {
      // The wait was cut short, which is what the controller is for.
    }
    this.#drainInto(batch);
  }

  async #write(batch: readonly Item[], turnedAway: TurnedAway): Promise<void> {
    const records: TrajectoryRecord[] = [];
    const completions: CompletionItem[] = [];
    for (const item of batch) {
      if (item.content.kind === "record") records.push(item.content.record);
      else completions.push(item as CompletionItem);
    }
    // A completion is accepted after its record, so within a batch the records go first.
    if (records.length > 0) await this.#retrying(() => this.#store.append(records));
    if (completions.length > 0) await this.#complete(completions, turnedAway);
  }

  /**
   * A store takes all completions or none and names one that it does not know only in words. Halving finds them all,
   * in about 2 log2(batch) calls each; it is safe because a call that was refused changed nothing.
   */
  async #complete(items: readonly CompletionItem[], turnedAway: TurnedAway): Promise<void> {
    try {
      await this.#retrying(() => this.#store.complete(items.map(({ content }) => content.completion)));
    } catch (thrown) {
      const problem = failureOf(thrown);
      if (problem?.code !== "store.unknown-record") throw thrown;
      const [first] = items;
      if (first !== undefined && items.length === 1) {
        turnedAway.set(first, problem);
        return;
      }
      const half = items.length >> 1;
      await this.#complete(items.slice(0, half), turnedAway);
      await this.#complete(items.slice(half), turnedAway);
    }
  }

  async #retrying(call: () => Promise<unknown>): Promise<void> {
    for (let pause = this.#retryAfter as number; ; pause = Math.min(pause * 2, this.#retryAfter * 100)) {
      try {
        await call();
        return;
      } catch (thrown) {
        // Closing must end: a store that is gone while the writer closes is reported, not waited for.
        if (failureOf(thrown)?.retry !== true || this.#mailbox.isClosed) throw thrown;
        this.#retries += 1;
        await this.#clock.sleep(milliseconds(pause));
      }
    }
  }

  #stop(batch: readonly Item[], thrown: unknown): void {
    const cause =
      failureOf(thrown) ??
      failure("store.writer", "the trajectory writer stopped because the store threw; see the cause", {
        cause: thrown,
      });
    this.#failed = cause;
    this.#mailbox.close();
    const lost = [...batch];
    for (let item = this.#mailbox.poll(); item !== undefined; item = this.#mailbox.poll()) lost.push(item);
    this.#taken = 0;
    for (const { settle } of lost) settle?.reject(new CodedError(cause));
    for (const mark of this.#marks) mark.reject(new CodedError(cause));
    this.#marks = [];
    for (const wake of this.#room) wake();
    this.#room = [];
  }
}

function writerClosed(): Failure {
  return failure("store.writer-closed", "the trajectory writer was closed and takes no more records; open a new one");
}
