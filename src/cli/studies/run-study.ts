/**
 * One study from its definition to its report: jobs, kept results, progress, rows.
 * Not here: printing and files (report.ts), threads (job-pool.ts).
 */

import { CodedError, failure } from "../../base/index.ts";
import { parseStudyResult } from "../../contract/index.ts";
import type { SharedTraining } from "../../pretraining/index.ts";
import type { Figure, Study, StudyReport, UnitResult } from "../../studies/index.ts";
import { openKernels } from "../kernels.ts";
import { cpuModel, gitCommit, packageVersion } from "../package-info.ts";
import { createProgress, type Progress } from "../progress.ts";
import { isLive, type Session } from "../shell.ts";
import type { QueueAccess } from "../work/open-queue.ts";
import { fingerprint } from "./fingerprint.ts";
import { type PoolOptions, runPool, threadCount } from "./job-pool.ts";
import { type FinishedJob, JobStore } from "./job-store.ts";
import { type SeedChoice, seedsOf } from "./seeds.ts";
import { trainModels } from "./shared-models.ts";
import type { ModelFiles, WorkerSetup } from "./study-kinds.ts";

export interface RunStudyOptions extends SeedChoice {
  readonly study: Study;
  readonly setup: Omit<WorkerSetup, "models">;
  readonly workers: number;
  /** Where finished jobs are kept. */
  readonly data: string;
  /** Run every job again. */
  readonly fresh: boolean;
  /** The server of a work queue, over which others help; undefined: nobody does. */
  readonly queue?: QueueAccess | undefined;
}

export interface StudyOutcome {
  readonly report: StudyReport;
  readonly figures: readonly Figure[];
}

export async function runStudy(session: Session, options: RunStudyOptions): Promise<StudyOutcome> {
  const { study, quick, setup } = options;
  const started = session.now();
  const seeds = seedsOf(study, options);
  const config = study.config({ quick });
  const kernels = openKernels(setup.kernels).name;
  const version = packageVersion();
  const print = fingerprint({ study, config, kernels, version });
  const store = new JobStore({ data: options.data, study: study.id, fingerprint: print });
  if (options.fresh) store.clear();

  // Seed by seed, so that a run cut short has whole seeds and not one algorithm of every seed.
  const jobs = seeds.flatMap((seed) => study.units(config).map((unit) => ({ studyId: study.id, seed, unit, config })));
  const outcomes: (FinishedJob | undefined)[] = jobs.map(({ seed, unit }) => store.load(seed, unit));
  const missing = jobs.flatMap((job, index) => (outcomes[index] ? [] : [{ job, index }]));
  const keptSeconds = outcomes.reduce((total, job) => total + (job?.seconds ?? 0), 0);
  if (missing.length < jobs.length) {
    session.log.info({ study: study.id, kept: jobs.length - missing.length, of: jobs.length }, "finished jobs found");
  }

  const { workers } = options;
  const needs = missing.length > 0 ? (study.models?.(config) ?? {}) : {};
  const runner = await openRunner(session, { ...options, fingerprint: print, isNeeded: missing.length > 0 });
  let progress: Progress | undefined;
  const fractions = new Float64Array(missing.length);
  let done = jobs.length - missing.length;
  const draw = () => {
    const fraction = fractions.reduce((total, part) => total + part, 0) / Math.max(1, missing.length);
    progress?.update({ fraction, note: `${done} of ${jobs.length} jobs` });
  };
  try {
    const models = await runner.trainModels(needs);
    progress = createProgress(session, study.id);
    await runner.runJobs({
      jobs: missing.map(({ job }) => job),
      setup: { ...setup, models },
      workers,
      signal: session.signal,
      onProgress(index, fraction) {
        fractions[index] = Math.min(Math.max(fraction, 0), 1);
        draw();
      },
      onDone(index, { result, seconds }, by) {
        const { job, index: place } = missing[index] as (typeof missing)[number];
        const finished = { seed: job.seed, unit: job.unit, result, seconds };
        store.save(finished);
        outcomes[place] = finished;
        fractions[index] = 1;
        done += 1;
        // A terminal has the bar; a log file gets a line per job.
        if (!isLive(session, session.stderr)) {
          session.log.info(
            {
              study: study.id,
              seed: job.seed,
              unit: job.unit,
              seconds: Number(seconds.toFixed(2)),
              done,
              of: jobs.length,
              ...(by === undefined ? {} : { by }),
            },
            "job finished",
          );
        }
        draw();
      },
    });
  } finally {
    progress?.clear();
    await runner.close();
  }

  const results = outcomes as readonly FinishedJob[] satisfies readonly UnitResult[];
  const report: StudyReport = {
    study: study.id,
    title: study.title,
    quick,
    seeds,
    // Jobs kept from an earlier run count as if they had run beside one another here.
    wallSeconds: round((session.now() - started) / 1000 + keptSeconds / threadCount(options.workers, jobs.length)),
    world: study.world,
    rows: study.rows(results, config),
    config,
    version,
    commit: gitCommit(),
    node: process.version,
    cpu: cpuModel(),
    kernels,
  };
  const parsed = parseStudyResult(report);
  if (!parsed.ok)
    throw new CodedError(
      failure(
        "study.rows",
        `study '${study.id}' has a row that cannot be read: ${parsed.problem}; make rows with promiseAtLeast, reproduceAtLeast, shown and their like`,
      ),
    );
  return { report, figures: study.figures(results, config) };
}

/** Who computes: the threads of this process, with others' help or without. */
interface Runner {
  trainModels(needs: Readonly<Record<string, SharedTraining>>): Promise<ModelFiles>;
  runJobs(options: PoolOptions): Promise<void>;
  close(): Promise<void>;
}

async function openRunner(
  session: Session,
  options: RunStudyOptions & { readonly fingerprint: string; readonly isNeeded: boolean },
): Promise<Runner> {
  const { study, setup, queue, data, workers, isNeeded } = options;
  if (queue === undefined || !isNeeded) {
    return {
      trainModels: (needs) => trainModels(session, { needs, data, kernels: setup.kernels, workers }),
      runJobs: runPool,
      close: async () => {},
    };
  }
  const { AskedStudy } = await import("../work/asked-study.ts");
  return AskedStudy.open(session, { ...options, study: study.id, access: queue });
}

function round(seconds: number): number {
  return Number(seconds.toFixed(1));
}
