/**
 * Containers, the invokers that hold them and the functions they belong to, as both rungs know them.
 * Owns: what each remembers. Not here: what happens to them (pool.ts), activations (event/, fluid/).
 */
import type { Ticket } from "../engine/index.ts";
import { IDLE_MEMORY, SHARES_PER_CORE } from "./calibration.ts";
import { hashOf, type InvokerSpec, probingOrder } from "./invokers.ts";
import type { FunctionSetting } from "./setting.ts";
import type { FilledFunction } from "./spec.ts";

/** Starting also stands for a paused container that is being resumed. Spare: paused, and anybody's for the room it takes. */
export type ContainerState = "starting" | "idle" | "busy" | "spare" | "gone";

export class Container {
  readonly index: number;
  readonly owner: ManagedFunction;
  readonly invoker: Invoker;
  /** MiB that are reserved for it. */
  memory: number;
  /** MiB that it uses. */
  used = 0;
  state: ContainerState = "starting";
  readonly startedAt: number;
  /** When its state began. */
  since: number;
  ticket: Ticket = 0;
  /** Its start is over: a spare that is resumed takes no cores. */
  isMade = false;
  /** It was started and has served nobody: the first one it serves has had a cold start. */
  isFresh = true;
  /** It has one activation more, and then leaves: as a spare, or for good. */
  leaves: "no" | "as-spare" | "for-good" = "no";

  constructor(
    index: number,
    owner: ManagedFunction,
    { invoker, now }: { readonly invoker: Invoker; readonly now: number },
  ) {
    this.index = index;
    this.owner = owner;
    this.invoker = invoker;
    this.memory = owner.setting.memory;
    this.since = now;
    this.startedAt = now;
  }
}

export class Invoker {
  readonly index: number;
  readonly spec: InvokerSpec;
  /** MiB. */
  reserved = 0;
  /** Containers that are being made; not those that are resumed. */
  starting = 0;
  /** The one that is paused longest comes first. */
  readonly spares: Container[] = [];

  constructor(index: number, spec: InvokerSpec) {
    this.index = index;
    this.spec = spec;
  }

  get room(): number {
    return this.spec.memory - this.reserved;
  }
}

export class ManagedFunction {
  readonly index: number;
  readonly spec: FilledFunction;
  setting: FunctionSetting;
  /** Invokers in the order it tries them, and the place of each in that order. */
  readonly order: Int32Array;
  readonly rank: Int32Array;
  /** All but spares; nearest to home first. */
  readonly members: Container[] = [];
  readonly spares: Container[] = [];
  starting = 0;
  idle = 0;
  /** Containers that found no room. */
  lacking = 0;
  isGone = false;
  kills = 0;
  /** Containers that were started so far. */
  starts = 0;
  /** Integrals over time in ms: cores granted, cores used, MiB granted and used, containers that can work. */
  cpuGranted = 0;
  cpuUsed = 0;
  memoryGranted = 0;
  memoryUsed = 0;
  containerTime = 0;
  #ready = 0;
  #granted = 0;
  #used = 0;
  #settledAt: number;

  constructor(
    index: number,
    spec: FilledFunction,
    { invokers, now }: { readonly invokers: number; readonly now: number },
  ) {
    this.index = index;
    this.spec = spec;
    this.setting = spec.initial;
    this.order = probingOrder(hashOf(spec.id), invokers);
    this.rank = new Int32Array(invokers);
    for (let place = 0; place < invokers; place++) this.rank[this.order[place]!] = place;
    this.#settledAt = now;
  }

  /** Containers that can work. */
  get ready(): number {
    return this.#ready;
  }

  /** What an idle container of it uses, MiB. */
  get idleMemory(): number {
    return Math.min(this.setting.memory, IDLE_MEMORY * this.spec.profile.memory.peak);
  }

  settle(now: number): void {
    const passed = now - this.#settledAt;
    if (passed <= 0) return;
    this.#settledAt = now;
    this.cpuGranted += (passed * this.#ready * this.setting.shares) / SHARES_PER_CORE;
    this.memoryGranted += passed * this.#granted;
    this.memoryUsed += passed * this.#used;
    this.containerTime += passed * this.#ready;
  }

  /** Settle before. */
  countReady(container: Container, sign: 1 | -1): void {
    this.#ready += sign;
    this.#granted += sign * container.memory;
    this.#used += sign * container.used;
  }

  /** Settle before. */
  use(container: Container, memory: number): void {
    this.#used += memory - container.used;
    container.used = memory;
  }
}
