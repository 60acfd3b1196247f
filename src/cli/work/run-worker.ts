/**
 * `coxswain worker` from start to end: takes jobs of studies from a work queue, one per thread, until it is stopped.
 * Owns: what is done with a job, when it is acknowledged, handed back or refused, and the worker's output. Not here: the queue
 * (adapters/nats), threads (cli/studies/job-pool.ts), which job an offer names (offered-study.ts).
 *
 * A job is computed as a thread of `reproduce` would. Its outcome is stored before it is acknowledged, so one that is cut
 * short at any moment is given to somebody else.
 */
import { availableParallelism } from "node:os";
import type { TakenJob, WorkOutcome } from "../../adapters/nats/index.ts";
import { INLINE_BYTES } from "../../adapters/nats/index.ts";
import { CodedError, type Failure, failure, failureOf } from "../../base/index.ts";
import type { Study } from "../../studies/index.ts";
import type { KernelChoice } from "../kernels.ts";
import { pause } from "../pause.ts";
import { printJson, printLine, type Session } from "../shell.ts";
import { describeJob, type JobPool, openJobPool } from "../studies/job-pool.ts";
import { loadStudies } from "../studies/load-studies.ts";
import type { StudyJobOutcome } from "../studies/study-kinds.ts";
import { fetchModels, handOut } from "./handed-models.ts";
import { trainModel } from "./model-kinds.ts";
import { type OfferedWork, offeredWork } from "./offered-study.ts";
import { type OpenQueue, openQueue, type QueueAccess } from "./open-queue.ts";
import { differenceOf, ownBuild } from "./own-build.ts";

export interface WorkerSettings {
  readonly access: QueueAccess;
  /** 0: one per core. */
  readonly jobs: number;
  readonly modules: readonly string[];
  readonly kernels: KernelChoice;
  /** Where models are kept. */
  readonly data: string;
  readonly json: boolean;
}

const WAIT_MS = 2_000;
const RETRY_MS = 1_000;
/** Enough for streams to be made anew after the server lost its disk. */
const MOST_REFUSALS = 5;
/** For whoever is not at fault: somebody else may have what this machine has not. */
const HAND_BACK_MS = 2_000;

export async function runWorker(session: Session, settings: WorkerSettings): Promise<void> {
  const { modules, kernels } = settings;
  const studies = await loadStudies(modules);
  const build = ownBuild(kernels, modules);
  const open = await openQueue(session, settings.access, build);
  const threads = settings.jobs === 0 ? availableParallelism() : settings.jobs;
  const pool = openJobPool({
    setup: { modules, kernels },
    threads,
    queue: threads,
    // The next job gets another thread.
    onLoss: ({ code, message }) => session.log.warn({ code, message }, "a thread was lost after its job"),
  });
  const worker = new Worker(session, { ...settings, open, studies, pool });
  try {
    const start = { name: open.name, build, jobs: threads, studies: studies.map(({ id }) => id) };
    if (settings.json) printJson(session, start);
    else printLine(session, `${open.name} waits for jobs, ${threads} at a time`);
    await Promise.all(Array.from({ length: threads }, (_, at) => worker.serve({ isFirst: at === 0 })));
  } finally {
    await pool.close();
    session.log.info(worker.counts, "worker stopped");
    await open.close();
  }
}

interface Parts extends WorkerSettings {
  readonly open: OpenQueue;
  readonly studies: readonly Study[];
  readonly pool: JobPool;
}

class Worker {
  readonly counts = { done: 0, failed: 0, handedBack: 0, refused: 0 };
  readonly #session: Session;
  readonly #parts: Parts;
  #areOthersTold = false;

  constructor(session: Session, parts: Parts) {
    this.#session = session;
    this.#parts = parts;
  }

  /** One job after the other; the first of those who do so also looks around when it has none. */
  async serve({ isFirst }: { readonly isFirst: boolean }): Promise<void> {
    const { signal, log } = this.#session;
    let isAway = false;
    while (!signal.aborted) {
      const taking = await this.#parts.open.queue.take({ waitMs: WAIT_MS, signal });
      if (!taking.ok) {
        if (!isAway && !signal.aborted)
          log.warn({ ...plain(taking.failure) }, "no job can be taken; it is tried again");
        isAway = true;
        await pause(RETRY_MS, signal);
        continue;
      }
      isAway = false;
      const { value } = taking;
      if (value.kind === "refused") this.#refuse(value.failure);
      else if (value.kind === "job") await this.#take(value.job);
      else if (isFirst && !signal.aborted) await this.#lookAtOthers();
    }
  }

  /** A job for another build is never given to this worker; whoever runs it should know why nothing comes. */
  async #lookAtOthers(): Promise<void> {
    const others = await this.#parts.open.queue.others();
    if (!others.ok) return;
    const { count, build } = others.value;
    if (count > 0 && !this.#areOthersTold) {
      const why = build ? differenceOf(build, this.#parts.open.build) : "they cannot be read";
      const text = `${count} jobs wait for workers of another build and are left to them: ${why}; install the same one`;
      this.#session.log.warn(plain(failure("work.other-build", text)), "took no job of another build");
    }
    this.#areOthersTold = count > 0;
  }

  async #take(job: TakenJob): Promise<void> {
    const { open, studies, kernels } = this.#parts;
    const { fingerprint } = job.offer;
    job.beat(0);
    const earlier = await open.results.read(fingerprint, job.id);
    // Whoever had it before stored its outcome and went away before it could say so.
    if (earlier.ok && earlier.value && earlier.value.result.kind !== "failure") return job.done();
    const work = offeredWork(job.offer, studies, kernels);
    if (!work.ok) {
      this.#refuse(work.failure);
      return job.done();
    }
    if (job.isWornOut) return this.#giveUp(job, work.value);
    await this.#do(job, work.value);
  }

  async #do(job: TakenJob, work: OfferedWork): Promise<void> {
    const { signal, log } = this.#session;
    let fraction = 0;
    const beats = setInterval(() => job.beat(fraction), this.#parts.open.queue.beatEveryMs);
    const name = nameOf(work);
    log.info({ job: name, time: job.deliveries }, "job taken");
    try {
      const outcome = await this.#compute(work, (share) => {
        fraction = share;
      });
      await this.#deliver(job, { outcome, name });
    } catch (thrown) {
      const found = failureOf(thrown) ?? failure("study.crashed", thrown instanceof Error ? thrown.message : "unknown");
      if (signal.aborted || found.retry) {
        this.counts.handedBack += 1;
        log.info({ job: name, ...(signal.aborted ? {} : plain(found)) }, "job handed back");
        await job.handBack(signal.aborted ? undefined : HAND_BACK_MS);
        return;
      }
      this.counts.failed += 1;
      log.warn({ job: name, ...plain(found) }, "job failed");
      await this.#store(job, { seconds: 0, result: failureResult(found) });
    } finally {
      clearInterval(beats);
    }
  }

  async #compute(work: OfferedWork, progress: (fraction: number) => void): Promise<StudyJobOutcome> {
    const { pool, open, data, kernels, jobs } = this.#parts;
    const { signal } = this.#session;
    if (work.kind === "model") {
      const { name, settings } = work;
      const outcome = await trainModel({ name, settings, data, kernels, workers: jobs }, signal);
      await this.#insist(() => handOut(settings, { open, data, kernels }));
      return outcome;
    }
    const { studyId, seed, unit, config } = work;
    const models = await fetchModels(work.models, { open, data, kernels });
    return pool.run({ studyId, seed, unit, config, models }, { signal, progress });
  }

  async #deliver(job: TakenJob, { outcome, name }: { outcome: StudyJobOutcome; name: string }): Promise<void> {
    const { result, seconds } = outcome;
    const bytes = new TextEncoder().encode(JSON.stringify(result));
    const isSmall = bytes.length <= INLINE_BYTES;
    if (!isSmall) await this.#insist(() => this.#parts.open.results.putObject(job.id, bytes));
    const stored = isSmall
      ? { kind: "value" as const, value: result }
      : { kind: "object" as const, bytes: bytes.length };
    await this.#store(job, { seconds, result: stored });
    this.counts.done += 1;
    this.#session.log.info({ job: name, seconds: Number(seconds.toFixed(2)), bytes: bytes.length }, "job done");
  }

  async #store(job: TakenJob, outcome: Pick<WorkOutcome, "seconds" | "result">): Promise<void> {
    const { open } = this.#parts;
    const { fingerprint } = job.offer;
    await this.#insist(() => open.results.publish(fingerprint, job.id, { schema: 1, by: open.name, ...outcome }));
    await job.done();
  }

  /**
   * What took an hour is not given up because the server is away for a minute. One that is there and refuses, such as a full one,
   * is not asked for ever: as long as this worker says that it is at the job, nobody else takes it.
   */
  async #insist(
    store: () => Promise<{ readonly ok: true } | { readonly ok: false; readonly failure: Failure }>,
  ): Promise<void> {
    const { signal, log } = this.#session;
    let refusals = 0;
    for (let tries = 0; ; tries++) {
      const stored = await store();
      if (stored.ok) return;
      const why = stored.failure;
      if (tries === 0) log.warn(plain(why), "cannot store an outcome yet");
      if (!why.retry) refusals += 1;
      if (signal.aborted || why.code === "work.too-large" || refusals === MOST_REFUSALS) throw new CodedError(why);
      await pause(RETRY_MS, signal);
    }
  }

  async #giveUp(job: TakenJob, work: OfferedWork): Promise<void> {
    this.counts.failed += 1;
    const times = job.deliveries - 1;
    const message = `it was given to workers ${times} times and none of them came back with an outcome`;
    const found = failure("work.gave-up", message);
    this.#session.log.warn({ job: nameOf(work), ...plain(found) }, "job given up");
    await this.#store(job, { seconds: 0, result: failureResult(found) });
  }

  #refuse({ code, message }: Failure): void {
    this.counts.refused += 1;
    this.#session.log.warn({ code, message, refused: this.counts.refused }, "refused a message of the work queue");
  }
}

const nameOf = (work: OfferedWork): string =>
  work.kind === "unit" ? describeJob(work) : `${work.studyId}, model '${work.name}'`;

const plain = ({ code, message }: Failure) => ({ code, message });

const failureResult = ({ code, message }: Failure): WorkOutcome["result"] => ({
  kind: "failure",
  code,
  // What follows the first line is a stack of this machine. Whoever asked tries the job and has one of his own.
  message: (message.split("\n")[0] || code).slice(0, 1_000),
});
