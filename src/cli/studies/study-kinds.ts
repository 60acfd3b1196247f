/** A study's job as a task for threads: its name crosses to the thread, which finds the study in the registry. */

import { readFileSync } from "node:fs";
import { CodedError, failure, failureOf } from "../../base/index.ts";
import type { JobKinds, TaskContext } from "../../learn/tensor/index.ts";
import type { KernelChoice } from "../kernels.ts";
import { findStudy, loadStudies } from "./load-studies.ts";
import { plainJson } from "./plain-json.ts";

export interface StudyJobName {
  readonly studyId: string;
  readonly seed: number;
  readonly unit: string;
  readonly config: unknown;
}

/** Each model's file by the name that the study gives it. */
export type ModelFiles = Readonly<Record<string, string>>;

export interface WorkerSetup {
  /** Files that export further studies. */
  readonly modules: readonly string[];
  readonly kernels: KernelChoice;
  /** Of the models that jobs begin with. */
  readonly models: ModelFiles;
}

export interface StudyJobOutcome {
  readonly result: unknown;
  readonly seconds: number;
}

export const STUDY_JOB = "study job";

export const studyKinds: JobKinds = { tasks: { [STUDY_JOB]: runJob }, models: {} };

async function runJob(job: unknown, { kernels, isCancelled, progress }: TaskContext): Promise<StudyJobOutcome> {
  const { studyId, seed, unit, config, modules, models } = job as StudyJobName & Omit<WorkerSetup, "kernels">;
  const study = findStudy(await loadStudies(modules), studyId);
  const stop = new AbortController();
  const started = performance.now();
  try {
    const result = await study.runUnit({
      seed,
      unit,
      config,
      kernels,
      signal: stop.signal,
      model(name) {
        const file = models[name];
        if (file === undefined)
          throw new CodedError(
            failure("study.crashed", `${studyId} asks for the model '${name}', which it does not list`),
          );
        // A plain copy: bytes of a Buffer may begin anywhere in a larger one, and numbers are read out of them.
        return new Uint8Array(readFileSync(file));
      },
      progress(fraction) {
        // A job that computes without a pause hears of the end here, and nowhere else.
        if (isCancelled()) stop.abort(new DOMException("the run was stopped", "AbortError"));
        progress(fraction);
      },
    });
    return { result: plainJson(result), seconds: (performance.now() - started) / 1000 };
  } catch (thrown) {
    if (failureOf(thrown) !== undefined) throw thrown;
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    throw new CodedError(failure("study.crashed", text));
  }
}
