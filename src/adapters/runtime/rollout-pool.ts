/** Threads for parallel training in the environments that come with the package. */

import { rolloutKinds } from "../../learn/rl/index.ts";
import type { WorkerPool } from "../../learn/tensor/index.ts";
import { workerEntry } from "./worker-entry.ts";
import { openWorkerPool, type WorkerPoolOptions } from "./worker-pool.ts";

export function openRolloutPool(options: Omit<WorkerPoolOptions, "kinds" | "entry">): WorkerPool {
  return openWorkerPool({
    ...options,
    kinds: rolloutKinds(),
    entry: workerEntry("./rollout-worker.ts", import.meta.url),
  });
}
