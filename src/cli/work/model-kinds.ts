/**
 * Training a model as a task for a thread of its own.
 * Owns: that task, and asking for it. A training searches and settles for minutes without a pause: on the thread that speaks to
 * the queue, nobody would hear of this process meanwhile, and the job would go to somebody else.
 */
import { readFileSync } from "node:fs";
import { openWorkerPool, workerEntry } from "../../adapters/runtime/index.ts";
import type { JobKinds, TaskContext } from "../../learn/tensor/index.ts";
import type { SharedTraining } from "../../pretraining/index.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { createLogger } from "../log.ts";
import type { Session } from "../shell.ts";
import { trainModels } from "../studies/shared-models.ts";
import type { StudyJobOutcome } from "../studies/study-kinds.ts";
import { sha256 } from "./handed-models.ts";

export interface ModelTask {
  readonly name: string;
  readonly settings: SharedTraining;
  readonly data: string;
  readonly kernels: KernelChoice;
  readonly workers: number;
}

const MODEL_TASK = "model of a study";
const LOOK_MS = 100;

export const modelKinds: JobKinds = { tasks: { [MODEL_TASK]: train }, models: {} };

/** What is needed to check the model wherever it goes; its file is kept under `data`. */
export async function trainModel(task: ModelTask, signal: AbortSignal): Promise<StudyJobOutcome> {
  const entry = workerEntry("./model-worker.ts", import.meta.url);
  const pool = openWorkerPool({ kinds: modelKinds, entry, threads: 1, kernels: openKernels(task.kernels) });
  try {
    return (await pool.run({ kind: MODEL_TASK, config: task }, { signal })) as StudyJobOutcome;
  } finally {
    await pool.close();
  }
}

async function train(config: unknown, { isCancelled }: TaskContext): Promise<StudyJobOutcome> {
  const { name, settings, data, kernels, workers } = config as ModelTask;
  const stop = new AbortController();
  const look = setInterval(() => {
    if (isCancelled()) stop.abort(new DOMException("the training was stopped", "AbortError"));
  }, LOOK_MS);
  const started = performance.now();
  try {
    const files = await trainModels(silentSession(data, stop.signal), {
      ...{ needs: { [name]: settings }, data, kernels, workers },
    });
    const bytes = readFileSync(files[name] as string);
    const seconds = (performance.now() - started) / 1000;
    return { result: { sha256: sha256(bytes), bytes: bytes.length }, seconds };
  } finally {
    clearInterval(look);
  }
}

function silentSession(cwd: string, signal: AbortSignal): Session {
  const silent = { write: () => true };
  const log = createLogger({ level: "silent", sink: silent });
  return { stdout: silent, stderr: silent, env: {}, cwd, signal, now: () => performance.now(), exitWith() {}, log };
}
