export type { KernelSetName, LoadKernelsOptions } from "./load-kernels.ts";
export { loadKernels, tryKernels } from "./load-kernels.ts";
export { packageRoot } from "./package-root.ts";
export { serveJobs } from "./serve-jobs.ts";
export { systemClock } from "./system-clock.ts";
export { workerEntry } from "./worker-entry.ts";
export type { WorkerPoolOptions } from "./worker-pool.ts";
export { openWorkerPool } from "./worker-pool.ts";
