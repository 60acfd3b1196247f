/**
 * A study that is computed with others' help: first its models, then its jobs.
 * Owns: what an asked job is in a study. Not here: who computes it (ask-workers.ts), keeping results (cli/studies/run-study.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";
import { err, failure, ok, type Result } from "../../base/index.ts";
import type { SharedTraining } from "../../pretraining/index.ts";
import type { Session } from "../shell.ts";
import { describeJob, failedJob, openJobPool, type PoolOptions, threadCount } from "../studies/job-pool.ts";
import { modelFile, modelName, trainModels } from "../studies/shared-models.ts";
import type { ModelFiles, WorkerSetup } from "../studies/study-kinds.ts";
import { type AskedJob, type AskOptions, askWorkers } from "./ask-workers.ts";
import { fetchModel, handOut, sha256 } from "./handed-models.ts";
import { trainModel } from "./model-kinds.ts";
import { type OpenQueue, openQueue, type QueueAccess } from "./open-queue.ts";
import { ownBuild } from "./own-build.ts";

export interface AskedStudyOptions {
  readonly access: QueueAccess;
  readonly study: string;
  readonly quick: boolean;
  readonly fingerprint: string;
  readonly setup: Omit<WorkerSetup, "models">;
  readonly data: string;
  readonly workers: number;
  readonly fresh: boolean;
}

type Needs = Readonly<Record<string, SharedTraining>>;

const ModelResult = z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().positive() });

export class AskedStudy {
  readonly #session: Session;
  readonly #options: AskedStudyOptions;
  readonly #open: OpenQueue;
  #digests: Readonly<Record<string, string>> = {};

  private constructor(session: Session, options: AskedStudyOptions, open: OpenQueue) {
    this.#session = session;
    this.#options = options;
    this.#open = open;
  }

  static async open(session: Session, options: AskedStudyOptions): Promise<AskedStudy> {
    const { access, setup } = options;
    const build = ownBuild(setup.kernels, setup.modules);
    return new AskedStudy(session, options, await openQueue(session, access, build));
  }

  /** As `trainModels` would, with each of them trained by whoever has time; then all are put where workers find them. */
  async trainModels(needs: Needs): Promise<ModelFiles> {
    const { data, setup, workers } = this.#options;
    const { kernels } = setup;
    const fileOf = (settings: SharedTraining) => modelFile(data, modelName(settings, kernels));
    const missing = Object.entries(needs).filter(([, settings]) => !existsSync(fileOf(settings)));
    await askWorkers({
      ...this.#common(),
      jobs: missing.map(([name, settings]) => this.#modelJob(name, settings)),
      // One takes all cores.
      threads: 1,
      onProgress() {},
      onDone: (index, { seconds }, by) => {
        const told = { model: missing[index]?.[0], seconds: Number(seconds.toFixed(1)), ...(by ? { by } : {}) };
        this.#session.log.info(told, "model trained");
      },
    });
    const digests: { [name: string]: string } = {};
    for (const [name, settings] of Object.entries(needs)) {
      digests[name] = sha256(readFileSync(fileOf(settings)));
      const put = await handOut(settings, { open: this.#open, data, kernels });
      if (!put.ok)
        this.#session.log.warn(
          { model: name, code: put.failure.code },
          "a model could not be handed out; workers without it refuse jobs",
        );
    }
    this.#digests = digests;
    // All of them are there.
    return trainModels(this.#session, { needs, data, kernels, workers });
  }

  /** As `runPool` would. */
  async runJobs({ jobs, setup, workers, onProgress, onDone }: Omit<PoolOptions, "signal">): Promise<void> {
    const lost = new AbortController();
    const threads = threadCount(workers, jobs.length);
    const pool = openJobPool({ setup, threads, queue: threads, onLoss: (why) => lost.abort(why) });
    try {
      await askWorkers({
        ...this.#common(),
        jobs: jobs.map((job): AskedJob => {
          const { seed, unit } = job;
          return {
            name: describeJob(job),
            job: { kind: "unit", seed, unit, models: this.#digests },
            compute: (signal, progress) =>
              pool.run({ ...job, models: setup.models }, { signal: AbortSignal.any([signal, lost.signal]), progress }),
            failed: (thrown) => failedJob(job, thrown),
          };
        }),
        threads,
        onProgress,
        onDone,
      });
    } finally {
      await pool.close();
    }
  }

  async close(): Promise<void> {
    await this.#open.close();
  }

  #common(): Pick<AskOptions, "session" | "open" | "study" | "quick" | "fingerprint" | "fresh"> {
    const { study, quick, fingerprint, fresh } = this.#options;
    return { session: this.#session, open: this.#open, study, quick, fingerprint, fresh };
  }

  #modelJob(name: string, settings: SharedTraining): AskedJob {
    const { study, data, setup, workers } = this.#options;
    const { kernels } = setup;
    const place = { open: this.#open, data, kernels };
    return {
      name: `${study}, model '${name}'`,
      job: { kind: "model", name },
      compute: (signal) => trainModel({ name, settings, data, kernels, workers }, signal),
      failed: (thrown) => failedJob({ studyId: study, unit: `model ${name}`, seed: settings.seed, config: {} }, thrown),
      accept: async (result): Promise<Result<unknown>> => {
        const parsed = ModelResult.safeParse(result);
        if (!parsed.success) return err(failure("work.malformed", "a worker says nothing that can be read of a model"));
        const fetched = await fetchModel({ settings, sha256: parsed.data.sha256 }, place);
        return fetched.ok ? ok(result) : fetched;
      },
    };
  }
}
