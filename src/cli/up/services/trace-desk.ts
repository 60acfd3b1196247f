/**
 * Where spans become stored traces in a running `up`: journal, coordinator, store, and whoever learns from each trace.
 * Owns: what a sender's acknowledgement means, the order of the steps, and that nothing acknowledged is lost when the
 * process is killed: a batch is in the journal before it is acknowledged, and leaves it when its traces are stored.
 * Not here: sockets (adapters/otlp), each step.
 */
import type { SpanJournal } from "../../../adapters/otlp/index.ts";
import type { Failure, Ms } from "../../../base/index.ts";
import { failure, failureOf, milliseconds, seconds } from "../../../base/index.ts";
import type { SpanColumns, SpanOffer, SpanSink, TraceStore } from "../../../observe/telemetry/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../../observe/telemetry/index.ts";
import type { CollectedTraces } from "../../../observe/tracing/index.ts";
import { TracingCoordinator } from "../../../observe/tracing/index.ts";

export interface TraceDeskOptions {
  readonly store: TraceStore;
  /** null: what was acknowledged is gone with the process. */
  readonly journal: SpanJournal | null;
  readonly now: () => Ms;
  /** Sees every portion of complete traces once, before it is stored. */
  readonly onTraces: (traces: CollectedTraces, now: Ms) => void;
  /** Told when something can not be kept, and when it can again. */
  readonly onTrouble: (why: Failure | null) => void;
}

const COME_BACK = seconds(5);
/** A little more than the longest that a span waits for its trace: 30 s without a root, 6 s with one. */
const WAITS: Ms = seconds(40);
/** Spans that are read back at once. */
const PORTION = 5_000;

export class TraceDesk implements SpanSink {
  readonly names = new NameTable();
  readonly coordinator: TracingCoordinator;
  readonly #options: TraceDeskOptions;
  #pending: CollectedTraces | null = null;
  #isTroubled = false;

  constructor(options: TraceDeskOptions) {
    this.#options = options;
    this.coordinator = new TracingCoordinator(this.names);
  }

  /** Of spans from senders: taken means that it outlives the process, where there is a journal. */
  offer(batch: SpanColumns): SpanOffer {
    const { journal, now } = this.#options;
    // While nothing can be stored, what is taken would only fill the memory and the journal.
    if (this.#pending !== null && this.#isTroubled) return { kind: "busy", retryAfter: COME_BACK };
    const kept = journal?.append(batch, now());
    if (kept !== undefined && !kept.ok) {
      this.#trouble(kept.failure);
      return { kind: "busy", retryAfter: COME_BACK };
    }
    const before = this.coordinator.assembler.counts().dropped;
    const used = this.coordinator.admit(batch, now());
    if (used === batch.length) return { kind: "taken", unused: 0, why: "" };
    const { dropped } = this.coordinator.assembler.counts();
    const reasons = Object.entries(dropped).filter(([reason, count]) => count > before[reason as keyof typeof before]);
    return { kind: "taken", unused: batch.length - used, why: reasons.map(([reason]) => reason).join(", ") };
  }

  /** Of spans that are made here: nobody waits to hear that they are safe. */
  admit(spans: readonly Span[]): void {
    if (spans.length > 0) this.coordinator.admit(spanColumnsOf(spans, this.names), this.#options.now());
  }

  /** What an earlier process acknowledged and did not store; returns how many spans that were. */
  async recover(): Promise<number> {
    const { journal, store, now } = this.#options;
    let recovered = 0;
    let portion: Span[] = [];
    const take = async (): Promise<void> => {
      const stored = await store.stored([...new Set(portion.map(({ traceId }) => traceId))]);
      const fresh = portion.filter(({ traceId }) => !stored.has(traceId));
      portion = [];
      recovered += this.coordinator.admit(spanColumnsOf(fresh, this.names), now());
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
    const now = this.#options.now();
    await this.#store(this.#pending ?? this.#collected(this.coordinator.collect(now), now));
    if (this.#pending === null) this.#options.journal?.forget(milliseconds(now - WAITS));
  }

  /** Stores everything, complete or not. */
  async close(): Promise<void> {
    const { journal, now } = this.#options;
    await this.#store(this.#pending);
    if (this.#pending === null) {
      await this.#store(this.#collected(this.coordinator.flush(now()), now()));
      if (this.#pending === null) journal?.forget(now());
    }
    journal?.close();
  }

  #collected(traces: CollectedTraces | null, now: Ms): CollectedTraces | null {
    if (traces !== null) this.#options.onTraces(traces, now);
    return traces;
  }

  /** What can not be stored is kept, and is the next thing that is tried. */
  async #store(traces: CollectedTraces | null): Promise<void> {
    if (traces === null) return;
    try {
      this.#pending = traces;
      await this.#options.store.append(traces);
      this.#pending = null;
      this.coordinator.release(traces);
      if (this.#isTroubled) this.#options.onTrouble(null);
      this.#isTroubled = false;
    } catch (thrown) {
      this.#trouble(failureOf(thrown) ?? failure("store.io", String(thrown)));
    }
  }

  #trouble(why: Failure): void {
    if (!this.#isTroubled) this.#options.onTrouble(why);
    this.#isTroubled = true;
  }
}
