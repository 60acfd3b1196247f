/**
 * Runs a study's jobs on threads, one job per thread at a time.
 * The first failure stops the rest; what was finished before it has been handed over already.
 * Not here: threads themselves (adapters/runtime), keeping results (job-store.ts).
 */

import { availableParallelism } from "node:os";
import { openWorkerPool, workerEntry } from "../../adapters/runtime/index.ts";
import { CodedError, failure, failureOf } from "../../base/index.ts";
import type { JobName, TaskOptions } from "../../learn/tensor/index.ts";
import { openKernels } from "../kernels.ts";
import type { ModelFiles, StudyJobName, StudyJobOutcome, WorkerSetup } from "./study-kinds.ts";
import { STUDY_JOB, studyKinds } from "./study-kinds.ts";

export interface PoolOptions {
  readonly jobs: readonly StudyJobName[];
  readonly setup: WorkerSetup;
  /** 0: one thread per core. */
  readonly workers: number;
  readonly signal: AbortSignal;
  onProgress(jobIndex: number, fraction: number): void;
  /** Called once per finished job; `by` where another process computed it. */
  onDone(jobIndex: number, outcome: StudyJobOutcome, by?: string): void;
}

export function threadCount(workers: number, jobs: number): number {
  return Math.max(1, Math.min(workers === 0 ? availableParallelism() : workers, jobs));
}

export async function runPool({ jobs, setup, workers, signal, onProgress, onDone }: PoolOptions): Promise<void> {
  if (jobs.length === 0) return;
  signal.throwIfAborted();
  const failed = new AbortController();
  const pool = openJobPool({
    setup,
    threads: threadCount(workers, jobs.length),
    queue: jobs.length,
    onLoss: (why) => failed.abort(why),
  });
  const runOne = async (job: StudyJobName, index: number): Promise<void> => {
    const outcome = await pool.run(
      { ...job, models: setup.models },
      {
        signal: AbortSignal.any([signal, failed.signal]),
        progress: (fraction) => onProgress(index, fraction),
      },
    );
    onDone(index, outcome);
  };
  try {
    await Promise.all(
      jobs.map((job, index) =>
        runOne(job, index).catch((thrown: unknown) => {
          if (!signal.aborted && !failed.signal.aborted) failed.abort(failedJob(job, thrown));
        }),
      ),
    );
    signal.throwIfAborted();
    failed.signal.throwIfAborted();
  } finally {
    await pool.close();
  }
}

export interface JobPoolOptions {
  readonly setup: Pick<WorkerSetup, "modules" | "kernels">;
  readonly threads: number;
  /** Jobs that may wait for a thread. */
  readonly queue: number;
  /** A job may leave something behind that brings its thread down while others are still at work. */
  onLoss(why: CodedError): void;
}

export interface JobPool {
  /** Rejects with what the job threw. */
  run(job: StudyJobName & { readonly models: ModelFiles }, options: TaskOptions): Promise<StudyJobOutcome>;
  close(): Promise<void>;
}

/** Threads that compute jobs of studies, for whoever hands them out. */
export function openJobPool({ setup, threads, queue, onLoss }: JobPoolOptions): JobPool {
  const pool = openWorkerPool({
    kinds: studyKinds,
    entry: workerEntry("./worker.ts", import.meta.url),
    threads,
    kernels: openKernels(setup.kernels),
    queue,
    onIdleLoss: (why, job) => onLoss(crashed(nameOf(job), why)),
  });
  return {
    run: async (job, options) => {
      const config = { ...job, modules: setup.modules };
      return (await pool.run({ kind: STUDY_JOB, config }, options)) as StudyJobOutcome;
    },
    close: () => pool.close(),
  };
}

export const describeJob = ({ studyId, unit, seed }: Pick<StudyJobName, "studyId" | "unit" | "seed">): string =>
  `${studyId}, unit '${unit}', seed ${seed}`;

const nameOf = (job: JobName | undefined): string =>
  job === undefined ? "a thread without a job" : describeJob(job.config as StudyJobName);

export function failedJob(job: StudyJobName, thrown: unknown): CodedError {
  const { code, message, retry } =
    failureOf(thrown) ?? failure("study.crashed", thrown instanceof Error ? thrown.message : String(thrown));
  if (code === "threads.worker-lost") return crashed(describeJob(job), message);
  const text = `${describeJob(job)} failed: ${message}\nfinished jobs are kept; the same command goes on from there`;
  return new CodedError(failure(code, text, { retry }));
}

function crashed(name: string, why: string): CodedError {
  const text = `${name} crashed: ${why}; finished jobs are kept, run the same command again to go on`;
  return new CodedError(failure("study.crashed", text));
}
