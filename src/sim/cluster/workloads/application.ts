/**
 * An application as the worlds run it: what one request does, and what a pod of it is.
 * Owns: the shape. Not here: the sixteen segments, how applications are composed of them, what an update changes.
 */
import type { Bytes, Ms } from "../../../base/index.ts";
import type { Payloads } from "./segments.ts";

/** One part of a request's work: CPU on up to `width` threads at once, then a wait that needs none. Mean values. */
export interface Phase {
  /** Which segment it comes from. */
  readonly segment: string;
  /** Core-milliseconds on the reference processor. */
  readonly cpu: number;
  /** Threads that one request can keep busy in this phase; the CPU time is divided among them. */
  readonly width: number;
  /** Milliseconds of waiting for disks, queues and other services. */
  readonly wait: number;
  /** Bytes read from or written to disk, and sent or received. */
  readonly io: Bytes;
  readonly network: Bytes;
}

export interface Application {
  readonly id: string;
  /** As drawn, in order, with repetition. */
  readonly segments: readonly string[];
  readonly phases: readonly Phase[];
  /** What it is called with now; an update changes it. Absent in applications that are not made of segments. */
  readonly payloads?: Payloads;
  /** Payload sizes relative to their mean, equally likely; all of a request's work grows with its size. */
  readonly sizes: readonly number[];
  /** What sizes do not explain: sigma of a lognormal factor of mean 1 on each phase's CPU and wait. */
  readonly sigma: number;
  /** Worker threads of a pod: requests in service at once. CPU beyond what they can use does nothing. */
  readonly threads: number;
  /** Requests that may wait in a pod for a thread; more are refused. */
  readonly queue: number;
  /** After this long the client gives up. */
  readonly timeout: Ms;
  /** Further attempts of a client whose request timed out or was refused, with exponential back-off. */
  readonly retries: number;
  readonly memory: {
    /** The process itself: below it a pod cannot start. */
    readonly base: Bytes;
    /** Per request in the pod (size 1), in service or waiting. */
    readonly perRequest: Bytes;
    /** Cache that it would like to have; it is given up last before the kill, and costs CPU while it is short. */
    readonly cache: Bytes;
    /** Factor on CPU time when there is no cache at all; 1 where it does not matter. */
    readonly missPenalty: number;
  };
  /** From creation until ready: pulling and starting. */
  readonly startup: { readonly mean: Ms; readonly sigma: number };
  /** Code runs slower at first (JIT, empty caches): this factor on CPU time, falling to 1 over `span`. */
  readonly warmup: { readonly factor: number; readonly span: Ms };
}
