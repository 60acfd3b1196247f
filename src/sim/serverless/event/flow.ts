/**
 * The event rung's activations: each by itself, from its arrival to its end.
 * Owns: dispatch to containers, the two parts of an activation, completion and kills.
 * Not here: how fast they run beside each other (station.ts), containers' lives (../pool.ts).
 */
import type { Container, Invoker } from "../containers.ts";
import type { HostedFunction } from "../hosted.ts";
import type { Timing } from "../ledger.ts";
import { FIRST_FLOW_EVENT, type Flow, type FlowHost } from "../platform.ts";
import { type Drawn, doneBeforeKill, drawActivation, pressureOf } from "../work.ts";
import { Station } from "./station.ts";

const EVENT = { arrival: FIRST_FLOW_EVENT, done: FIRST_FLOW_EVENT + 1 } as const;

/** Of the activation that a container works on. */
class Work {
  arrivedAt = 0;
  startedAt = 0;
  coldStart = 0;
  overhead = 0;
  compute = 0;
  isDoomed = false;
}

export class EventFlow implements Flow {
  readonly #host: FlowHost;
  readonly #stations: readonly Station[];
  /** By container. */
  readonly #works: Work[] = [];
  readonly #containers: Container[] = [];
  readonly #ended: number[] = [];
  readonly #drawn: Drawn = { overhead: 0, io: 0, compute: 0, peak: 0 };
  readonly #timing: Timing = { waiting: 0, coldStart: 0, execution: 0 };

  constructor(host: FlowHost) {
    this.#host = host;
    const { events, tellsWork } = host;
    this.#stations = host.pool.invokers.map(
      (invoker) => new Station(invoker, { events, kind: EVENT.done, keepsWork: tellsWork }),
    );
  }

  begin(hosted: HostedFunction): void {
    this.#planArrival(hosted);
  }

  end(): void {
    // Those at work end as they would have; the arrival that is planned finds that the function is gone.
  }

  settle(now: number): void {
    for (const station of this.#stations) station.settle(now);
  }

  takeWork(over: number) {
    return this.#stations.flatMap((station) => station.takeWork(over) ?? []);
  }

  ready(container: Container): void {
    this.#serve(this.#hostedOf(container));
    this.#host.pool.rest(container);
  }

  disturbed(invoker: Invoker): void {
    this.#stations[invoker.index]!.reshare(this.#host.pool.now);
  }

  happen(kind: number, subject: number): void {
    if (kind === EVENT.arrival) this.#arrive(this.#host.hosted[subject]!);
    else this.#done(this.#stations[subject]!);
  }

  #arrive(hosted: HostedFunction): void {
    if (hosted.owner.isGone) return;
    const { pool } = this.#host;
    if (hosted.arrive(pool.now)) this.#serve(hosted);
    if (hosted.waiting > 0) pool.demand(hosted.owner, hosted.waiting);
    this.#planArrival(hosted);
  }

  #planArrival(hosted: HostedFunction): void {
    const at = hosted.arrivals.next();
    if (at < Number.POSITIVE_INFINITY) this.#host.events.schedule(at, EVENT.arrival, hosted.owner.index);
  }

  /** Those who wait go to idle containers, nearest to home first. */
  #serve(hosted: HostedFunction): void {
    const { owner } = hosted;
    hosted.dropStale(this.#host.pool.now);
    while (hosted.waiting > 0 && owner.idle > 0) {
      const container = owner.members.find(({ state }) => state === "idle");
      if (container === undefined) return;
      this.#start(hosted, container);
    }
  }

  #start(hosted: HostedFunction, container: Container): void {
    const { pool } = this.#host;
    const { now } = pool;
    const { profile } = hosted.draw;
    const drawn = this.#drawn;
    const work = this.#workOf(container);
    work.arrivedAt = hosted.nextArrived;
    work.startedAt = now;
    // It has waited for this very container as long as both were there and it was being started.
    const started = container.isFresh ? now - container.startedAt : 0;
    work.coldStart = Math.min(now - work.arrivedAt, started);
    container.isFresh = false;
    const seed = hosted.takeNext();
    drawActivation(hosted.draw, seed, drawn);
    work.overhead = drawn.overhead;
    work.isDoomed = drawn.peak > container.memory;
    const part = work.isDoomed ? doneBeforeKill(seed) : 1;
    work.compute = drawn.compute * pressureOf(profile, container.memory) * part;
    pool.occupy(container, drawn.peak);
    const station = this.#stationOf(container);
    station.settle(now);
    station.add(hosted.owner, { container: container.index, io: drawn.io * part, compute: work.compute });
    station.reshare(now);
  }

  #done(station: Station): void {
    const { now } = this.#host.pool;
    station.settle(now);
    station.takeDone((container) => this.#workOf(this.#containers[container]!).compute, this.#ended);
    station.reshare(now);
    for (const index of this.#ended.splice(0)) this.#finish(this.#containers[index]!);
  }

  #finish(container: Container): void {
    const { pool } = this.#host;
    const hosted = this.#hostedOf(container);
    const { arrivedAt, startedAt, coldStart, overhead, isDoomed } = this.#workOf(container);
    const timing = this.#timing;
    timing.coldStart = coldStart;
    timing.waiting = startedAt - arrivedAt - coldStart + overhead;
    timing.execution = pool.now - startedAt;
    if (isDoomed) {
      hosted.killed(arrivedAt, timing);
      pool.kill(container);
      if (hosted.waiting > 0) pool.demand(hosted.owner, hosted.waiting);
      return;
    }
    hosted.complete(arrivedAt, pool.now, timing);
    pool.release(container);
    if (hosted.waiting > 0) pool.demand(hosted.owner, hosted.waiting);
  }

  #workOf({ index }: Container): Work {
    const known = this.#works[index];
    if (known !== undefined) return known;
    const work = new Work();
    this.#works[index] = work;
    return work;
  }

  #hostedOf({ owner }: Container): HostedFunction {
    return this.#host.hosted[owner.index]!;
  }

  #stationOf(container: Container): Station {
    this.#containers[container.index] = container;
    return this.#stations[container.invoker.index]!;
  }
}
