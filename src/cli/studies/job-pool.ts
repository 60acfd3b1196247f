/**
 * Runs a study's jobs on threads, one job per thread at a time.
 * The first failure stops the rest; what was finished before it has been handed over already.
 * Not here: threads themselves (adapters/runtime), keeping results (job-store.ts).
 */

import { availableParallelism } from "node:os";
import { openWorkerPool, workerEntry } from "../../adapters/runtime/index.ts";
import { CodedError, failure, failureOf } from "../../base/index.ts";
import type { JobName } from "../../learn/tensor/index.ts";
import { openKernels } from "../kernels.ts";
import type { StudyJobName, StudyJobOutcome, WorkerSetup } from "./study-kinds.ts";
import { STUDY_JOB, studyKinds } from "./study-kinds.ts";

export interface PoolOptions {
  readonly jobs: readonly StudyJobName[];
  readonly setup: WorkerSetup;
  /** 0: one thread per core. */
  readonly workers: number;
  readonly signal: AbortSignal;
  onProgress(jobIndex: number, fraction: number): void;
  /** Called once per finished job. */
  onDone(jobIndex: number, outcome: StudyJobOutcome): void;
}

export function threadCount(workers: number, jobs: number): number {
  return Math.max(1, Math.min(workers === 0 ? availableParallelism() : workers, jobs));
}

export async function runPool({ jobs, setup, workers, signal, onProgress, onDone }: PoolOptions): Promise<void> {
  if (jobs.length === 0) return;
  signal.throwIfAborted();
  const failed = new AbortController();
  const pool = openWorkerPool({
    kinds: studyKinds,
    entry: workerEntry("./worker.ts", import.meta.url),
    threads: threadCount(workers, jobs.length),
    kernels: openKernels(setup.kernels),
    queue: jobs.length,
    // A job may leave something behind that brings its thread down while others are still at work.
    onIdleLoss: (why, job) => failed.abort(crashed(nameOf(job), why)),
  });
  const runOne = async (job: StudyJobName, index: number): Promise<void> => {
    const config = { ...job, modules: setup.modules, models: setup.models };
    const outcome = await pool.run(
      { kind: STUDY_JOB, config },
      { signal: AbortSignal.any([signal, failed.signal]), progress: (fraction) => onProgress(index, fraction) },
    );
    onDone(index, outcome as StudyJobOutcome);
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

const describe = ({ studyId, unit, seed }: StudyJobName): string => `${studyId}, unit '${unit}', seed ${seed}`;

const nameOf = (job: JobName | undefined): string =>
  job === undefined ? "a thread without a job" : describe(job.config as StudyJobName);

function failedJob(job: StudyJobName, thrown: unknown): CodedError {
  const { code, message, retry } =
    failureOf(thrown) ?? failure("study.crashed", thrown instanceof Error ? thrown.message : String(thrown));
  if (code === "threads.worker-lost") return crashed(describe(job), message);
  const text = `${describe(job)} failed: ${message}\nfinished jobs are kept; the same command goes on from there`;
  return new CodedError(failure(code, text, { retry }));
}

function crashed(name: string, why: string): CodedError {
  const text = `${name} crashed: ${why}; finished jobs are kept, run the same command again to go on`;
  return new CodedError(failure("study.crashed", text));
}
