/**
 * Jobs for whoever has time: a work queue of NATS JetStream.
 * Owns: its stream, the consumer of one build, offering, taking and withdrawing jobs, and word of those under way.
 * Not here: the connection (connection.ts), what messages say (work-messages.ts), outcomes (work-results.ts).
 *
 *   coxswain.work.jobs.<build>.<fingerprint>.<offer>     the queue: a job is there until it is acknowledged or withdrawn
 *   coxswain.work.beats.<build>.<fingerprint>.<offer>    how far it is, every few seconds; kept by nobody
 *
 * A build has a consumer of its own, so that a worker with other sources is never given a job that it could not do the
 * same way. A job that is not acknowledged within the wait, and of which no word comes either, goes to somebody else.
 */
import type { Consumer, JetStreamClient, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import {
  AckPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import type { Failure } from "../../base/index.ts";
import { CodedError, err, failure, ok, type Result } from "../../base/index.ts";
import { natsFailure } from "./failures.ts";
import type { WorkBuild, WorkOffer } from "./work-messages.ts";
import { buildMark, OFFER_BYTES, offerId, readBeat, readOffer, writeMessage } from "./work-messages.ts";
import { isMissing } from "./work-trouble.ts";

export const JOBS_STREAM = "coxswain-work";
const JOBS = "coxswain.work.jobs";
const BEATS = "coxswain.work.beats";

const MOST_OFFERS = 100_000;
const MOST_BYTES = 64 * 2 ** 20;
const DAY_MS = 86_400_000;
const REQUEST_MS = 5_000;

export interface WorkQueueOptions {
  readonly connection: NatsConnection;
  readonly build: WorkBuild;
  /** A job that nobody speaks of for so long is given to somebody else. Of the consumer: whoever makes it decides. */
  readonly ackWaitMs?: number;
  /** How often a job is given out before it counts as one that ends whoever takes it. */
  readonly tries?: number;
}

/** A job that this process was given. One of the ends has to be called. */
export interface TakenJob {
  readonly offer: WorkOffer;
  readonly id: string;
  /** How often it has been given to somebody, this time included. */
  readonly deliveries: number;
  /** It has been given out too often: say so in its outcome, and do not run it. */
  readonly isWornOut: boolean;
  /** Still at it. */
  beat(fraction: number): void;
  /** Its outcome is stored: it leaves the queue. */
  done(): Promise<void>;
  /** Somebody else may have it, after a while if need be. */
  handBack(afterMs?: number): Promise<void>;
}

export type Taking =
  | { readonly kind: "job"; readonly job: TakenJob }
  /** A message that is no offer, or not one that can be here; it has left the queue. */
  | { readonly kind: "refused"; readonly failure: Failure }
  | { readonly kind: "nothing" };

export class WorkQueue {
  /** Of the build, in subjects. */
  readonly mark: string;
  readonly #connection: NatsConnection;
  readonly #jetstream: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #ackWaitMs: number;
  readonly #tries: number;
  #consumer: Consumer | undefined;

  private constructor(options: WorkQueueOptions, manager: JetStreamManager) {
    this.mark = buildMark(options.build);
    this.#connection = options.connection;
    this.#jetstream = jetstream(options.connection, { timeout: REQUEST_MS });
    this.#manager = manager;
    this.#ackWaitMs = options.ackWaitMs ?? 10_000;
    this.#tries = options.tries ?? 5;
  }

  /** Makes the stream where there is none; one that is there is taken as its operator made it. */
  static async open(options: WorkQueueOptions): Promise<Result<WorkQueue>> {
    try {
      const manager = await jetstreamManager(options.connection, { timeout: REQUEST_MS, checkAPI: true });
      const queue = new WorkQueue(options, manager);
      await queue.#ensureStream();
      return ok(queue);
    } catch (cause) {
      const found = natsFailure(cause, "the work queue");
      // Asked for the first time, and nobody there who would answer.
      if (found.code !== "nats.no-responders") return err(found);
      const text = "the work queue: the NATS server has no JetStream; start it with -js and -sd <folder>";
      return err(failure("nats.no-jetstream", text));
    }
  }

  /** Often enough that a job whose worker lives is never given to another one. */
  get beatEveryMs(): number {
    return this.#ackWaitMs / 4;
  }

  get ackWaitMs(): number {
    return this.#ackWaitMs;
  }

  // ── Of whoever asks ──────────────────────────────────────────────────────────────────────────────────

  /** Puts it into the queue, unless it is there already. */
  async offer(offer: WorkOffer): Promise<Result<void>> {
    const bytes = writeMessage(offer);
    const subject = this.#subject(JOBS, offer.fingerprint, offerId(offer));
    try {
      await this.#jetstream.publish(subject, bytes, { timeout: REQUEST_MS });
      return ok(undefined);
    } catch (cause) {
      if (isThere(cause)) return ok(undefined);
      if (isMissing(cause)) await this.#ensureStream().catch(() => {});
      return err(natsFailure(cause, "the work queue"));
    }
  }

  /** The offers under a fingerprint that have neither been done nor withdrawn. */
  async waiting(fingerprint: string): Promise<Result<ReadonlySet<string>>> {
    try {
      const filter = this.#subject(JOBS, fingerprint, "*");
      const { state } = await this.#manager.streams.info(JOBS_STREAM, { subjects_filter: filter });
      return ok(new Set(Object.keys(state.subjects ?? {}).map(lastToken)));
    } catch (cause) {
      if (!isMissing(cause)) return err(natsFailure(cause, "the work queue"));
      await this.#ensureStream().catch(() => {});
      return ok(new Set());
    }
  }

  /** Takes one offer out of the queue; whoever is at it is not disturbed. */
  async withdraw(fingerprint: string, id: string): Promise<Result<void>> {
    try {
      const subject = this.#subject(JOBS, fingerprint, id);
      const found = await this.#manager.streams.getMessage(JOBS_STREAM, { last_by_subj: subject });
      // Not by purging the subject: that makes the consumer of nats-server 2.9 pass over all that waits.
      if (found) await this.#manager.streams.deleteMessage(JOBS_STREAM, found.seq, false);
      return ok(undefined);
    } catch (cause) {
      return isMissing(cause) ? ok(undefined) : err(natsFailure(cause, "the work queue"));
    }
  }

  /** All offers under a fingerprint. */
  async withdrawAll(fingerprint: string): Promise<Result<void>> {
    const waiting = await this.waiting(fingerprint);
    if (!waiting.ok) return waiting;
    for (const id of waiting.value) {
      const done = await this.withdraw(fingerprint, id);
      if (!done.ok) return done;
    }
    return ok(undefined);
  }

  /** Tells of everything under a fingerprint that somebody is at. Returns what ends it. */
  onBeat(fingerprint: string, told: (id: string, fraction: number) => void): () => void {
    const subscription = this.#connection.subscribe(this.#subject(BEATS, fingerprint, "*"), {
      callback: (error, message) => {
        const fraction = error ? undefined : readBeat(message.data);
        if (fraction !== undefined) told(lastToken(message.subject), fraction);
      },
    });
    return () => subscription.unsubscribe();
  }

  // ── Of whoever works ─────────────────────────────────────────────────────────────────────────────────

  /** The next job of this build, if one comes in time. Fails where the server does not answer: try again later. */
  async take({ waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<Result<Taking>> {
    try {
      const consumer = await this.#openConsumer();
      const batch = await consumer.fetch({ max_messages: 1, expires: Math.max(1_000, waitMs) });
      const leave = () => void batch.close();
      signal.addEventListener("abort", leave, { once: true });
      try {
        for await (const message of batch) {
          if (!signal.aborted) return ok(this.#read(message));
          message.nak();
          break;
        }
      } finally {
        signal.removeEventListener("abort", leave);
      }
      return ok({ kind: "nothing" });
    } catch (cause) {
      // Streams and consumers may be gone with the server's disk; the next try makes them again.
      this.#consumer = undefined;
      return err(natsFailure(cause, "the work queue"));
    }
  }

  /** An offer that waits for workers of another build, and how many do. */
  async others(): Promise<Result<{ readonly count: number; readonly build: WorkBuild | undefined }>> {
    try {
      const { state } = await this.#manager.streams.info(JOBS_STREAM, { subjects_filter: `${JOBS}.>` });
      const own = `${JOBS}.${this.mark}.`;
      const found = Object.keys(state.subjects ?? {}).filter((subject) => !subject.startsWith(own));
      const [first] = found;
      if (first === undefined) return ok({ count: 0, build: undefined });
      const message = await this.#manager.streams.getMessage(JOBS_STREAM, { last_by_subj: first });
      const offer = message && readOffer(message.data);
      return ok({ count: found.length, build: offer?.ok ? offer.value.build : undefined });
    } catch (cause) {
      return err(natsFailure(cause, "the work queue"));
    }
  }

  #read(message: JsMsg): Taking {
    const read = readOffer(message.data);
    if (!read.ok || this.#subjectOf(read.value) !== message.subject) {
      message.term();
      const why = failure("work.misplaced", "an offer stands under a name that is not its own; it was refused");
      return { kind: "refused", failure: read.ok ? why : read.failure };
    }
    const offer = read.value;
    const id = offerId(offer);
    const beats = this.#subject(BEATS, offer.fingerprint, id);
    const deliveries = message.info.deliveryCount;
    return {
      kind: "job",
      job: {
        offer,
        id,
        deliveries,
        isWornOut: deliveries > this.#tries,
        beat: (fraction) => {
          message.working();
          this.#connection.publish(beats, writeMessage({ fraction: Math.min(Math.max(fraction, 0), 1) }));
        },
        done: async () => {
          // Unanswered, the job is given to somebody who finds its outcome there and says so in turn.
          await message.ackAck({ timeout: REQUEST_MS }).catch(() => false);
        },
        handBack: async (afterMs) => {
          message.nak(afterMs);
          await this.#connection.flush().catch(() => {});
        },
      },
    };
  }

  async #openConsumer(): Promise<Consumer> {
    if (this.#consumer) return this.#consumer;
    await this.#ensureStream();
    const name = `build-${this.mark}`;
    const found = await this.#manager.consumers.info(JOBS_STREAM, name).catch((cause) => {
      if (isMissing(cause)) return undefined;
      throw cause;
    });
    if (!found) {
      await this.#manager.consumers.add(JOBS_STREAM, {
        durable_name: name,
        filter_subject: `${JOBS}.${this.mark}.>`,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(this.#ackWaitMs),
        // The one after the last try writes down that there will be none; two more, should that one be lost.
        max_deliver: this.#tries + 3,
        max_ack_pending: 10_000,
        inactive_threshold: nanos(7 * DAY_MS),
      });
    }
    this.#consumer = await this.#jetstream.consumers.get(JOBS_STREAM, name);
    return this.#consumer;
  }

  async #ensureStream(): Promise<void> {
    const found = await this.#manager.streams.info(JOBS_STREAM).catch((cause) => {
      if (isMissing(cause)) return undefined;
      throw cause;
    });
    if (found) {
      if (found.config.retention !== RetentionPolicy.Workqueue)
        throw new CodedError(
          failure("work.wrong-stream", `the stream ${JOBS_STREAM} is there and no work queue; rename or delete it`),
        );
      return;
    }
    await this.#manager.streams.add({
      name: JOBS_STREAM,
      subjects: [`${JOBS}.>`],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      // One offer of a job at a time: offered twice, it is refused the second time.
      max_msgs_per_subject: 1,
      discard_new_per_subject: true,
      max_msgs: MOST_OFFERS,
      max_bytes: MOST_BYTES,
      max_msg_size: OFFER_BYTES,
      // Whoever asked and was killed does not keep others at work for long.
      max_age: nanos(DAY_MS),
    });
  }

  #subject(root: string, fingerprint: string, id: string): string {
    return `${root}.${this.mark}.${fingerprint}.${id}`;
  }

  #subjectOf(offer: WorkOffer): string {
    return `${JOBS}.${buildMark(offer.build)}.${offer.fingerprint}.${offerId(offer)}`;
  }
}

const lastToken = (subject: string): string => subject.slice(subject.lastIndexOf(".") + 1);

/** How the server says that a subject has the one message that it may have. */
const isThere = (cause: unknown): boolean =>
  cause instanceof Error && cause.message.includes("maximum messages per subject");
