/**
 * Every constant of the serverless platform, with where it comes from. The same for both rungs and for every controller.
 * Owns: the platform's own times and limits, starts by language, what too little memory does.
 * Not here: the functions (functions.ts), the machines (invokers.ts).
 *
 * Sources, named below by their short form:
 *   SIMPPO     SoCC 2022, sections 3, 4 and 7; dissertation, chapter 4.
 *   OpenWhisk  its sources, tag 1.0 and later: application.conf of controller and invoker, ShardingContainerPoolBalancer.
 *   SeBS       Middleware 2021, Table 4: warm and cold times of its benchmarks on one machine, rounded.
 *   assumed    no measurement at hand; in brackets the range that is plausible. No value was chosen by looking at how a
 *              controller does.
 */

/** Cores that a container is taken to have been granted, per share: Docker's and Kubernetes' convention. */
export const SHARES_PER_CORE = 1_024;

/** What may be asked for. SIMPPO, section 3.1; memory: OpenWhisk's least is 128 MB, its most a setting. Assumed [32..2,048]. */
export const settingBounds = {
  shares: { min: 128, max: 2_048 },
  memory: { min: 32, max: 2_048 },
  containers: { min: 0, max: 1_000 },
} as const;

/**
 * From the gateway to the container and back, ms: controller, Kafka, invoker, the runtime's proxy. Mean and coefficient of
 * variation. Assumed [5..30]: what is left of a warm call to a function that does nothing.
 */
export const overhead = { mean: 12, variation: 0.35 } as const;

/** OpenWhisk, container-proxy.timeouts.idle-container: a container that nobody uses is removed after ten minutes. */
export const KEEP_ALIVE = 600_000;

/** A paused container that is wanted again, ms. Assumed [5..50]: runc resume. */
export const RESUME = 15;

/**
 * A start, ms: `docker run` and the network, then the language's runtime, then the function's own imports (functions.ts).
 * Assumed [300..1,000] and [100..400, 400..1,500]; cold calls of OpenWhisk with Python take half a second to a second more.
 */
export const dockerRun = { mean: 500, variation: 0.2 } as const;
export const runtimeStart = { python: 250, java: 900 } as const;

/** Cores that a start keeps busy while it lasts, with Docker's default of 1,024 shares. Assumed [0.5..1]. */
export const START_CORES = 1;

/** Activations of one function that may wait. OpenWhisk refuses more than a limit per namespace; assumed [100..10,000]. */
export const QUEUE_LIMIT = 2_000;

/** An activation that has waited so long is dropped, ms. OpenWhisk 2.0, scheduler queue: stale after a minute. */
export const RETENTION = 60_000;

/**
 * What a memory limit does, by the memory that the function wants at its peak. With all that it is comfortable with (page
 * cache, garbage that may lie), nothing. With less, work grows linearly up to `most` at the peak itself. An activation
 * whose own peak is above the limit is killed, with its container, at some point of its work. Assumed: `most` [1.3..4],
 * spread of peaks [0.02..0.1].
 */
export const memoryPressure = { most: 2, spread: 0.05 } as const;

/** Resident memory of a warm container that does nothing, over the peak. Assumed [0.4..0.8]. */
export const IDLE_MEMORY = 0.6;

/** From a decision to the cgroup, ms: `docker update`. Assumed [20..200]. What a controller takes to decide comes on top. */
export const ACTUATION = 60;

/**
 * Agents of SIMPPO read activation records from the data store and counters from cgroups within a step. The record of an
 * activation is written when it ends; interval, window and delay assumed [0.2..5 s].
 */
export const metrics = { interval: 1_000, delay: 200, missing: 0.005, noise: 0.02 } as const;
