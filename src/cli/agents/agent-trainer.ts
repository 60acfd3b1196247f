/** The loop's trainer on threads of this machine. */

import { openWorkerPool, poolTrainer, type WorkerPoolOptions, workerEntry } from "../../adapters/runtime/index.ts";
import { agentTrainingKinds } from "../../control/lifecycle/index.ts";
import type { Trainer } from "../../control/loop/index.ts";

export interface AgentTrainer {
  readonly trainer: Trainer;
  close(): Promise<void>;
}

export function openAgentTrainer(options: Pick<WorkerPoolOptions, "threads" | "kernels">): AgentTrainer {
  const pool = openWorkerPool({
    ...options,
    kinds: agentTrainingKinds(),
    entry: workerEntry("./training-worker.ts", import.meta.url),
  });
  return { trainer: poolTrainer(pool), close: () => pool.close() };
}
