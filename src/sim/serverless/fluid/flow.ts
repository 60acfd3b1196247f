/**
 * The fluid rung's activations: contention is settled once a slot, queues are walked through call by call.
 * Owns: slots, who serves whom in them, how those under way are stretched when contention changes.
 * Not here: the speeds (../contention.ts), containers' lives (../pool.ts).
 *
 * Within a slot every machine is divided as it was at the slot's beginning; calls take the time that follows, and wait for
 * containers first come, first served, which is exact. So nothing is to be done when one begins or ends, and a slot costs
 * what its calls cost. Containers that are started for a call come up to a slot later than in the event rung.
 */
import type { Container, Invoker, ManagedFunction } from "../containers.ts";
import { type Cohort, Contention } from "../contention.ts";
import type { HostedFunction } from "../hosted.ts";
import type { Timing } from "../ledger.ts";
import { FIRST_FLOW_EVENT, type Flow, type FlowHost } from "../platform.ts";
import { type Drawn, doneBeforeKill, drawActivation, pressureOf } from "../work.ts";

/** ms. Short against what functions take, so that those at work at its beginning are most of those in it. */
const SLOT = 200;

class SlotCohort implements Cohort {
  readonly owner: ManagedFunction;
  shares = 0;
  computing = 0;
  transferring = 0;
  computeSpeed = 1;
  ioSpeed = 1;
  cores = 0;

  constructor(owner: ManagedFunction) {
    this.owner = owner;
  }

  get profile() {
    return this.owner.spec.profile;
  }

  /** Of one that computes. */
  get core(): number {
    return this.computing > 0 ? this.cores / this.computing : Math.min(1, this.computeSpeed);
  }
}

/** The activation that a container works on, or worked on last. */
class Service {
  isOn = false;
  isDoomed = false;
  arrivedAt = 0;
  startedAt = 0;
  coldStart = 0;
  overhead = 0;
  peak = 0;
  /** When its first part and all of it are done, at the speeds below. */
  ioEnds = 0;
  ends = 0;
  ioSpeed = 1;
  computeSpeed = 1;
  /** When the container can take the next. */
  freeAt = 0;
}

export class FluidFlow implements Flow {
  readonly #host: FlowHost;
  readonly #contentions: readonly Contention[];
  /** By invoker: those with containers there; and all that ever were, by function. */
  readonly #cohorts: readonly SlotCohort[][];
  readonly #known: readonly (SlotCohort | undefined)[][];
  /** By function: when its next call comes. */
  readonly #nextCall: number[] = [];
  readonly #services: Service[] = [];
  readonly #drawn: Drawn = { overhead: 0, io: 0, compute: 0, peak: 0 };
  readonly #timing: Timing = { waiting: 0, coldStart: 0, execution: 0 };
  #isInSlot = false;

  constructor(host: FlowHost) {
    this.#host = host;
    const { invokers } = host.pool;
    this.#contentions = invokers.map(({ spec }) => new Contention(spec));
    this.#cohorts = invokers.map(() => []);
    this.#known = invokers.map(() => []);
    host.events.schedule(SLOT, FIRST_FLOW_EVENT, 0);
  }

  begin(hosted: HostedFunction): void {
    this.#nextCall[hosted.owner.index] = hosted.arrivals.next();
  }

  end(hosted: HostedFunction): void {
    this.#nextCall[hosted.owner.index] = Number.POSITIVE_INFINITY;
  }

  settle(): void {
    // Everything is counted at the end of a slot.
  }

  ready(container: Container): void {
    const service = this.#serviceOf(container);
    if (!this.#isInSlot) {
      service.isOn = false;
      service.freeAt = this.#host.pool.now;
    }
    if (this.#host.hosted[container.owner.index]!.waiting === 0) this.#host.pool.rest(container);
  }

  disturbed(_invoker: Invoker): void {
    // Seen at the next slot.
  }

  happen(): void {
    const { pool, hosted, events } = this.#host;
    const to = pool.now;
    const from = to - SLOT;
    this.#isInSlot = true;
    this.#contend(from);
    for (const one of hosted) {
      if (one.owner.isGone && one.running === 0) continue;
      this.#stretch(one, { from, to });
      this.#collect(one, to);
      this.#serve(one, { from, to });
      this.#close(one, to);
    }
    this.#isInSlot = false;
    events.schedule(to + SLOT, FIRST_FLOW_EVENT, 0);
  }

  /** Divides every machine among those at work at a moment. */
  #contend(at: number): void {
    const { pool, hosted } = this.#host;
    for (const cohorts of this.#cohorts) cohorts.length = 0;
    for (const { owner } of hosted) {
      for (const container of owner.members) {
        if (container.state === "starting") continue;
        const cohort = this.#cohortOf(container);
        const { isOn, ioEnds, ends } = this.#serviceOf(container);
        if (!isOn || ends <= at) continue;
        if (ioEnds > at) cohort.transferring++;
        else cohort.computing++;
      }
    }
    for (const invoker of pool.invokers) {
      const cohorts = this.#cohorts[invoker.index]!;
      if (cohorts.length > 0) this.#contentions[invoker.index]!.solve(cohorts, invoker.starting);
    }
  }

  /** Those under way take longer or shorter from the slot's beginning on. */
  #stretch({ owner }: HostedFunction, { from, to }: Slot): void {
    for (const container of owner.members) {
      if (container.state !== "busy") continue;
      const service = this.#serviceOf(container);
      if (!service.isOn || service.ends <= from) continue;
      const cohort = this.#knownOf(container);
      const { ioEnds, ends, ioSpeed, computeSpeed } = service;
      const io = Math.max(0, ioEnds - from);
      const compute = ends - Math.max(ioEnds, from);
      service.ioEnds = io > 0 ? from + (io * ioSpeed) / cohort.ioSpeed : ioEnds;
      service.ends = Math.max(service.ioEnds, from) + (compute * computeSpeed) / cohort.computeSpeed;
      service.ioSpeed = cohort.ioSpeed;
      service.computeSpeed = cohort.computeSpeed;
      service.freeAt = service.isDoomed ? Number.POSITIVE_INFINITY : service.ends;
      this.#count(container, { from, to });
    }
  }

  #collect(hosted: HostedFunction, to: number): void {
    const { index } = hosted.owner;
    for (let at = this.#nextCall[index]!; at < to; at = this.#nextCall[index]!) {
      hosted.arrive(at);
      this.#nextCall[index] = hosted.arrivals.next();
    }
  }

  /** First come, first served, by the container that is free and nearest to home, or else by the next that is. */
  #serve(hosted: HostedFunction, { from, to }: Slot): void {
    const { owner } = hosted;
    hosted.dropStale(from);
    while (hosted.waiting > 0) {
      const arrived = hosted.nextArrived;
      const container = this.#nextFree(owner, arrived);
      if (container === undefined) break;
      const start = Math.max(arrived, this.#serviceOf(container).freeAt);
      if (start >= to) break;
      this.#finish(hosted, container);
      this.#start(hosted, { container, start, to });
    }
    if (hosted.waiting > 0) this.#host.pool.demand(owner, hosted.waiting);
  }

  #nextFree({ members }: ManagedFunction, at: number): Container | undefined {
    let soonest: Container | undefined;
    let free = Number.POSITIVE_INFINITY;
    for (const container of members) {
      if (container.state === "starting" || container.leaves !== "no") continue;
      const { freeAt } = this.#serviceOf(container);
      if (freeAt <= at) return container;
      if (freeAt < free) {
        free = freeAt;
        soonest = container;
      }
    }
    return soonest;
  }

  #start(hosted: HostedFunction, { container, start, to }: Started): void {
    const service = this.#serviceOf(container);
    const cohort = this.#knownOf(container);
    const drawn = this.#drawn;
    service.isOn = true;
    service.arrivedAt = hosted.nextArrived;
    service.startedAt = start;
    const started = container.isFresh ? start - container.startedAt : 0;
    service.coldStart = Math.min(start - service.arrivedAt, started);
    container.isFresh = false;
    const seed = hosted.takeNext();
    drawActivation(hosted.draw, seed, drawn);
    service.overhead = drawn.overhead;
    service.peak = drawn.peak;
    service.isDoomed = drawn.peak > container.memory;
    const part = service.isDoomed ? doneBeforeKill(seed) : 1;
    service.ioSpeed = cohort.ioSpeed;
    service.computeSpeed = cohort.computeSpeed;
    service.ioEnds = start + (drawn.io * part) / cohort.ioSpeed;
    const work = drawn.compute * pressureOf(hosted.draw.profile, container.memory) * part;
    service.ends = service.ioEnds + work / cohort.computeSpeed;
    service.freeAt = service.isDoomed ? Number.POSITIVE_INFINITY : service.ends;
    this.#count(container, { from: start, to });
  }

  /** CPU that is used within a part of the slot. */
  #count(container: Container, { from, to }: Slot): void {
    const { ioEnds, ends } = this.#serviceOf(container);
    const computed = Math.min(ends, to) - Math.max(ioEnds, from);
    if (computed > 0) container.owner.cpuUsed += computed * this.#knownOf(container).core;
  }

  /** Ends what is over by the end of the slot, and tells the pool who is at work. */
  #close(hosted: HostedFunction, to: number): void {
    const { pool } = this.#host;
    // From behind: who is killed or leaves is taken out of the list.
    for (let i = hosted.owner.members.length - 1; i >= 0; i--) {
      const container = hosted.owner.members[i];
      if (container === undefined || container.state === "starting") continue;
      const service = this.#serviceOf(container);
      if (service.isOn && service.ends <= to) {
        const { isDoomed } = service;
        this.#finish(hosted, container);
        if (isDoomed) pool.kill(container);
        else if (container.state === "busy") pool.release(container);
        else this.ready(container);
      } else if (service.isOn) pool.occupy(container, service.peak);
    }
  }

  #finish(hosted: HostedFunction, container: Container): void {
    const service = this.#serviceOf(container);
    if (!service.isOn) return;
    const { arrivedAt, startedAt, coldStart, overhead, ends, isDoomed } = service;
    const timing = this.#timing;
    timing.coldStart = coldStart;
    timing.waiting = startedAt - arrivedAt - coldStart + overhead;
    timing.execution = ends - startedAt;
    service.isOn = false;
    if (isDoomed) hosted.killed(arrivedAt, timing);
    else hosted.complete(arrivedAt, ends, timing);
  }

  #serviceOf({ index }: Container): Service {
    const known = this.#services[index];
    if (known !== undefined) return known;
    const service = new Service();
    this.#services[index] = service;
    return service;
  }

  /** Lists a cohort when the first of its containers is met. */
  #cohortOf(container: Container): SlotCohort {
    const cohort = this.#knownOf(container);
    const cohorts = this.#cohorts[container.invoker.index]!;
    // Functions are gone through one by one, so a cohort that is listed is the last.
    if (cohorts.at(-1) === cohort) return cohort;
    cohort.computing = 0;
    cohort.transferring = 0;
    cohort.shares = cohort.owner.setting.shares;
    cohorts.push(cohort);
    return cohort;
  }

  #knownOf({ owner, invoker }: Container): SlotCohort {
    const here = this.#known[invoker.index]!;
    const known = here[owner.index];
    if (known !== undefined) return known;
    const cohort = new SlotCohort(owner);
    here[owner.index] = cohort;
    return cohort;
  }
}

interface Slot {
  readonly from: number;
  readonly to: number;
}

interface Started {
  readonly container: Container;
  readonly start: number;
  readonly to: number;
}
