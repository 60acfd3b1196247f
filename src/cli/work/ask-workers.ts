/**
 * Jobs of one study, offered to workers on other machines and computed here as well.
 * Owns: who computes what, taking outcomes in, and what is done about jobs that nobody speaks of. Not here: the queue and its
 * messages (adapters/nats), what is computed and kept (asked-study.ts).
 *
 * Workers begin at one end of the list and the threads of this process at the other. What is wanted is looked at anew every
 * half second: a job that is neither in the queue nor done is offered again, one of which nobody speaks is computed here.
 * So a worker, the server, or the server's disk may be gone at any time, and nothing is lost but time. A job may be done
 * twice; both are the same bytes, and the first that comes counts.
 */
import type { WorkOffer, WorkOutcome } from "../../adapters/nats/index.ts";
import { offerId } from "../../adapters/nats/index.ts";
import { CodedError, type Failure, failure, ok, type Result } from "../../base/index.ts";
import { pause } from "../pause.ts";
import type { Session } from "../shell.ts";
import { plainJson } from "../studies/plain-json.ts";
import type { StudyJobOutcome } from "../studies/study-kinds.ts";
import type { OpenQueue } from "./open-queue.ts";

export interface AskedJob {
  /** For people. */
  readonly name: string;
  readonly job: WorkOffer["job"];
  compute(signal: AbortSignal, progress: (fraction: number) => void): Promise<StudyJobOutcome>;
  /** What is said of it when `compute` throws. */
  failed(thrown: unknown): CodedError;
  /** A worker's result, checked and made what `compute` would have given; a failure is counted, and the job is still wanted. */
  accept?(result: unknown): Promise<Result<unknown>>;
}

export interface AskOptions {
  readonly session: Session;
  readonly open: OpenQueue;
  readonly study: string;
  readonly quick: boolean;
  readonly fingerprint: string;
  readonly jobs: readonly AskedJob[];
  /** How many are computed here at a time. */
  readonly threads: number;
  /** What an earlier run left in the queue's results is not taken. */
  readonly fresh: boolean;
  onProgress(index: number, fraction: number): void;
  /** Once for every job; `by` where somebody else computed it. */
  onDone(index: number, outcome: StudyJobOutcome, by?: string): void;
}

interface Entry {
  readonly index: number;
  readonly job: AskedJob;
  readonly offer: WorkOffer;
  readonly id: string;
  isSettled: boolean;
  /** While a thread of this process is at it. */
  here: AbortController | undefined;
  /** A worker failed at it, or the queue lost it too often. */
  isOnlyForHere: boolean;
  /** When somebody last said to be at it. */
  heardAt: number;
  offers: number;
}

const ROUND_MS = 500;
/** In rounds: how often the queue is compared with what is wanted. */
const COMPARE_EVERY = 20;
const MOST_OFFERS = 5;
const IDLE_MS = 200;

export async function askWorkers(options: AskOptions): Promise<void> {
  if (options.jobs.length === 0) return;
  options.session.signal.throwIfAborted();
  await new AskedJobs(options).run();
}

class AskedJobs {
  readonly #options: AskOptions;
  readonly #entries: readonly Entry[];
  readonly #byId: ReadonlyMap<string, Entry>;
  readonly #over = new AbortController();
  /** Over, or stopped from outside. */
  readonly #signal: AbortSignal;
  #failed: CodedError | undefined;
  #left: number;
  #elsewhere = 0;
  #refused = 0;
  /** The last look at outcomes did not see all of them. */
  #isBehind = true;
  /** Rounds until the queue is compared with what is wanted. */
  #compareIn = 0;

  constructor(options: AskOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.session.signal, this.#over.signal]);
    this.#entries = options.jobs.map((job, index) => this.#entryOf(job, index));
    this.#byId = new Map(this.#entries.map((entry) => [entry.id, entry]));
    this.#left = this.#entries.length;
  }

  async run(): Promise<void> {
    const { open, fingerprint, session, threads, study } = this.#options;
    const leave = open.queue.onBeat(fingerprint, (id, fraction) => this.#hear(id, fraction));
    try {
      if (this.#options.fresh) await open.results.forget(fingerprint);
      await Promise.all([this.#rounds(), ...Array.from({ length: threads }, () => this.#computeHere())]);
      session.signal.throwIfAborted();
      if (this.#failed) throw this.#failed;
    } finally {
      leave();
      this.#over.abort();
      // What still waits would be done for nobody.
      await open.queue.withdrawAll(fingerprint);
      const here = this.#entries.length - this.#left - this.#elsewhere;
      const told = { study, here, elsewhere: this.#elsewhere, refused: this.#refused };
      session.log.info(told, "jobs by where they were computed");
    }
  }

  #entryOf(job: AskedJob, index: number): Entry {
    const { open, study, quick, fingerprint } = this.#options;
    const offer: WorkOffer = { schema: 1, build: open.build, study, quick, fingerprint, job: job.job };
    const state = { isSettled: false, here: undefined, isOnlyForHere: false };
    return { index, job, offer, id: offerId(offer), heardAt: Number.NEGATIVE_INFINITY, offers: 0, ...state };
  }

  // ── Here ─────────────────────────────────────────────────────────────────────────────────────────────

  async #computeHere(): Promise<void> {
    while (!this.#signal.aborted) {
      const entry = this.#next();
      if (!entry) {
        await pause(IDLE_MS, this.#signal);
        continue;
      }
      const outcome = await this.#compute(entry);
      if (outcome) this.#settle(entry, outcome);
    }
  }

  /** Undefined where it was stopped, or failed. */
  async #compute(entry: Entry): Promise<StudyJobOutcome | undefined> {
    const { onProgress, open, fingerprint } = this.#options;
    const own = new AbortController();
    entry.here = own;
    // Not waited for: where the server is gone this goes on without it.
    void open.queue.withdraw(fingerprint, entry.id);
    try {
      const signal = AbortSignal.any([this.#signal, own.signal]);
      return await entry.job.compute(signal, (fraction) => onProgress(entry.index, fraction));
    } catch (thrown) {
      if (!entry.isSettled && !this.#signal.aborted) this.#fail(entry.job.failed(thrown));
      return undefined;
    } finally {
      entry.here = undefined;
    }
  }

  /** From the end, where workers come last. A job that somebody is at is left to them. */
  #next(): Entry | undefined {
    const silentSince = performance.now() - this.#options.open.queue.ackWaitMs;
    const isFree = ({ isSettled, here, isOnlyForHere, heardAt }: Entry) =>
      !isSettled && here === undefined && (isOnlyForHere || heardAt < silentSince);
    return this.#entries.findLast(isFree);
  }

  // ── Elsewhere ────────────────────────────────────────────────────────────────────────────────────────

  async #rounds(): Promise<void> {
    while (!this.#signal.aborted) {
      if (this.#compareIn === 0) await this.#compare();
      else await this.#takeIn();
      await pause(ROUND_MS, this.#signal);
    }
  }

  /** Offers what is neither in the queue nor done. Outcomes are written before a job leaves the queue, so it is asked first. */
  async #compare(): Promise<void> {
    const { open, fingerprint } = this.#options;
    this.#compareIn = COMPARE_EVERY;
    const waiting = await open.queue.waiting(fingerprint);
    const isSeen = await this.#takeIn({ again: true });
    if (!waiting.ok || !isSeen) return;
    for (const entry of this.#entries) {
      if (this.#signal.aborted) return;
      if (entry.isSettled || entry.here || entry.isOnlyForHere || waiting.value.has(entry.id)) continue;
      if (entry.offers >= MOST_OFFERS) {
        entry.isOnlyForHere = true;
        continue;
      }
      const offered = await open.queue.offer(entry.offer);
      // Full, or gone: the rest is computed here until the next time.
      if (!offered.ok) return;
      entry.offers += 1;
    }
  }

  /** Whether all that has come was seen. */
  async #takeIn({ again = this.#isBehind } = {}): Promise<boolean> {
    this.#isBehind = !(await this.#takeInListed(again));
    return !this.#isBehind;
  }

  async #takeInListed(again: boolean): Promise<boolean> {
    const { open, fingerprint } = this.#options;
    this.#compareIn = Math.max(0, this.#compareIn - 1);
    const listed = await open.results.list(fingerprint, { again });
    if (!listed.ok) return false;
    for (const id of listed.value ?? []) {
      const entry = this.#byId.get(id);
      if (this.#signal.aborted) return false;
      if (entry === undefined || entry.isSettled) continue;
      const found = await open.results.read(fingerprint, id);
      if (!found.ok && found.failure.code !== "work.malformed") return false;
      if (!found.ok) await this.#refuse(entry, found.failure);
      else if (found.value) await this.#accept(entry, found.value);
    }
    return true;
  }

  async #accept(entry: Entry, { by, seconds, result }: WorkOutcome): Promise<void> {
    if (result.kind === "failure") return this.#hearFailure(entry, { ...result, by });
    const value = await this.#valueOf(entry, result);
    const accepted = value.ok && entry.job.accept ? await entry.job.accept(value.value) : value;
    if (entry.isSettled || this.#signal.aborted) return;
    // The server may be gone: it is asked again when jobs are compared.
    if (!accepted.ok && accepted.failure.retry) return;
    if (!accepted.ok) return this.#refuse(entry, accepted.failure);
    this.#elsewhere += 1;
    const { here } = entry;
    this.#settle(entry, { result: accepted.value, seconds }, by);
    here?.abort(new DOMException("the result came from elsewhere", "AbortError"));
  }

  async #valueOf(entry: Entry, result: Exclude<WorkOutcome["result"], { kind: "failure" }>): Promise<Result<unknown>> {
    const refused = {
      ok: false,
      failure: failure("work.malformed", "a result is not there, or no plain JSON"),
    } as const;
    try {
      if (result.kind === "value") return ok(plainJson(result.value));
      const found = await this.#options.open.results.getObject(entry.id);
      if (!found.ok) return found;
      return found.value ? ok(plainJson(JSON.parse(new TextDecoder().decode(found.value)))) : refused;
    } catch {
      return refused;
    }
  }

  /** A worker's failure says something about the worker: only a job that ends whoever takes it is not tried here. */
  async #hearFailure(entry: Entry, found: { code: string; message: string; by: string }): Promise<void> {
    const { session, open, fingerprint } = this.#options;
    const { code, message, by } = found;
    await open.results.forget(fingerprint, entry.id);
    if (code === "work.gave-up") {
      const text = `${entry.job.name}: ${message}\nfinished jobs are kept; run it without workers to see what it does`;
      return this.#fail(new CodedError(failure("work.gave-up", text)));
    }
    session.log.warn({ job: entry.job.name, by, code, message }, "a worker failed at a job; it is tried here");
    entry.isOnlyForHere = true;
  }

  async #refuse(entry: Entry, { code, message }: Failure): Promise<void> {
    const { session, open, fingerprint } = this.#options;
    this.#refused += 1;
    session.log.warn({ job: entry.job.name, code, message }, "refused an outcome from the work queue");
    await open.results.forget(fingerprint, entry.id);
    // It may have left the queue.
    this.#compareIn = 0;
  }

  #hear(id: string, fraction: number): void {
    const entry = this.#byId.get(id);
    if (!entry || entry.isSettled) return;
    entry.heardAt = performance.now();
    if (!entry.here) this.#options.onProgress(entry.index, fraction);
  }

  // ── The end ──────────────────────────────────────────────────────────────────────────────────────────

  #settle(entry: Entry, outcome: StudyJobOutcome, by?: string): void {
    if (entry.isSettled || this.#failed) return;
    entry.isSettled = true;
    this.#left -= 1;
    this.#options.onDone(entry.index, outcome, by);
    if (this.#left === 0) this.#over.abort();
  }

  #fail(why: CodedError): void {
    this.#failed ??= why;
    this.#over.abort();
  }
}
