/** Entry of a worker thread: receives names of jobs, builds them from the registry, sends back plain results. */

import { parentPort, workerData } from "node:worker_threads";
import { failure, failureOf } from "../../base/index.ts";
import type { Study } from "../../studies/index.ts";
import { openKernels } from "../kernels.ts";
import { findStudy, loadStudies } from "./load-studies.ts";
import type { FromWorker, JobName, ToWorker, WorkerSetup } from "./messages.ts";
import { plainJson } from "./plain-json.ts";

const PROGRESS_EVERY_MS = 100;

const port = parentPort;
if (port === null) throw new Error("studies/worker is the entry of a worker thread and does nothing by itself");

const setup = workerData as WorkerSetup;
const stop = new AbortController();
let studies: Promise<readonly Study[]> | undefined;

const send = (message: FromWorker) => port.postMessage(message);

port.on("message", (message: ToWorker) => {
  if (message.kind === "stop") stop.abort(new DOMException("the run was stopped", "AbortError"));
  else void runJob(message.job).then(send, (thrown: unknown) => send({ kind: "failed", failure: describe(thrown) }));
});

async function runJob(job: JobName): Promise<FromWorker> {
  studies ??= loadStudies(setup.modules);
  const study = findStudy(await studies, job.studyId);
  const started = performance.now();
  let told = started;
  const result = await study.runUnit({
    seed: job.seed,
    unit: job.unit,
    config: job.config,
    kernels: openKernels(setup.kernels),
    signal: stop.signal,
    progress(fraction) {
      const now = performance.now();
      if (now - told < PROGRESS_EVERY_MS) return;
      told = now;
      send({ kind: "progress", fraction });
    },
  });
  return { kind: "done", result: plainJson(result), seconds: (performance.now() - started) / 1000 };
}

function describe(thrown: unknown): Omit<ReturnType<typeof failure>, "cause"> {
  const { code, message, retry } =
    failureOf(thrown) ??
    failure("study.crashed", thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  return { code, message, retry };
}
