/**
 * The thread that teaches, as the thread that knows services has it.
 * Owns: starting and ending it, and turning what it learned into a localizer and an agent.
 * Not here: what is taught (school-worker.ts).
 */
import { Worker } from "node:worker_threads";
import { loadKernels, workerEntry } from "../../../adapters/runtime/index.ts";
import { unwrap } from "../../../base/index.ts";
import { decodeLocalizer, type Localizer } from "../../../control/localize/index.ts";
import type { MitigationAgent } from "../../../control/tasks/index.ts";
import { openMitigationAgent, usualTraining } from "../../../studies/index.ts";
import type { FromSchool, SchoolSettings } from "./school-messages.ts";

export interface Graduates {
  /** A localizer that has learned; each caller of `again` gets one of its own. */
  onLocalizer(again: () => Localizer): void;
  onAgent(agent: MitigationAgent): void;
  onFailure(why: string): void;
}

export interface RunningSchool {
  close(): Promise<void>;
}

/** Whoever has just started it wants to see something first, and both cores are at work on that. */
const BEGINS_AFTER_MS = 3_000;
/** Half of the memory that a thread may have otherwise is plenty for fifteen services. */
const YOUNG_MB = 32;

export function openSchool(settings: SchoolSettings, graduates: Graduates): RunningSchool {
  let worker: Worker | undefined;
  const begin = setTimeout(() => {
    worker = startTeaching(settings, graduates);
  }, BEGINS_AFTER_MS);
  return {
    async close() {
      clearTimeout(begin);
      await worker?.terminate();
    },
  };
}

function startTeaching(settings: SchoolSettings, { onLocalizer, onAgent, onFailure }: Graduates): Worker {
  const worker = new Worker(workerEntry("./school-worker.ts", import.meta.url), {
    workerData: settings,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  worker.on("message", (message: FromSchool) => {
    switch (message.kind) {
      case "localizer":
        onLocalizer(() => unwrap(decodeLocalizer(message.bytes)));
        return;
      case "agent":
        onAgent(openMitigationAgent(message.checkpoints, { kernels: loadKernels(), ddpg: usualTraining.ddpg }));
        return;
      case "failed":
        onFailure(message.failure.message);
        return;
    }
  });
  worker.on("error", (thrown) => onFailure(thrown.message));
  return worker;
}
