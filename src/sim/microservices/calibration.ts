/**
 * Every constant of the microservices world, with where it comes from. The same for both rungs and for every controller.
 * Owns: the work profiles of services, what a call costs on the wire, operation latencies, tracing, default limits.
 * Not here: the machines (nodes.ts), the applications (applications/).
 *
 * Sources, named below by their short form:
 *   FIRM      dissertation, chapter 3 (Tables 3.1 to 3.5) and section 2.2.
 *   Nezha     data set nezha-traces: median times per edge of Train-Ticket in its normal windows.
 *   DSB       DeathStarBench (ASPLOS 2019 and its sources): which services there are, what they are written in and call.
 *   assumed   no measurement at hand; in brackets the range that is plausible. No value was chosen by looking at how a
 *             controller does.
 */

import { type Resource, resources } from "../../base/index.ts";

/** Places of the five resources in arrays by resource: the order of `resources`. */
export const RESOURCE_COUNT = resources.length;
export const CPU = 0;
export const MEMORY = 1;
export const LLC = 2;
export const IO = 3;
export const NETWORK = 4;

/**
 * What the own time of a call is made of, alone on the reference processor. Shares of time sum to 1; a rate is what one
 * request draws while it is in that part, in MB/s (1e6 bytes per second). CPU is one core by definition.
 */
export interface Profile {
  readonly cpu: number;
  readonly memory: { readonly share: number; readonly rate: number };
  readonly io: { readonly share: number; readonly rate: number };
  readonly network: { readonly share: number; readonly rate: number };
  /** Cache that holds the working set of a replica, MiB. With less of it, misses grow by the miss-ratio curve. */
  readonly workingSet: number;
  /** Spread of the work of calls: coefficient of variation of a lognormal. */
  readonly variation: number;
  /** Resident memory of a replica, and of each request in it, MiB. */
  readonly resident: number;
  readonly perRequest: number;
  readonly source: string;
}

/**
 * Shares, assumed [±0.1 each]: kinds differ so that no one resource explains them all (FIRM, insight 2.3). Rates: memory
 * up to 10 GB/s is what one Xeon core can stream; disks and wires are drawn well below what a node has.
 */
export const profiles = {
  proxy: {
    cpu: 0.6,
    memory: { share: 0.1, rate: 1_500 },
    io: { share: 0, rate: 0 },
    network: { share: 0.3, rate: 80 },
    workingSet: 2,
    variation: 0.3,
    resident: 60,
    perRequest: 0.05,
    source: "nginx and gateways: parse, forward, copy; assumed",
  },
  compute: {
    cpu: 0.8,
    memory: { share: 0.15, rate: 2_500 },
    io: { share: 0, rate: 0 },
    network: { share: 0.05, rate: 60 },
    workingSet: 3,
    variation: 0.5,
    resident: 50,
    perRequest: 0.1,
    source: "C++ and Go services without state (DSB); assumed",
  },
  memory: {
    cpu: 0.45,
    memory: { share: 0.5, rate: 4_000 },
    io: { share: 0, rate: 0 },
    network: { share: 0.05, rate: 60 },
    workingSet: 8,
    variation: 0.5,
    resident: 200,
    perRequest: 0.5,
    source: "indexes, recommenders, geo search: walks through tables in memory (DSB); assumed",
  },
  media: {
    cpu: 0.4,
    memory: { share: 0.25, rate: 3_000 },
    io: { share: 0.05, rate: 120 },
    network: { share: 0.3, rate: 150 },
    workingSet: 6,
    variation: 0.8,
    resident: 120,
    perRequest: 2,
    source: "images and video (DSB): large bodies, copied; assumed",
  },
  cache: {
    cpu: 0.35,
    memory: { share: 0.45, rate: 3_000 },
    io: { share: 0, rate: 0 },
    network: { share: 0.2, rate: 80 },
    workingSet: 6,
    variation: 0.3,
    resident: 256,
    perRequest: 0.02,
    source: "memcached and Redis (DSB): hash look-up and copy; assumed",
  },
  store: {
    cpu: 0.35,
    memory: { share: 0.2, rate: 2_500 },
    io: { share: 0.4, rate: 100 },
    network: { share: 0.05, rate: 80 },
    workingSet: 6,
    variation: 0.8,
    resident: 400,
    perRequest: 0.2,
    source: "MongoDB with its journal (DSB); assumed",
  },
  queue: {
    cpu: 0.4,
    memory: { share: 0.2, rate: 2_000 },
    io: { share: 0.3, rate: 80 },
    network: { share: 0.1, rate: 80 },
    workingSet: 3,
    variation: 0.4,
    resident: 150,
    perRequest: 0.1,
    source: "RabbitMQ with durable queues (DSB); assumed",
  },
  java: {
    cpu: 0.65,
    memory: { share: 0.25, rate: 3_000 },
    io: { share: 0, rate: 0 },
    network: { share: 0.1, rate: 50 },
    workingSet: 5,
    variation: 0.6,
    resident: 350,
    perRequest: 0.5,
    source: "Spring services of Train-Ticket: objects, JSON, garbage collection; assumed",
  },
  /** Nothing but CPU: no service is like that, but closed forms are. */
  ideal: {
    cpu: 1,
    memory: { share: 0, rate: 0 },
    io: { share: 0, rate: 0 },
    network: { share: 0, rate: 0 },
    workingSet: 0,
    variation: 0,
    resident: 1,
    perRequest: 0,
    source: "theory",
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof profiles;

/** Share of a call's own work that is done before its stages; the rest puts the answer together. Assumed [0.5..0.9]. */
export const WORK_BEFORE_STAGES = 0.7;

/** Requests of one replica that may wait for a thread, per thread. Assumed [4..64]: listen backlogs of 128 to 512. */
export const QUEUE_PER_THREAD = 16;

/** Clients give up after this, ms. Assumed [2,000..10,000]; wrk2's own default is 2 s, DSB's Thrift clients have 10 s. */
export const CLIENT_TIMEOUT = 5_000;

/** One way between two containers, ms: mean and coefficient of variation. Assumed [0.05..0.3]: one switch, kernel TCP. */
export const hop = { mean: 0.1, variation: 0.25 } as const;

/** What one miss brings from memory, bytes. */
export const CACHE_LINE = 64;

/** FIRM, Table 3.5, ms. `io` and `network` as printed; the five partitions, then starts. */
export const operationLatency = {
  cpu: { mean: 2.1, deviation: 0.3 },
  memory: { mean: 42.4, deviation: 11 },
  llc: { mean: 39.8, deviation: 9.2 },
  io: { mean: 2.3, deviation: 0.4 },
  network: { mean: 12.3, deviation: 1.1 },
  warmStart: { mean: 45.7, deviation: 6.9 },
  coldStart: { mean: 2_050.8, deviation: 291.4 },
} as const satisfies Readonly<Record<Resource | "warmStart" | "coldStart", { mean: number; deviation: number }>>;

/** Between two looks at what every container on a node wants, ms: one CPU quota period. */
export const NODE_EPOCH = 100;
/** Weight of the newest epoch in a container's demand. Assumed [0.2..1]: how long contention takes to settle. */
export const DEMAND_SMOOTHING = 0.5;

/** Limits that a container gets when nobody chooses them, against what it needs at the load it is made for. */
export const defaultLimits = {
  /** FIRM 3.2.4: "usually overprovisioned". Assumed [1.5..4]. */
  headroom: 2.5,
  /** Never less: cores; MB/s as so many requests at their full rate at once. Assumed. */
  leastCores: 0.5,
  leastAtOnce: 2,
  /** What a controller may ask for, over and under the default. Assumed [2..16] and [0.2..0.5]. */
  upper: 8,
  lower: 0.25,
} as const;

/** Tracing as it is: FIRM 3.2.1 saw under 0.4 % less throughput and 0.15 % more latency, without sampling. */
export const tracing = {
  /** CPU per span, ms; assumed [0.002..0.02]: 5 µs to make, batch and send one. */
  overhead: 0.005,
  /** Offset of a node's clock, ms, standard deviation; assumed [0.05..5]: NTP within a data centre. */
  skew: 0.3,
  /** Share of spans that never arrive; assumed [0..0.01]. */
  loss: 0.001,
} as const;
