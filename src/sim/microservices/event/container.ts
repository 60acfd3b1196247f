/**
 * One container: its threads, its queue, its limits, and the requests at work in it.
 * Owns: how far they are and when the next is done; what they have drawn. Not here: what a request does next (call-flow.ts),
 * what the node leaves the container (machines.ts).
 */

import type { EventQueue, Ticket } from "../../engine/index.ts";
import { RunningSet } from "../../engine/index.ts";
import type { Profile } from "../calibration.ts";
import { CPU, IO, MEMORY, NETWORK, RESOURCE_COUNT } from "../calibration.ts";
import { type Disturbed, newStress } from "../disturbances.ts";
import { type Slowdown, slowdownOf } from "../slowdown.ts";
import { CallRing } from "./call-ring.ts";
import { QuotaClock } from "./quota-clock.ts";

export const EVENT = {
  arrival: 0,
  extraArrival: 1,
  deliver: 2,
  workDone: 3,
  returned: 4,
  deadline: 5,
  epoch: 6,
  scrape: 7,
  started: 8,
  limitSet: 9,
} as const;

export interface ContainerOptions {
  readonly index: number;
  readonly service: number;
  /** Number among the replicas of its service; never used again. */
  readonly replica: number;
  readonly name: string;
  readonly node: number;
  readonly profile: Profile;
  readonly speed: number;
  readonly threads: number;
  readonly queueLimit: number;
  readonly defaults: Float64Array;
  readonly fullStress: Float64Array;
  readonly limits: Float64Array;
  readonly at: number;
  readonly quotaPhase: number;
}

/** Two ends of one moment of virtual time differ by rounding; what is this near is done. */
const DONE = 1e-9;

export class Container implements Disturbed {
  readonly index: number;
  readonly service: number;
  readonly replica: number;
  readonly name: string;
  readonly node: number;
  readonly profile: Profile;
  readonly speed: number;
  readonly threads: number;
  readonly queueLimit: number;
  readonly defaults: Float64Array;
  readonly fullStress: Float64Array;
  /** In force; and what was asked for last, which may still be on its way. */
  readonly limits: Float64Array;
  readonly asked: Float64Array;
  readonly stress = newStress();
  delay = 0;
  readonly shares = new Float64Array(RESOURCE_COUNT).fill(Number.POSITIVE_INFINITY);
  readonly slowdown: Slowdown = { base: 1, perRequest: 0, misses: 1 };
  readonly running = new RunningSet();
  readonly queue = new CallRing();
  readonly clock: QuotaClock;
  readonly createdAt: number;
  readyAt: number | null = null;
  isDraining = false;
  isGone = false;
  /** Threads in use, by calls at work and by calls that wait for an answer. */
  busy = 0;
  /** Calls that are its business: on the way to it, waiting, or in a thread. */
  held = 0;
  ticket: Ticket = 0;
  /** Milliseconds of work done, and of requests being at work while not throttled. */
  workDone = 0;
  requestMs = 0;
  /** Megabytes drawn, by requests; what stressors draw is added up by `settle` too. */
  readonly drawn = new Float64Array(RESOURCE_COUNT);
  #settledAt: number;
  #plannedStress = 0;
  /** Of the demand that machines share by: requests at work on average, lately. */
  demand = 0;
  #demandFrom = 0;

  constructor(options: ContainerOptions) {
    this.index = options.index;
    this.service = options.service;
    this.replica = options.replica;
    this.name = options.name;
    this.node = options.node;
    this.profile = options.profile;
    this.speed = options.speed;
    this.threads = options.threads;
    this.queueLimit = options.queueLimit;
    this.defaults = options.defaults;
    this.fullStress = options.fullStress;
    this.limits = options.limits;
    this.asked = Float64Array.from(options.limits);
    this.createdAt = options.at;
    this.#settledAt = options.at;
    this.clock = new QuotaClock({ at: options.at, phase: options.quotaPhase, limit: options.limits[CPU]! });
  }

  /** Must be called before anything changes that decides how fast requests advance. */
  settle(now: number): void {
    if (now === this.#settledAt) return;
    const { clock, running, profile, slowdown, drawn, stress } = this;
    const before = clock.virtual;
    const ranBefore = clock.ran;
    clock.advance(now);
    const elapsed = now - this.#settledAt;
    this.#settledAt = now;
    const work = (clock.virtual - before) * running.size;
    this.workDone += work;
    this.requestMs += (clock.ran - ranBefore) * running.size;
    // A MB/s is a thousandth of a megabyte a millisecond.
    const { memory, io, network } = profile;
    drawn[MEMORY]! += (work * memory.share * memory.rate * slowdown.misses + elapsed * stress[MEMORY]!) / 1_000;
    drawn[IO]! += (work * io.share * io.rate + elapsed * stress[IO]!) / 1_000;
    drawn[NETWORK]! += (work * network.share * network.rate + elapsed * stress[NETWORK]!) / 1_000;
  }

  /** What the container gets may have changed: whether that makes its plan another one. Settle first. */
  reshare(): boolean {
    const { slowdown } = this;
    const { base, perRequest } = slowdown;
    slowdownOf(this, slowdown);
    return slowdown.base !== base || slowdown.perRequest !== perRequest || this.stress[CPU] !== this.#plannedStress;
  }

  /** Plans the next end, after anything has changed. */
  plan(events: EventQueue): void {
    const { running, slowdown, clock } = this;
    const count = running.size;
    this.#plannedStress = this.stress[CPU]!;
    if (count === 0) {
      clock.set(0, this.stress[CPU]!);
      if (this.ticket !== 0) {
        events.cancel(this.ticket);
        this.ticket = 0;
      }
      return;
    }
    const crowded = count * slowdown.perRequest;
    const pace = 1 / (crowded > slowdown.base ? crowded : slowdown.base);
    clock.set(pace, (count * pace * this.profile.cpu) / this.speed + this.stress[CPU]!);
    const at = clock.timeOf(running.nextEnd);
    if (this.ticket !== 0) events.move(this.ticket, at);
    else this.ticket = events.schedule(at, EVENT.workDone, this.index);
  }

  /** Whether one more is done by now; it is the running set's next. */
  get isNextDone(): boolean {
    return this.running.size > 0 && this.running.nextEnd <= this.clock.virtual + DONE;
  }

  /** Requests at work on average since the last call, mixed with what it was before. */
  refreshDemand(elapsed: number, weight: number): void {
    const mean = elapsed > 0 ? (this.requestMs - this.#demandFrom) / elapsed : 0;
    this.#demandFrom = this.requestMs;
    this.demand += weight * (mean - this.demand);
  }
}
