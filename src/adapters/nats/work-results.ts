/**
 * Outcomes of jobs of the work queue, and larger bytes that go with them.
 * Owns: their stream and their object store. Not here: jobs (work-queue.ts), what messages say (work-messages.ts).
 *
 *   coxswain.work.outcomes.<build>.<fingerprint>.<offer>   the last one, for a day: it is there when whoever asked comes back
 *   the object store coxswain-work                         results too large for a message, and models, for a week
 */
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { type ObjectStore, Objm } from "@nats-io/obj";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { err, failure, ok, type Result } from "../../base/index.ts";
import { natsFailure } from "./failures.ts";
import type { WorkOutcome } from "./work-messages.ts";
import { OBJECT_BYTES, OUTCOME_BYTES, readOutcome, writeMessage } from "./work-messages.ts";
import { isMissing } from "./work-trouble.ts";

export const OUTCOMES_STREAM = "coxswain-work-outcomes";
export const OBJECTS_BUCKET = "coxswain-work";
const OUTCOMES = "coxswain.work.outcomes";

const DAY_MS = 86_400_000;
const REQUEST_MS = 5_000;
const MOST_OUTCOME_BYTES = 256 * 2 ** 20;
const MOST_OBJECT_BYTES = 2 ** 30;

export class WorkResults {
  readonly #mark: string;
  readonly #jetstream: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #connection: NatsConnection;
  #store: ObjectStore | undefined;
  /** Of a listing: the stream's last message then. */
  #listedAt = -1;

  private constructor(connection: NatsConnection, { mark, manager }: { mark: string; manager: JetStreamManager }) {
    this.#mark = mark;
    this.#connection = connection;
    this.#jetstream = jetstream(connection, { timeout: REQUEST_MS });
    this.#manager = manager;
  }

  static async open(connection: NatsConnection, mark: string): Promise<Result<WorkResults>> {
    try {
      const manager = await jetstreamManager(connection, { timeout: REQUEST_MS, checkAPI: true });
      const results = new WorkResults(connection, { mark, manager });
      await results.#ensureStream();
      await results.#objects();
      return ok(results);
    } catch (cause) {
      return err(natsFailure(cause, "outcomes of the work queue"));
    }
  }

  async publish(fingerprint: string, id: string, outcome: WorkOutcome): Promise<Result<void>> {
    try {
      await this.#jetstream.publish(this.#subject(fingerprint, id), writeMessage(outcome), { timeout: REQUEST_MS });
      return ok(undefined);
    } catch (cause) {
      if (isMissing(cause) || isUnanswered(cause)) await this.#ensureStream().catch(() => {});
      return err(natsFailure(cause, "outcomes of the work queue"));
    }
  }

  /** The jobs under a fingerprint that have an outcome; undefined where nothing came since the last time, unless asked for again. */
  async list(
    fingerprint: string,
    { again }: { readonly again: boolean },
  ): Promise<Result<readonly string[] | undefined>> {
    try {
      const { state: now } = await this.#manager.streams.info(OUTCOMES_STREAM);
      if (now.last_seq === this.#listedAt && !again) return ok(undefined);
      const filter = this.#subject(fingerprint, "*");
      const { state } = await this.#manager.streams.info(OUTCOMES_STREAM, { subjects_filter: filter });
      this.#listedAt = now.last_seq;
      return ok(Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subject.lastIndexOf(".") + 1)));
    } catch (cause) {
      this.#listedAt = -1;
      if (!isMissing(cause)) return err(natsFailure(cause, "outcomes of the work queue"));
      await this.#ensureStream().catch(() => {});
      return ok([]);
    }
  }

  /** Undefined where there is none; a failure with `work.malformed` where there is something else. */
  async read(fingerprint: string, id: string): Promise<Result<WorkOutcome | undefined>> {
    try {
      const found = await this.#manager.streams.getMessage(OUTCOMES_STREAM, {
        last_by_subj: this.#subject(fingerprint, id),
      });
      return found ? readOutcome(found.data) : ok(undefined);
    } catch (cause) {
      return isMissing(cause) ? ok(undefined) : err(natsFailure(cause, "outcomes of the work queue"));
    }
  }

  /** Lets go of one outcome, or of all under a fingerprint. */
  async forget(fingerprint: string, id = "*"): Promise<Result<void>> {
    try {
      await this.#manager.streams.purge(OUTCOMES_STREAM, { filter: this.#subject(fingerprint, id) });
      return ok(undefined);
    } catch (cause) {
      return err(natsFailure(cause, "outcomes of the work queue"));
    }
  }

  async putObject(name: string, bytes: Uint8Array): Promise<Result<void>> {
    if (bytes.length > OBJECT_BYTES) {
      const text = `${bytes.length} bytes are more than the ${OBJECT_BYTES} that a result over the work queue may have`;
      return err(failure("work.too-large", text));
    }
    try {
      await (await this.#objects()).putBlob({ name }, bytes);
      return ok(undefined);
    } catch (cause) {
      this.#store = undefined;
      return err(natsFailure(cause, "outcomes of the work queue"));
    }
  }

  /** Undefined where there is none of this name. */
  async getObject(name: string): Promise<Result<Uint8Array | undefined>> {
    try {
      const store = await this.#objects();
      const info = await store.info(name);
      if (!info || info.deleted) return ok(undefined);
      if (info.size > OBJECT_BYTES)
        return err(failure("work.malformed", `an object of the work queue says to have ${info.size} bytes; refused`));
      // The digest is checked on the way.
      return ok((await store.getBlob(name)) ?? undefined);
    } catch (cause) {
      this.#store = undefined;
      return err(natsFailure(cause, "outcomes of the work queue"));
    }
  }

  async #objects(): Promise<ObjectStore> {
    this.#store ??= await new Objm(this.#connection).create(OBJECTS_BUCKET, {
      description: "coxswain: large results of jobs, and models",
      // A study may run for days, and a worker that joins late needs its models.
      ttl: nanos(7 * DAY_MS),
      max_bytes: MOST_OBJECT_BYTES,
      storage: StorageType.File,
    });
    return this.#store;
  }

  async #ensureStream(): Promise<void> {
    const found = await this.#manager.streams.info(OUTCOMES_STREAM).catch((cause) => {
      if (isMissing(cause)) return undefined;
      throw cause;
    });
    if (found) return;
    await this.#manager.streams.add({
      name: OUTCOMES_STREAM,
      subjects: [`${OUTCOMES}.>`],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_msgs_per_subject: 1,
      max_bytes: MOST_OUTCOME_BYTES,
      max_msg_size: OUTCOME_BYTES,
      max_age: nanos(DAY_MS),
    });
  }

  #subject(fingerprint: string, id: string): string {
    return `${OUTCOMES}.${this.#mark}.${fingerprint}.${id}`;
  }
}

/** Nobody listens on the subject: the stream is gone. */
const isUnanswered = (cause: unknown): boolean => cause instanceof Error && /no responders/i.test(cause.message);
