/**
 * One invoker at full detail: who is at work on it, and who is done next.
 * Owns: progress by virtual time, one clock for each function and part of its activations, since all of one function's run
 * at the same speed; the next end. Not here: the speeds (../contention.ts), who loses them to whom (../interference.ts), what
 * an end means (flow.ts).
 */
import { type EventQueue, RunningSet, type Ticket } from "../../engine/index.ts";
import type { Invoker, ManagedFunction } from "../containers.ts";
import { Contention } from "../contention.ts";
import { Interference, type OwnedCohort } from "../interference.ts";
import type { InvokerWork } from "../world.ts";

/** What a container is to do; ms alone on the reference processor. */
export interface Task {
  readonly container: number;
  readonly io: number;
  readonly compute: number;
}

/** Activations of one function here: those that transfer, and those that compute. */
class Group implements OwnedCohort {
  readonly owner: ManagedFunction;
  readonly computes = new RunningSet();
  readonly transfers = new RunningSet();
  shares: number;
  computing = 0;
  transferring = 0;
  computeSpeed = 1;
  ioSpeed = 1;
  cores = 0;
  isListed = false;
  /** Progress so far of whoever has been here all the time. */
  computed = 0;
  transferred = 0;

  constructor(owner: ManagedFunction) {
    this.owner = owner;
    this.shares = owner.setting.shares;
  }

  get profile() {
    return this.owner.spec.profile;
  }
}

/** Ends that lie so close together (ms of work) are one event: what rounding leaves of equal times. */
const TOGETHER = 1e-7;

export interface StationOptions {
  readonly events: EventQueue;
  /** Of the events that it plans. */
  readonly kind: number;
  readonly keepsWork: boolean;
}

export class Station {
  readonly #invoker: Invoker;
  readonly #events: EventQueue;
  readonly #kind: number;
  readonly #contention: Contention;
  /** Those with somebody at work. */
  readonly #groups: Group[] = [];
  readonly #byOwner: (Group | undefined)[] = [];
  readonly #interference: Interference | undefined;
  /** Containers that were being started since then. */
  #starting = 0;
  #settledAt = 0;
  #ticket: Ticket = 0;
  /** Whose end is planned. */
  #next: Group | undefined;
  #nextIsTransfer = false;

  constructor(invoker: Invoker, { events, kind, keepsWork }: StationOptions) {
    this.#invoker = invoker;
    this.#events = events;
    this.#kind = kind;
    this.#contention = new Contention(invoker.spec);
    if (keepsWork) this.#interference = new Interference(invoker.spec);
  }

  /** Since the last call; undefined where it is not kept. Settle before. */
  takeWork(over: number): InvokerWork | undefined {
    return this.#interference?.take(over);
  }

  settle(now: number): void {
    const passed = now - this.#settledAt;
    if (passed <= 0) return;
    this.#settledAt = now;
    this.#interference?.add(this.#groups, { starting: this.#starting, passed });
    for (const group of this.#groups) {
      group.computed += passed * group.computeSpeed;
      group.transferred += passed * group.ioSpeed;
      if (group.computing > 0) group.owner.cpuUsed += passed * group.cores;
    }
  }

  /** Settle before, reshare after. */
  add(owner: ManagedFunction, { container, io, compute }: Task): void {
    const group = this.#groupOf(owner);
    if (io > 0) {
      group.transfers.add(group.transferred + io, container);
      group.transferring++;
    } else this.#compute(group, container, compute);
  }

  /** Moves on whoever is done with a part; those done with both are added to the list. Settle before, reshare after. */
  takeDone(computeOf: (container: number) => number, ended: number[]): void {
    const next = this.#next;
    if (next !== undefined && this.#nextIsTransfer)
      next.transferred = Math.max(next.transferred, next.transfers.nextEnd);
    else if (next !== undefined) next.computed = Math.max(next.computed, next.computes.nextEnd);
    this.#next = undefined;
    this.#ticket = 0;
    for (const group of this.#groups) {
      while (group.transferring > 0 && group.transfers.nextEnd <= group.transferred + TOGETHER) {
        const container = group.transfers.takeNext();
        group.transferring--;
        this.#compute(group, container, computeOf(container));
      }
      while (group.computing > 0 && group.computes.nextEnd <= group.computed + TOGETHER) {
        ended.push(group.computes.takeNext());
        group.computing--;
      }
    }
  }

  /** After whoever is at work, or a share, or a start has changed. */
  reshare(now: number): void {
    this.settle(now);
    this.#unlistIdle();
    for (const group of this.#groups) group.shares = group.owner.setting.shares;
    this.#starting = this.#invoker.starting;
    this.#contention.solve(this.#groups, this.#starting);
    let soonest = Number.POSITIVE_INFINITY;
    this.#next = undefined;
    for (const group of this.#groups) {
      if (group.computing > 0) {
        const left = (group.computes.nextEnd - group.computed) / group.computeSpeed;
        if (left < soonest) {
          soonest = left;
          this.#next = group;
          this.#nextIsTransfer = false;
        }
      }
      if (group.transferring > 0) {
        const left = (group.transfers.nextEnd - group.transferred) / group.ioSpeed;
        if (left < soonest) {
          soonest = left;
          this.#next = group;
          this.#nextIsTransfer = true;
        }
      }
    }
    if (this.#next === undefined) {
      this.#events.cancel(this.#ticket);
      this.#ticket = 0;
      return;
    }
    const at = now + Math.max(0, soonest);
    if (!this.#events.move(this.#ticket, at)) this.#ticket = this.#events.schedule(at, this.#kind, this.#invoker.index);
  }

  #unlistIdle(): void {
    const groups = this.#groups;
    let kept = 0;
    for (const group of groups) {
      group.isListed = group.computing + group.transferring > 0;
      if (group.isListed) groups[kept++] = group;
    }
    groups.length = kept;
  }

  #compute(group: Group, container: number, compute: number): void {
    group.computes.add(group.computed + compute, container);
    group.computing++;
  }

  #groupOf(owner: ManagedFunction): Group {
    let group = this.#byOwner[owner.index];
    if (group === undefined) {
      group = new Group(owner);
      this.#byOwner[owner.index] = group;
    }
    if (!group.isListed) {
      group.isListed = true;
      this.#groups.push(group);
    }
    return group;
  }
}
