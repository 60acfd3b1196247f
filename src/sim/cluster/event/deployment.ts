/**
 * One workload's state: what is asked for, its pods, its requests' totals, its bill.
 * Owns: the fields and the integrals over time. Not here: changing pods (rollout.ts), moving requests (request-flow.ts).
 */
import type { Allocation } from "../../../act/index.ts";
import type { Rng, WorkloadId } from "../../../base/index.ts";
import type { OomKill } from "../../../observe/telemetry/index.ts";
import type { Ticket } from "../../engine/index.ts";
import type { Outcomes } from "../metrics/outcomes.ts";
import type { WorkloadSpec } from "../spec.ts";
import type { Arrivals } from "../workloads/index.ts";
import { Deadlines } from "./deadlines.ts";
import type { Pod } from "./pod.ts";
import { compileApplication, type Program } from "./program.ts";

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
