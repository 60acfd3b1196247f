/**
 * Where spans become stored traces in a running `up`: journal, coordinator, store, and whoever learns from each trace.
 * Owns: what a sender's acknowledgement means, the order of the steps, and that nothing acknowledged is lost when the
 * process is killed: a batch is in the journal before it is acknowledged, and leaves it when its traces are stored.
 * Not here: sockets (adapters/otlp), each step.
 */
import type { SpanJournal } from "../../../adapters/otlp/index.ts";
import { randomWords } from "../../../adapters/runtime/index.ts";
import type { Failure, Ms } from "../../../base/index.ts";
import { failure, failureOf, milliseconds, seconds } from "../../../base/index.ts";
import type { SpanColumns, SpanOffer, SpanSink, TraceStore } from "../../../observe/telemetry/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../../observe/telemetry/index.ts";
import type { CollectedTraces } from "../../../observe/tracing/index.ts";
import { TracingCoordinator } from "../../../observe/tracing/index.ts";

export interface TracePipelineOptions {
  readonly store: TraceStore;
  /** null: what was acknowledged is gone with the process. */
  readonly journal: SpanJournal | null;
  readonly now: () => Ms;
  /** Never goes back, as the wall's clock may: what waits, waits by this one. */
  readonly monotonic: () => Ms;
  /** Sees every batch of spans as it comes. */
  readonly onSpans: (batch: SpanColumns, now: Ms) => void;
  /** Sees every portion of complete traces once, before it is stored. */
  readonly onTraces: (traces: CollectedTraces, now: Ms) => void;
  /** Told when something cannot be kept, and when everything can again. */
  readonly onTrouble: (why: Failure | null) => void;
}

const COME_BACK = seconds(5);
/** A little more than the longest that a span waits for its trace: 30 s without a root, 6 s with one. */
const WAITS: Ms = seconds(40);
/** Spans that are read back at once. */
const PORTION = 5_000;

export class TracePipeline implements SpanSink {
  readonly names = new NameTable({ random: randomWords });
  readonly coordinator: TracingCoordinator;
  readonly #options: TracePipelineOptions;
  #pending: CollectedTraces | null = null;
  /** What could not be kept at the last try, and when that was. */
  readonly #troubles = new Map<"journal" | "store", Ms>();
  /** The wall's clock less the monotonic one, the most that it was. */
  #ahead = Number.NEGATIVE_INFINITY;

  constructor(options: TracePipelineOptions) {
    this.#options = options;
    this.coordinator = new TracingCoordinator(this.names);
  }

  /** Something could not be kept at the last try. */
  get isTroubled(): boolean {
    return this.#troubles.size > 0;
  }

  /** The wall's time, which goes on by itself when the wall's clock is set back. */
  #time(): Ms {
    const passed = this.#options.monotonic();
    this.#ahead = Math.max(this.#ahead, this.#options.now() - passed);
    return milliseconds(this.#ahead + passed);
  }

  /** Of spans from senders: taken means that it outlives the process, where there is a journal. */
  offer(batch: SpanColumns): SpanOffer {
    const { journal, now } = this.#options;
    // While nothing can be stored, what is taken would only fill the memory and the journal.
    if (this.#pending !== null && this.#troubles.has("store")) return { kind: "busy", retryAfter: COME_BACK };
    const kept = journal?.append(batch, this.#time());
    if (kept !== undefined && !kept.ok) {
      this.#trouble("journal", kept.failure);
      return { kind: "busy", retryAfter: COME_BACK };
    }
    this.#well("journal");
    this.#options.onSpans(batch, now());
    const before = this.coordinator.assembler.counts().dropped;
    const used = this.coordinator.admit(batch, this.#time());
    if (used === batch.length) return { kind: "taken", unused: 0, why: "" };
    const { dropped } = this.coordinator.assembler.counts();
    const reasons = Object.entries(dropped).filter(([reason, count]) => count > before[reason as keyof typeof before]);
    return { kind: "taken", unused: batch.length - used, why: reasons.map(([reason]) => reason).join(", ") };
  }

  /** Of spans that are made here: nobody waits to hear that they are safe, and none is held back. */
  admit(spans: readonly Span[]): void {
    if (spans.length === 0) return;
    const { now, onSpans } = this.#options;
    const batch = spanColumnsOf(spans, this.names);
    onSpans(batch, now());
    this.coordinator.admit(batch, this.#time(), { isPrompt: true });
  }

  /** What an earlier process acknowledged and did not store; returns how many spans that were. */
  async recover(): Promise<number> {
    const { journal, store } = this.#options;
    let recovered = 0;
    let portion: Span[] = [];
    const take = async (): Promise<void> => {
      const stored = await store.stored([...new Set(portion.map(({ traceId }) => traceId))]);
      const fresh = portion.filter(({ traceId }) => !stored.has(traceId));
      portion = [];
      recovered += this.coordinator.admit(spanColumnsOf(fresh, this.names), this.#time(), { wasTaken: true });
    };
    for (const batch of journal?.before() ?? []) {
      for (let row = 0; row < batch.length; row++) portion.push(batch.spanAt(row));
      if (portion.length >= PORTION) await take();
    }
    await take();
    return recovered;
  }

  /** Stores what is complete by now. */
  async turn(): Promise<void> {
    const time = this.#time();
    // Who was asked to come back and did not has no more to send: then nobody would ever find out that it can be written.
    if (time - (this.#troubles.get("journal") ?? time) > WAITS) this.#well("journal");
    await this.#store(this.#pending ?? this.#collected(this.coordinator.collect(time)));
    if (this.#pending === null) this.#options.journal?.forget(milliseconds(time - WAITS));
  }

  /** Stores everything, complete or not. */
  async close(): Promise<void> {
    const { journal } = this.#options;
    await this.#store(this.#pending);
    if (this.#pending === null) {
      await this.#store(this.#collected(this.coordinator.flush(this.#time())));
      if (this.#pending === null) journal?.forget(this.#time());
    }
    journal?.close();
  }

  #collected(traces: CollectedTraces | null): CollectedTraces | null {
    const { now, onTraces } = this.#options;
    if (traces !== null) onTraces(traces, now());
    return traces;
  }

  /** What cannot be stored is kept, and is the next thing that is tried. */
  async #store(traces: CollectedTraces | null): Promise<void> {
    if (traces === null) return;
    try {
      this.#pending = traces;
      await this.#options.store.append(traces);
      this.#pending = null;
      this.coordinator.release(traces);
      this.#well("store");
    } catch (thrown) {
      this.#trouble("store", failureOf(thrown) ?? failure("store.io", String(thrown)));
    }
  }

  #trouble(of: "journal" | "store", why: Failure): void {
    if (!this.#troubles.has(of)) this.#options.onTrouble(why);
    this.#troubles.set(of, this.#time());
  }

  #well(of: "journal" | "store"): void {
    if (this.#troubles.delete(of) && this.#troubles.size === 0) this.#options.onTrouble(null);
  }
}
