/**
 * The lives of containers: who is started where, kept, paused, evicted, killed and removed.
 * Owns: placement from home onwards, room by memory, warm spares with keep-alive, what a new setting means for those there.
 * Not here: activations (event/, fluid/), when a decision arrives (platform.ts).
 *
 * As OpenWhisk: an invoker's memory is its slots; a function tries its home first and goes on where there is no room; paused
 * containers give way to whoever needs their room, longest paused first. So one function's scale-out is another's eviction.
 */
import type { Rng } from "../../base/index.ts";
import type { EventQueue } from "../engine/index.ts";
import { dockerRun, RESUME, runtimeStart } from "./calibration.ts";
import { Container, Invoker, type ManagedFunction } from "./containers.ts";
import type { InvokerSpec } from "./invokers.ts";
import type { FunctionSetting } from "./setting.ts";

export const POOL_EVENT = { started: 0, expired: 1 } as const;

/** Whoever runs activations in the containers. */
export interface PoolHooks {
  /** It can work from now on, and is idle. */
  ready(container: Container): void;
  /** A start began or ended there. */
  disturbed(invoker: Invoker): void;
}

export interface PoolOptions {
  readonly invokers: readonly InvokerSpec[];
  readonly events: EventQueue;
  readonly rng: Rng;
  readonly keepAlive: number;
}

export class Pool {
  readonly invokers: readonly Invoker[];
  readonly #events: EventQueue;
  readonly #rng: Rng;
  readonly #keepAlive: number;
  readonly #containers: Container[] = [];
  readonly #free: number[] = [];
  readonly #lacking = new Set<ManagedFunction>();
  #hooks: PoolHooks = { ready: () => undefined, disturbed: () => undefined };
  #isRoomNew = false;
  now = 0;

  constructor({ invokers, events, rng, keepAlive }: PoolOptions) {
    this.invokers = invokers.map((spec, index) => new Invoker(index, spec));
    this.#events = events;
    this.#rng = rng;
    this.#keepAlive = keepAlive;
  }

  attach(hooks: PoolHooks): void {
    this.#hooks = hooks;
  }

  happen(kind: number, subject: number): void {
    const container = this.#containers[subject]!;
    if (kind === POOL_EVENT.started) this.#becomeReady(container);
    else this.#discard(container);
  }

  /** As a world begins: running and warm at once. */
  begin(owner: ManagedFunction): void {
    this.reconcile(owner);
    for (const container of [...owner.members]) {
      this.#events.cancel(container.ticket);
      container.isFresh = false;
      this.#becomeReady(container);
    }
  }

  /** Starts or stops containers until there are as many as its setting says. */
  reconcile(owner: ManagedFunction): void {
    const want = owner.isGone || owner.spec.scaling === "on-demand" ? 0 : owner.setting.containers;
    let have = 0;
    for (const { leaves } of owner.members) if (leaves === "no") have++;
    owner.lacking = 0;
    while (have < want && this.#grow(owner)) have++;
    if (have < want) owner.lacking = want - have;
    if (owner.spec.scaling === "provisioned" || owner.isGone) while (have > want) have -= this.#shrink(owner);
    if (owner.isGone) for (const spare of [...owner.spares]) this.#discard(spare);
    if (owner.lacking > 0) this.#lacking.add(owner);
    else this.#lacking.delete(owner);
  }

  /** Somebody waits and nobody is idle: a container on demand, where the function may have one more. */
  demand(owner: ManagedFunction, waiting: number): void {
    const { containers } = owner.setting;
    const most = owner.spec.scaling === "on-demand" ? containers : containers === 0 ? 1 : 0;
    while (!owner.isGone && owner.members.length < most && owner.starting < waiting) {
      if (this.#grow(owner)) continue;
      owner.lacking = 1;
      this.#lacking.add(owner);
      return;
    }
  }

  resize(owner: ManagedFunction, setting: FunctionSetting): void {
    owner.settle(this.now);
    const before = owner.setting.memory;
    owner.setting = setting;
    if (setting.memory !== before)
      for (const container of [...owner.members, ...owner.spares]) this.#giveMemory(container, setting.memory);
    this.reconcile(owner);
  }

  /** It begins to work on an activation that uses so much memory. */
  occupy(container: Container, memory: number): void {
    const { owner } = container;
    owner.settle(this.now);
    if (container.state === "idle") owner.idle--;
    container.state = "busy";
    owner.use(container, Math.min(memory, container.memory));
  }

  /** Its activation is over. */
  release(container: Container): void {
    const { owner } = container;
    owner.settle(this.now);
    owner.use(container, owner.idleMemory);
    if (container.leaves === "for-good") this.#remove(container);
    else if (container.leaves === "as-spare") this.#pause(container);
    else {
      container.state = "idle";
      container.since = this.now;
      owner.idle++;
      this.#hooks.ready(container);
    }
  }

  /** Nobody waits: on demand, an idle container is a spare. */
  rest(container: Container): void {
    const { spec, setting } = container.owner;
    if (container.state === "idle" && (spec.scaling === "on-demand" || setting.containers === 0))
      this.#pause(container);
  }

  /** For memory, with what it worked on. Another is started in its place. */
  kill(container: Container): void {
    const { owner } = container;
    owner.kills++;
    this.#remove(container);
    this.reconcile(owner);
  }

  /** Those who found no room try again when there may be some. */
  retry(): void {
    if (!this.#isRoomNew) return;
    this.#isRoomNew = false;
    for (const owner of [...this.#lacking]) {
      if (owner.spec.scaling === "provisioned" && owner.setting.containers > 0) this.reconcile(owner);
      else {
        this.#lacking.delete(owner);
        this.demand(owner, owner.starting + 1);
      }
    }
  }

  #grow(owner: ManagedFunction): boolean {
    const leaving = owner.members.find(({ leaves }) => leaves === "as-spare");
    if (leaving !== undefined) {
      leaving.leaves = "no";
      return true;
    }
    const spare = owner.spares.at(-1);
    if (spare !== undefined) {
      this.#resume(spare);
      return true;
    }
    const invoker = this.#place(owner);
    if (invoker === undefined) return false;
    const index = this.#free.pop() ?? this.#containers.length;
    const container = new Container(index, owner, { invoker, now: this.now });
    this.#containers[index] = container;
    invoker.reserved += container.memory;
    invoker.starting++;
    this.#enlist(container);
    const { profile } = owner.spec;
    // Drawn by function and number, so that others' starts do not shift these.
    const draw = Math.exp(
      dockerRun.variation *
        this.#rng
          .fork(owner.spec.id)
          .fork(owner.starts++)
          .normal(),
    );
    const takes = dockerRun.mean * draw + runtimeStart[profile.language] + profile.init;
    container.ticket = this.#events.schedule(this.now + takes, POOL_EVENT.started, index);
    this.#hooks.disturbed(invoker);
    return true;
  }

  /** The first invoker from home on that has room, where spares give way; undefined where none has. */
  #place(owner: ManagedFunction): Invoker | undefined {
    const { memory } = owner.setting;
    for (const index of owner.order) {
      const invoker = this.invokers[index]!;
      if (this.#makeRoom(invoker, memory)) return invoker;
    }
    return undefined;
  }

  /** Evicts as many spares as it takes, or none where all of them would not do. */
  #makeRoom(invoker: Invoker, memory: number): boolean {
    if (invoker.room >= memory) return true;
    let room = invoker.room;
    for (const spare of invoker.spares) room += spare.memory;
    if (room < memory) return false;
    while (invoker.room < memory) this.#discard(invoker.spares[0]!);
    return true;
  }

  /** One container fewer: the newest start, else the idle one farthest from home, else a busy one when it is done. */
  #shrink(owner: ManagedFunction): number {
    const { members } = owner;
    const last = (state: Container["state"]): Container | undefined =>
      members.findLast((container) => container.state === state && container.leaves === "no");
    const starting = last("starting");
    if (starting !== undefined) {
      this.#remove(starting);
      return 1;
    }
    const idle = last("idle");
    if (idle !== undefined) {
      if (owner.isGone) this.#remove(idle);
      else this.#pause(idle);
      return 1;
    }
    const busy = last("busy");
    if (busy !== undefined) busy.leaves = owner.isGone ? "for-good" : "as-spare";
    return 1;
  }

  #giveMemory(container: Container, memory: number): void {
    // It may have been evicted for another of its own function.
    if (container.state === "gone") return;
    const { invoker, owner } = container;
    const more = memory - container.memory;
    if (container.state === "spare") {
      // To make room for itself it would be evicted.
      if (invoker.room < more) {
        this.#discard(container);
        return;
      }
    } else if (!this.#makeRoom(invoker, more)) {
      // Another one is started where there is room.
      if (container.state === "busy") container.leaves = "for-good";
      else this.#remove(container);
      return;
    }
    invoker.reserved += more;
    if (more < 0) this.#isRoomNew = true;
    const isReady = container.state === "idle" || container.state === "busy";
    if (isReady) owner.countReady(container, -1);
    container.memory = memory;
    if (container.state === "idle") container.used = owner.idleMemory;
    else container.used = Math.min(container.used, memory);
    if (isReady) owner.countReady(container, 1);
  }

  #becomeReady(container: Container): void {
    const { owner } = container;
    owner.settle(this.now);
    owner.starting--;
    owner.idle++;
    this.#endStart(container);
    container.state = "idle";
    container.since = this.now;
    container.ticket = 0;
    container.used = owner.idleMemory;
    owner.countReady(container, 1);
    this.#hooks.ready(container);
  }

  #endStart(container: Container): void {
    if (container.isMade) return;
    container.isMade = true;
    container.invoker.starting--;
    this.#hooks.disturbed(container.invoker);
  }

  #pause(container: Container): void {
    const { owner, invoker } = container;
    owner.settle(this.now);
    if (container.state === "idle") owner.idle--;
    owner.countReady(container, -1);
    this.#dismiss(container);
    container.state = "spare";
    container.since = this.now;
    container.leaves = "no";
    owner.spares.push(container);
    invoker.spares.push(container);
    container.ticket = this.#events.schedule(this.now + this.#keepAlive, POOL_EVENT.expired, container.index);
    this.#isRoomNew = true;
  }

  #resume(container: Container): void {
    this.#events.cancel(container.ticket);
    without(container.owner.spares, container);
    without(container.invoker.spares, container);
    container.state = "starting";
    container.since = this.now;
    container.isFresh = false;
    this.#enlist(container);
    container.ticket = this.#events.schedule(this.now + RESUME, POOL_EVENT.started, container.index);
  }

  #discard(spare: Container): void {
    this.#events.cancel(spare.ticket);
    without(spare.owner.spares, spare);
    without(spare.invoker.spares, spare);
    this.#forget(spare);
  }

  /** Not a spare. */
  #remove(container: Container): void {
    const { owner } = container;
    owner.settle(this.now);
    if (container.state === "starting") {
      this.#events.cancel(container.ticket);
      owner.starting--;
      this.#endStart(container);
    } else {
      if (container.state === "idle") owner.idle--;
      owner.countReady(container, -1);
    }
    this.#dismiss(container);
    this.#forget(container);
  }

  #forget(container: Container): void {
    container.state = "gone";
    container.invoker.reserved -= container.memory;
    this.#free.push(container.index);
    this.#isRoomNew = true;
  }

  /** Among the members, by distance from home. */
  #enlist(container: Container): void {
    const { owner, invoker } = container;
    const { members, rank } = owner;
    const own = rank[invoker.index]!;
    let place = members.length;
    while (place > 0 && rank[members[place - 1]!.invoker.index]! > own) place--;
    members.splice(place, 0, container);
    owner.starting++;
  }

  #dismiss(container: Container): void {
    without(container.owner.members, container);
  }
}

function without(list: Container[], container: Container): void {
  const place = list.indexOf(container);
  if (place >= 0) list.splice(place, 1);
}
