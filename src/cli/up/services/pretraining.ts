/**
 * The pre-training thread, as the thread that knows services has it.
 * Owns: starting and ending it, and handing on what it learned: a localizer, a policy.
 * Not here: what is learned (pretraining-worker.ts).
 */
import { Worker } from "node:worker_threads";
import { workerEntry } from "../../../adapters/runtime/index.ts";
import { unwrap } from "../../../base/index.ts";
import { decodeLocalizer, type Localizer } from "../../../control/localize/index.ts";
import type { FromPretraining, PretrainingSettings } from "./pretraining-messages.ts";

export interface Pretrained {
  onLocalizer(localizer: Localizer): void;
  /** The policy that all agents begin with. */
  onPolicy(policy: Uint8Array): void;
  onFailure(why: string): void;
}

export interface RunningPretraining {
  close(): Promise<void>;
}

/** Whoever has just started it wants to see something first, and both cores are at work on that. */
const BEGINS_AFTER_MS = 3_000;
/** Half of the memory that a thread may have otherwise is plenty for fifteen services. */
const YOUNG_MB = 32;

export function openPretraining(settings: PretrainingSettings, pretrained: Pretrained): RunningPretraining {
  let worker: Worker | undefined;
  const begin = setTimeout(() => {
    worker = startTraining(settings, pretrained);
  }, BEGINS_AFTER_MS);
  return {
    async close() {
      clearTimeout(begin);
      await worker?.terminate();
    },
  };
}

function startTraining(settings: PretrainingSettings, { onLocalizer, onPolicy, onFailure }: Pretrained): Worker {
  const worker = new Worker(workerEntry("./pretraining-worker.ts", import.meta.url), {
    workerData: settings,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  worker.on("message", (message: FromPretraining) => {
    switch (message.kind) {
      case "localizer":
        onLocalizer(unwrap(decodeLocalizer(message.bytes)));
        return;
      case "policy":
        onPolicy(message.policy);
        return;
      case "failed":
        onFailure(message.failure.message);
        return;
    }
  });
  worker.on("error", (thrown) => onFailure(thrown.message));
  return worker;
}
