/**
 * A bucket of JetStream's key-value store: what outlives the process that wrote it.
 * Owns: opening, values as JSON under a schema, writes that are refused where somebody else wrote in between.
 * Not here: what is kept in it.
 */
import { JetStreamApiError, jetstreamManager } from "@nats-io/jetstream";
import { type KV, Kvm, type KvOptions } from "@nats-io/kv";
import { nanos } from "@nats-io/transport-node";
import { err, failure, type Ms, ok, type Result } from "../../base/index.ts";
import type { NatsLink } from "./connection.ts";
import { jetStreamFailure } from "./failures.ts";

export interface BucketEntry<T> {
  readonly key: string;
  readonly value: T;
  /** Grows with each write to the bucket. */
  readonly revision: number;
}

export interface Bucket<T> {
  get(key: string): Promise<Result<BucketEntry<T> | undefined>>;
  /** `revision`: what is there must be that one still, 0 for nothing; answers the new one. */
  put(key: string, value: T, options?: { readonly revision?: number }): Promise<Result<number>>;
  /** `revision`: as of `put`; what somebody else wrote since stays. */
  remove(key: string, options?: { readonly revision?: number }): Promise<Result<void>>;
  /** What is no valid value is left out and counted. */
  entries(): Promise<Result<{ readonly entries: readonly BucketEntry<T>[]; readonly invalid: number }>>;
}

export interface BucketOptions<T> {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  /** A value that was not written again for so long is gone; kept for ever unless given. */
  readonly maxAge?: Ms;
  /** Undefined for what is no value of this bucket. */
  readonly parse: (value: unknown) => T | undefined;
}

/** JetStream's code for a write whose expected revision is not the newest. */
const WRONG_LAST_SEQUENCE = 10_071;
const MOST_BYTES = 65_536;

export async function openBucket<T>(link: NatsLink, options: BucketOptions<T>): Promise<Result<Bucket<T>>> {
  const { name, maxAge } = options;
  try {
    const manager = new Kvm(link.connection);
    const settings: Partial<KvOptions> = {
      history: 1,
      maxValueSize: MOST_BYTES,
      ...(maxAge === undefined ? {} : { ttl: maxAge }),
    };
    const kv = await manager.create(name, settings);
    await keepAge(link, kv, maxAge);
    return ok(new JsonBucket(kv, options));
  } catch (thrown) {
    return err(jetStreamFailure(thrown, `the bucket '${name}'`));
  }
}

/** A bucket that is there already is given as it is, with the age that it was made with. */
async function keepAge({ connection }: NatsLink, kv: KV, maxAge: Ms | undefined): Promise<void> {
  const { ttl, streamInfo } = await kv.status();
  if (ttl === (maxAge ?? 0)) return;
  const { name, duplicate_window: window } = streamInfo.config;
  const age = nanos(maxAge ?? 0);
  const manager = await jetstreamManager(connection);
  // The server takes no window that is longer than the age.
  await manager.streams.update(name, { max_age: age, duplicate_window: age === 0 ? window : Math.min(window, age) });
}

class JsonBucket<T> implements Bucket<T> {
  readonly #kv: KV;
  readonly #options: BucketOptions<T>;

  constructor(kv: KV, options: BucketOptions<T>) {
    this.#kv = kv;
    this.#options = options;
  }

  get(key: string): Promise<Result<BucketEntry<T> | undefined>> {
    return this.#try(async () => {
      const entry = await this.#kv.get(key);
      if (entry === null || entry.operation !== "PUT") return undefined;
      const value = this.#parse(entry.value);
      return value === undefined ? undefined : { key, value, revision: entry.revision };
    });
  }

  async put(key: string, value: T, { revision }: { readonly revision?: number } = {}): Promise<Result<number>> {
    const bytes = JSON.stringify(value);
    try {
      if (revision === undefined) return ok(await this.#kv.put(key, bytes));
      return ok(revision === 0 ? await this.#kv.create(key, bytes) : await this.#kv.update(key, bytes, revision));
    } catch (thrown) {
      if (thrown instanceof JetStreamApiError && thrown.code === WRONG_LAST_SEQUENCE)
        return err(
          failure(
            "nats.conflict",
            `the bucket '${this.#options.name}': somebody else wrote '${key}' in between; read it again`,
          ),
        );
      return err(this.#failed(thrown));
    }
  }

  remove(key: string, { revision }: { readonly revision?: number } = {}): Promise<Result<void>> {
    return this.#try(() => this.#kv.delete(key, revision === undefined ? {} : { previousSeq: revision }));
  }

  entries(): Promise<Result<{ readonly entries: readonly BucketEntry<T>[]; readonly invalid: number }>> {
    return this.#try(async () => {
      const keys: string[] = [];
      for await (const key of await this.#kv.keys()) keys.push(key);
      const entries: BucketEntry<T>[] = [];
      let invalid = 0;
      for (const key of keys) {
        const entry = await this.#kv.get(key);
        if (entry === null || entry.operation !== "PUT") continue;
        const value = this.#parse(entry.value);
        if (value === undefined) invalid += 1;
        else entries.push({ key, value, revision: entry.revision });
      }
      return { entries, invalid };
    });
  }

  #parse(bytes: Uint8Array): T | undefined {
    try {
      return this.#options.parse(JSON.parse(new TextDecoder().decode(bytes)));
    } catch {
      return undefined;
    }
  }

  async #try<R>(work: () => Promise<R>): Promise<Result<R>> {
    try {
      return ok(await work());
    } catch (thrown) {
      return err(this.#failed(thrown));
    }
  }

  #failed(thrown: unknown) {
    return jetStreamFailure(thrown, `the bucket '${this.#options.name}'`);
  }
}
