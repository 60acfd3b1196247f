/**
 * One workload and its pods.
 * Owns: their state, the integrals over time, and what follows from a pod's state alone (memory in use, how much slower
 * than usual it works). A pod knows its deployment and a deployment its pods, so they share a file.
 * Not here: pods' births, resizes and ends (rollout.ts), moving requests (request-flow.ts).
 */
import type { Allocation } from "../../../act/index.ts";
import type { Rng, WorkloadId } from "../../../base/index.ts";
import type { OomKill, ResizeState } from "../../../observe/telemetry/index.ts";
import type { Ticket } from "../../engine/index.ts";
import { RunningSet } from "../../engine/index.ts";
import type { Outcomes } from "../metrics/outcomes.ts";
import type { WorkloadSpec } from "../spec.ts";
import type { Arrivals } from "../workloads/index.ts";
import type { CpuClock } from "./cpu-clock.ts";
import { Deadlines } from "./deadlines.ts";
import type { NodeState, PodSize } from "./placement.ts";
import { compileApplication, type Program } from "./program.ts";
import { NOBODY } from "./request-pool.ts";

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
  /** The limits that it runs with. */
  size: PodSize;
  /** What it is to become, and how far that is: its own size where nothing is to change. */
  wanted: PodSize;
  resize: ResizeState | undefined;
  /** Since when a resize has waited for room. */
  deferredSince = 0;
  /** Reserved on its node, and paid for: while it is resized the larger of what it has and what it gets. */
  held: PodSize;
  /** To be replaced by a pod of the deployment's size. */
  isOutdated = false;
  readyAt: number | null = null;
  restarts = 0;
  /** Killed and kept from starting again: the container holds its place and has no process. */
  isBackingOff = false;
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
  /** Of the next end of a CPU phase; of becoming ready, or of the end of the grace period; of the end of a resize. */
  cpuTicket: Ticket = 0;
  stageTicket: Ticket = 0;
  resizeTicket: Ticket = 0;

  constructor(options: PodOptions) {
    this.index = options.index;
    this.number = options.number;
    this.name = `${options.deployment.id}-${options.number}`;
    this.deployment = options.deployment;
    this.createdAt = options.createdAt;
    this.size = options.size;
    this.wanted = options.size;
    this.held = options.size;
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
    if (this.stage === "pending" || this.stage === "gone" || this.isBackingOff) return 0;
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

/** Streams of chance, one per purpose, so that what a controller does never shifts arrivals or sizes. */
export interface DeploymentStreams {
  readonly arrivals: Rng;
  readonly work: Rng;
  readonly balance: Rng;
  readonly clients: Rng;
  readonly pods: Rng;
  readonly metrics: Rng;
}

export const streamsOf = (root: Rng): DeploymentStreams => ({
  arrivals: root.fork("arrivals"),
  work: root.fork("work"),
  balance: root.fork("balance"),
  clients: root.fork("clients"),
  pods: root.fork("pods"),
  metrics: root.fork("metrics"),
});

export interface DeploymentOptions {
  readonly index: number;
  readonly streams: DeploymentStreams;
  readonly outcomes: Outcomes;
}

export class Deployment {
  readonly index: number;
  readonly id: WorkloadId;
  readonly spec: WorkloadSpec;
  readonly streams: DeploymentStreams;
  asked: Allocation;
  /** Every version that ran, since requests that came under an earlier one still follow it. */
  readonly programs: Program[];
  program: Program;
  arrivals: Arrivals | undefined;
  arrivalTicket: Ticket = 0;
  deadlineTicket: Ticket = 0;
  updates = 0;

  /** All that are not gone, oldest first; and those of them that get requests. */
  readonly pods: Pod[] = [];
  readonly ready: Pod[] = [];
  podsCreated = 0;
  readonly deadlines = new Deadlines();
  readonly outcomes: Outcomes;
  /** That no reading has told of yet. */
  readonly kills: OomKill[] = [];

  // Clients' requests since the beginning; a retry is not a new one.
  arrived = 0;
  completed = 0;
  timedOut = 0;
  dropped = 0;
  lost = 0;
  // Attempts since the beginning, as the ingress counts them.
  attempts = 0;
  failedAttempts = 0;

  oomKills = 0;
  podsStarted = 0;
  podsStopped = 0;
  disruptions = 0;
  /** Core-milliseconds of pods that are gone. */
  cpuOfGone = 0;

  // Integrals over time: what pods hold, and the memory in use.
  millicoresHeld = 0;
  bytesHeld = 0;
  millicoreMs = 0;
  byteMs = 0;
  bytesUsed = 0;
  usedByteMs = 0;
  #heldAt = 0;
  #usedAt = 0;

  constructor(spec: WorkloadSpec, options: DeploymentOptions) {
    this.index = options.index;
    this.id = spec.id;
    this.spec = spec;
    this.asked = spec.initial;
    this.streams = options.streams;
    this.program = compileApplication(spec.application);
    this.programs = [this.program];
    this.outcomes = options.outcomes;
  }

  /** Before what pods hold changes, and before the integrals are read. */
  settleHeld(now: number): void {
    const span = now - this.#heldAt;
    this.millicoreMs += this.millicoresHeld * span;
    this.byteMs += this.bytesHeld * span;
    this.#heldAt = now;
  }

  /** The same for the memory in use. */
  settleUsed(now: number): void {
    this.usedByteMs += this.bytesUsed * (now - this.#usedAt);
    this.#usedAt = now;
  }

  /** After anything in a pod changed that its memory depends on. */
  countMemory(pod: Pod, now: number): void {
    const inUse = pod.memoryInUse(this.program);
    if (inUse === pod.memoryCounted) return;
    this.settleUsed(now);
    this.bytesUsed += inUse - pod.memoryCounted;
    pod.memoryCounted = inUse;
  }

  /** Core-milliseconds used since the beginning; pods must have been advanced to the moment that is asked about. */
  cpuUsed(): number {
    let used = this.cpuOfGone;
    for (const pod of this.pods) used += pod.cpu.used;
    return used;
  }
}
