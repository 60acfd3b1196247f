/** The loop's trainer on threads of this machine. */

import { openWorkerPool, poolTrainer, type WorkerPoolOptions, workerEntry } from "../../adapters/runtime/index.ts";
import type { Trainer } from "../../control/loop/index.ts";
import { backgroundKinds } from "./background-kinds.ts";
import type { TrainingSetup } from "./training-worker.ts";

export interface AgentTrainer {
  readonly trainer: Trainer;
  close(): Promise<void>;
}

export interface AgentTrainerOptions extends Pick<WorkerPoolOptions, "threads" | "kernels"> {
  /** The user's own, which bring learners: threads load them too. */
  readonly modules?: readonly string[];
}

export function openAgentTrainer({ modules = [], ...options }: AgentTrainerOptions): AgentTrainer {
  const setup: TrainingSetup = { modules };
  const pool = openWorkerPool({
    ...options,
    kinds: backgroundKinds(),
    entry: workerEntry("./training-worker.ts", import.meta.url),
    setup,
  });
  return { trainer: poolTrainer(pool), close: () => pool.close() };
}
