/**
 * Every constant of the workloads, with where it comes from.
 * Owns: what the sixteen segments cost as functions of their payload, and the ranges applications are drawn from.
 * Not here: the loads' constants (load-calibration.ts), how segments become applications (compose.ts).
 *
 * Sources, named below by their short form:
 *   AWARE     Qiu et al., "AWARE: Automate Workload Autoscaling with Reinforcement Learning in Production Cloud
 *             Systems", USENIX ATC 2023, section 2.3 (payload sets and updates) and 5.1 (the generator).
 *   Sizeless  data set sizeless-rerun: 30 synthetic functions made of segments and 22 real ones, run at eight memory
 *             sizes. A segment's cost is the difference of two functions that differ in it, at 1,024 MB.
 *   Azure     data set azure-functions-2019, the sample of 500 functions: memory (AverageAllocatedMb, quantiles over
 *             functions) and durations.
 *   assumed   no measurement at hand; in brackets the range that is plausible. No study has swept these ranges yet, and
 *             none of the values was chosen by looking at how a controller does.
 *
 * CPU is in core-milliseconds on the reference processor (speed 1), waits in milliseconds.
 */

/** What a payload counts. One update scenario of AWARE's section 2.3 changes one of them. */
export type PayloadKind = "file" | "items" | "operations" | "pixels" | "text" | "matrix";

/** AWARE 2.3, before the updates. Files and texts in kilobytes of 1,000 bytes; sets are equally likely. */
export const basePayloads: Readonly<Record<PayloadKind, readonly number[]>> = {
  file: [128, 256, 384],
  items: [1_024],
  operations: [1e8],
  pixels: [40],
  text: [0.25, 0.5, 1],
  matrix: [50],
};

/**
 * AWARE 2.3, after them. Floating-point operations: the paper prints "from 10^8 to 20^8". Read literally that is
 * 2.56e10, 256 times more, minutes of CPU per request, which fits neither a service nor the reward drop of under
 * 20 % that it reports; we read 20·10^8, with a lost multiplication sign: 20 times more.
 */
export const updatedPayloads: Readonly<Record<PayloadKind, readonly number[]>> = {
  file: [512, 768, 1_024],
  items: [10_240],
  operations: [20e8],
  pixels: [160],
  text: [2, 3, 5],
  matrix: [150],
};

/** fixed + scale × payload^power. */
export interface Growth {
  readonly fixed: number;
  readonly scale?: number;
  readonly power?: number;
}

export interface SegmentCosts {
  /** What an allocation rule must notice about it; kinds differ, so that no one rule fits all. */
  readonly sensitivity: "serial-cpu" | "parallel-cpu" | "memory" | "io" | "network" | "concurrency";
  /** null: every call is alike. */
  readonly payload: PayloadKind | null;
  readonly cpu: Growth;
  readonly width: number;
  readonly wait: Growth;
  /** Kilobytes (1,000 bytes) of disk and of network traffic. */
  readonly io: Growth;
  readonly network: Growth;
  /** Mebibytes: held per request, held by the process once, wanted as cache. */
  readonly perRequest: Growth;
  readonly resident: number;
  readonly cache: Growth;
  readonly missPenalty: number;
  readonly source: string;
}

const none: Growth = { fixed: 0 };
const noCache = { cache: none, missPenalty: 1 };

export const segmentCosts = {
  "float-operations": {
    sensitivity: "serial-cpu",
    payload: "operations",
    cpu: { fixed: 1, scale: 2e-7 },
    width: 1,
    wait: none,
    io: none,
    network: none,
    perRequest: { fixed: 0.25 },
    resident: 4,
    ...noCache,
    source:
      "20 ms per 1e8 operations, compiled code at 5 Gop/s; assumed [10..66]: Sizeless has 66 ms in JavaScript for a count it does not state",
  },
  "image-manipulation": {
    sensitivity: "parallel-cpu",
    payload: "pixels",
    cpu: { fixed: 30, scale: 2e-3, power: 2 },
    width: 2,
    wait: none,
    io: none,
    network: none,
    perRequest: { fixed: 6, scale: 3.2e-5, power: 2 },
    resident: 37,
    ...noCache,
    source:
      "Sizeless: 170 to 330 ms of CPU for larger images and 71 MB resident against 34 MB without; 30 ms + 2 µs per pixel of decode, resize, rotate and encode assumed [10..60 ms, 1..4 µs]; two threads as image libraries use, assumed [1..4]",
  },
  "text-processing": {
    sensitivity: "serial-cpu",
    payload: "text",
    cpu: { fixed: 2.5, scale: 15 },
    width: 1,
    wait: none,
    io: none,
    network: { fixed: 0, scale: 2 },
    perRequest: { fixed: 1, scale: 0.1 },
    resident: 6,
    ...noCache,
    source:
      "Sizeless: 2.5 ms to turn a small JSON text into YAML; 15 ms per kB is an interpreted emitter at 67 kB/s, assumed [3..30]",
  },
  "ml-inference": {
    sensitivity: "parallel-cpu",
    payload: "matrix",
    cpu: { fixed: 20, scale: 4.8e-5, power: 3 },
    width: 4,
    wait: none,
    io: none,
    network: { fixed: 4 },
    perRequest: { fixed: 3, scale: 3.7e-4, power: 2 },
    resident: 180,
    ...noCache,
    source:
      "96 products of n × n matrices at 4 Gflop/s a core, 20 ms around them, assumed [2..8 Gflop/s, 5..50 ms] (Sizeless: 2,690 ms in JavaScript, 1,240 ms for a regression in Python); framework and weights 180 MiB, assumed [100..400]; four threads of a BLAS, assumed [2..4]",
  },
  compression: {
    sensitivity: "serial-cpu",
    payload: "file",
    cpu: { fixed: 1, scale: 0.055 },
    width: 1,
    wait: none,
    io: none,
    network: none,
    perRequest: { fixed: 1, scale: 2e-3 },
    resident: 2,
    ...noCache,
    source: "Sizeless: 15 ms of CPU each; 18 MB/s as deflate at its default level, assumed [15..40 MB/s]",
  },
  decompression: {
    sensitivity: "memory",
    payload: "file",
    cpu: { fixed: 1, scale: 0.012 },
    width: 1,
    wait: none,
    io: none,
    network: none,
    perRequest: { fixed: 2, scale: 8e-3 },
    resident: 2,
    ...noCache,
    source:
      "Sizeless: about 1 ms more than without it; 83 MB/s assumed [50..400]; the result, four times the input, is held twice while it is copied out",
  },
  "web-rendering": {
    sensitivity: "memory",
    payload: null,
    cpu: { fixed: 35 },
    width: 1,
    wait: none,
    io: none,
    network: { fixed: 60 },
    perRequest: { fixed: 1.5 },
    resident: 20,
    cache: { fixed: 128 },
    missPenalty: 3,
    source:
      "assumed: 35 ms per page [10..100] (Sizeless' template function renders a far larger table in 600 ms); compiled templates and fragments 128 MiB [64..256], three times the work without them [2..4]",
  },
  "database-scan": {
    sensitivity: "memory",
    payload: "items",
    cpu: { fixed: 4, scale: 0.01 },
    width: 1,
    wait: { fixed: 4, scale: 3e-3 },
    io: { fixed: 0, scale: 0.25 },
    network: none,
    perRequest: { fixed: 1, scale: 1e-3 },
    resident: 18,
    cache: { fixed: 64, scale: 0.0235 },
    missPenalty: 2.5,
    source:
      "assumed: 10 µs of CPU to decode and filter an item of 1 kB, 3 µs of waiting [4..20, 1..10]; page cache 64 MiB + 24 KiB per item, 2.5 times the work without it [1.5..4]",
  },
  "database-write": {
    sensitivity: "io",
    payload: null,
    cpu: { fixed: 5 },
    width: 1,
    wait: { fixed: 12 },
    io: { fixed: 16 },
    network: { fixed: 1 },
    perRequest: { fixed: 0.5 },
    resident: 12,
    ...noCache,
    source:
      "Sizeless: 2.2 ms of CPU for the insert alone, 130 ms for a whole writing function; 5 ms and 12 ms for a group commit assumed [2..20, 5..25]",
  },
  "file-read": {
    sensitivity: "io",
    payload: "file",
    cpu: { fixed: 1, scale: 0.01 },
    width: 1,
    wait: { fixed: 1.5, scale: 0.012 },
    io: { fixed: 0, scale: 1 },
    network: none,
    perRequest: { fixed: 0.5, scale: 1e-3 },
    resident: 1,
    cache: { fixed: 96 },
    missPenalty: 1.5,
    source:
      "Sizeless: 1 ms of CPU for a small file; 100 MB/s a core through copies and checksums, 80 MB/s of a network disk and 1.5 ms of seek assumed [40..200 MB/s]; page cache 96 MiB [32..256]",
  },
  "file-write": {
    sensitivity: "io",
    payload: "file",
    cpu: { fixed: 4, scale: 0.04 },
    width: 1,
    wait: { fixed: 3, scale: 0.02 },
    io: { fixed: 0, scale: 1 },
    network: none,
    perRequest: { fixed: 0.5, scale: 2e-3 },
    resident: 8,
    ...noCache,
    source:
      "Sizeless: 100 to 130 ms of CPU for a larger file, 16 MB more resident; 25 MB/s a core, and 50 MB/s and 3 ms per synchronous write assumed [10..50, 25..100 MB/s]",
  },
  "file-streaming": {
    sensitivity: "network",
    payload: "file",
    cpu: { fixed: 3, scale: 0.04 },
    width: 1,
    wait: { fixed: 5, scale: 0.05 },
    io: { fixed: 0, scale: 1 },
    network: { fixed: 0, scale: 1 },
    perRequest: { fixed: 1 },
    resident: 6,
    ...noCache,
    source:
      "assumed: a client that takes 20 MB/s [10..50], encryption and copies of chunks at 25 MB/s a core [10..100]; chunks, so memory does not grow with the file",
  },
  "queue-publish": {
    sensitivity: "concurrency",
    payload: null,
    cpu: { fixed: 3 },
    width: 1,
    wait: { fixed: 6 },
    io: none,
    network: { fixed: 2 },
    perRequest: { fixed: 0.25 },
    resident: 8,
    ...noCache,
    source:
      "assumed: 3 ms of CPU for serialising and encryption [1..6], acknowledged by a replicated broker in 6 ms [2..15]",
  },
  "queue-consume": {
    sensitivity: "concurrency",
    payload: null,
    cpu: { fixed: 6 },
    width: 1,
    wait: { fixed: 15 },
    io: none,
    network: { fixed: 8 },
    perRequest: { fixed: 0.5 },
    resident: 8,
    ...noCache,
    source: "assumed: 6 ms of CPU for a batch [2..12], a short poll and the acknowledgement in 15 ms [5..40]",
  },
  "object-store": {
    sensitivity: "network",
    payload: "file",
    cpu: { fixed: 10, scale: 0.06 },
    width: 1,
    wait: { fixed: 25, scale: 0.0125 },
    io: none,
    network: { fixed: 1, scale: 1 },
    perRequest: { fixed: 2, scale: 1e-3 },
    resident: 24,
    ...noCache,
    source:
      "Sizeless: 47 ms of CPU to read and 145 ms to write over FTP, 6 to 23 MB more resident; here 10 ms + 17 MB/s a core, 25 ms to the first byte and 80 MB/s per stream, assumed [10..60 ms, 40..100 MB/s]",
  },
  "external-call": {
    sensitivity: "concurrency",
    payload: null,
    cpu: { fixed: 3 },
    width: 1,
    wait: { fixed: 100 },
    io: none,
    network: { fixed: 4 },
    perRequest: { fixed: 0.5 },
    resident: 3,
    ...noCache,
    source:
      "assumed: 3 ms of CPU [1..6] and 100 ms for somebody else's interface [30..300]; Sizeless' sleep segment waits 300 ms",
  },
} as const satisfies Record<string, SegmentCosts>;

/** What applications are drawn from: uniform over a list, or over a range. */
export const applicationRanges = {
  /** 1 to 4 segments, equally likely: the generator of Sizeless (Eismann et al., Middleware 2021), which AWARE's follows; its functions in the data set have 2 to 4. */
  segments: { low: 1, high: 4 },
  /** Accepting, parsing, logging and answering: core-ms on the first phase. assumed [2..10]. */
  handling: 5 as number,
  /** Sizeless: coefficients of variation of 0.07 to 0.36 for one input; Azure: 0.2 to 0.85 (quartiles of ln(p75/p25)/1.349 over functions called > 1,000 times) with all inputs mixed. */
  sigma: { low: 0.15, high: 0.5 },
  /** Worker processes and thread pools of common servers, small to middling; assumed [2..64]. */
  threads: [4, 8, 16, 32],
  /** Waiting requests per thread; assumed [2..32]. */
  queuePerThread: [4, 8, 16],
  /** Client deadline as a multiple of the mean latency of a lone request, within `timeout`; assumed [5..100]. */
  deadlineFactor: { low: 10, high: 40 },
  /** Milliseconds. assumed [0.5 s..30 s]. */
  timeout: { low: 1_000, high: 10_000 },
  /** None, one or two further attempts, as common client libraries do. assumed. */
  retries: [0, 1, 2],
  /** MiB of an interpreter with a web framework. Sizeless: 34 MB without any segment's libraries; Azure: 58 MB at the median, 125 MB at the upper quartile. */
  runtime: { low: 36, high: 120 },
  /** Connection and parser buffers of any request, MiB. assumed [0.1..1]. */
  connection: 0.25,
  /** MiB that a full pod may need: the largest memory limit of the studies less a margin. A queue is made as long as fits. */
  fullPod: 1_792,
  /** Milliseconds from creation to ready (image present on the node). assumed [1 s..60 s]. */
  startup: { low: 3_000, high: 15_000, sigma: 0.3 },
  /** CPU factor right after the start, and how long it lasts (ms). assumed [1..4], [10 s..120 s]. */
  warmup: { low: 1.2, high: 2.5, spanLow: 20_000, spanHigh: 60_000 },
} as const;

/** Where a study's demand may go: the largest deployment of the studies, and the share of it that peaks may need. */
export const studyCapacity = {
  replicas: 12,
  coresPerReplica: 4,
  /** Above this share queues of a perfectly balanced cluster already break a tight SLO; assumed [0.4..0.8]. */
  peakShare: 0.6,
  /** Requests per second of high and low loads, so that the right answer is one to twelve replicas. assumed. */
  high: { low: 16, high: 40 },
  low: { low: 5, high: 12 },
  /** Recorded minutes go up to 135 times the mean; a study's peak is this many means at most. assumed [3..8]. */
  peakToMean: 4,
} as const;
