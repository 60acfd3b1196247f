/**
 * One pod: its place, its size, its CPU and what is in it.
 * Owns: the state, and what follows from it alone (memory in use, how much slower than usual it works).
 * Not here: what requests do in it (request-flow.ts), its birth, resizes and end (rollout.ts).
 */
import type { Ticket } from "../../engine/index.ts";
import type { CpuClock } from "./cpu-clock.ts";
import type { Deployment } from "./deployment.ts";
import type { NodeState } from "./placement.ts";
import type { Program } from "./program.ts";
import { NOBODY } from "./request-pool.ts";
import { RunningSet } from "./running-set.ts";

export interface PodSize {
  /** Millicores and bytes. */
  readonly cpu: number;
  readonly memory: number;
}

/** pending: no node has room; starting: also while it restarts after a kill; stopping: finishes what it has. */
export type PodStage = "pending" | "starting" | "ready" | "stopping" | "gone";

export interface PodOptions {
  readonly index: number;
  readonly number: number;
  readonly deployment: Deployment;
  readonly createdAt: number;
  readonly size: PodSize;
  readonly cpu: CpuClock;
}

export class Pod {
  readonly index: number;
  /** Counts the pods of its deployment, from the first to the last; never used again. */
  readonly number: number;
  readonly name: string;
  readonly deployment: Deployment;
  readonly createdAt: number;
  stage: PodStage = "pending";
  node: NodeState | undefined;
  size: PodSize;
  /** What it is to become where the node has no room yet; its own size otherwise. */
  wanted: PodSize;
  /** To be replaced by a pod of the deployment's size. */
  isOutdated = false;
  readyAt: number | null = null;
  restarts = 0;
  /** Kills that the back-off remembers. */
  crashes = 0;
  /** Reference core-milliseconds done by one core in a millisecond. */
  speed = 1;
  /** Set when it is placed. */
  cpu: CpuClock;
  readonly running = new RunningSet();
  inService = 0;
  queued = 0;
  firstQueued = NOBODY;
  lastQueued = NOBODY;
  /** Bytes that requests in it hold. */
  requestMemory = 0;
  /** Bytes counted in its deployment's total. */
  memoryCounted = 0;
  /** When the slow first minute is over. */
  warmAt = Number.NEGATIVE_INFINITY;
  /** Bytes since it was created. */
  io = 0;
  network = 0;
  /** Of the next end of a CPU phase; of becoming ready, or of the end of the grace period. */
  cpuTicket: Ticket = 0;
  stageTicket: Ticket = 0;

  constructor(options: PodOptions) {
    this.index = options.index;
    this.number = options.number;
    this.name = `${options.deployment.id}-${options.number}`;
    this.deployment = options.deployment;
    this.createdAt = options.createdAt;
    this.size = options.size;
    this.wanted = options.size;
    this.cpu = options.cpu;
  }

  /** Requests in it: what the balancer compares. */
  get connections(): number {
    return this.inService + this.queued;
  }

  /** Whether base and requests alone exceed the limit: the cache is given up before that, and does not help. */
  exceedsMemory({ base }: Program): boolean {
    return base + this.requestMemory > this.size.memory;
  }

  /** Working set: the cache takes what is left, up to what it would like; while it starts there is none. */
  memoryInUse({ base, cache }: Program): number {
    if (this.stage === "pending" || this.stage === "gone") return 0;
    const wanted = base + this.requestMemory + (this.stage === "starting" ? 0 : cache);
    return wanted < this.size.memory ? wanted : this.size.memory;
  }

  /** CPU time of a phase that begins now, relative to a warm pod with all of its cache. */
  slowness(program: Program, now: number): number {
    let factor = 1;
    if (now < this.warmAt) factor += program.coldExtra * ((this.warmAt - now) / program.coldSpan);
    if (program.missExtra > 0 && program.cache > 0) {
      const short = program.base + this.requestMemory + program.cache - this.size.memory;
      if (short > 0) factor *= 1 + program.missExtra * (short < program.cache ? short / program.cache : 1);
    }
    return factor;
  }
}
