/**
 * Rates through the call graphs, and every container's queue under them.
 * Owns: calls per second by call and by service, work, means bottom up. Not here: one queue (station.ts).
 */
import type { Rng } from "../../../base/index.ts";
import { sigmaOf } from "../../draws.ts";
import type { Container } from "../event/container.ts";
import type { Program } from "../program.ts";
import { Station, type StationLoad } from "./station.ts";

export interface FlowsOptions {
  readonly program: Program;
  /** Services, callees before callers. */
  readonly order: readonly number[];
  /** Mean way between containers, ms. */
  readonly hop: number;
  readonly rng: Rng;
  readonly ready: readonly Container[][];
}

/** Of the newest value in what is called from a service takes: pools that wait for each other settle instead of swinging. */
const BELOW_WEIGHT = 0.5;
/** Where something piles up, a step is taken in so many parts. */
const PARTS_WHEN_BUSY = 20;

export class Flows {
  /** By request type: requests per millisecond in this step. */
  readonly rates: Float64Array;
  readonly #options: FlowsOptions;
  readonly #stations = new Map<Container, Station>();
  /** By service: stations of the containers that take calls, in the order of `ready`. */
  readonly stations: Station[][];
  /** By call of a workflow: calls per millisecond, and mean time from sending to the answer. */
  readonly #callRates: Float64Array;
  readonly #callTimes: Float64Array;
  readonly #below: Float64Array;
  /** By service: calls per millisecond, work per millisecond, squares of work, share that goes on. */
  readonly #rate: Float64Array;
  readonly #work: Float64Array;
  readonly #squares: Float64Array;
  readonly #passes: Float64Array;
  readonly #callsOf: readonly Int32Array[];
  readonly #variations: Float64Array;
  /** By service: threads of its callers; infinite where somebody calls it without waiting. */
  readonly #callers: readonly (readonly number[] | null)[];
  #span = 0;
  /** Used again for every container. */
  readonly #load: StationLoad = { rate: 0, work: 0, workSquared: 0, downstream: 0, most: 0, isNewStep: true };

  constructor(options: FlowsOptions) {
    this.#options = options;
    const { program } = options;
    const services = program.names.length;
    const calls = program.service.length;
    this.rates = new Float64Array(program.roots.length);
    this.stations = program.names.map(() => []);
    this.#callRates = new Float64Array(calls);
    this.#callTimes = new Float64Array(calls);
    this.#below = new Float64Array(calls);
    this.#rate = new Float64Array(services);
    this.#work = new Float64Array(services);
    this.#squares = new Float64Array(services);
    this.#passes = new Float64Array(services).fill(1);
    this.#callsOf = program.names.map((_, s) =>
      Int32Array.from([...program.service.keys()].filter((call) => program.service[call] === s)),
    );
    // Mean of squares over square of the mean.
    this.#variations = Float64Array.from(program.profiles, ({ variation }) => Math.exp(sigmaOf(variation) ** 2));
    const background = new Set(program.background);
    this.#callers = program.names.map((_, s) => {
      const own = [...(this.#callsOf[s] as Int32Array)];
      if (own.some((call) => background.has(call) || program.parent[call]! < 0)) return null;
      return [...new Set(own.map((call) => program.service[program.parent[call]!]!))];
    });
  }

  /** Whether a node may be short of something: then it has to be divided again. */
  get isAnyBusy(): boolean {
    for (const stations of this.stations)
      for (const { backlog, crowdChance } of stations) if (backlog > 0 || crowdChance > 0.2) return true;
    return false;
  }

  step(span: number): void {
    this.#span = span;
    const parts = this.#isPiledUp ? PARTS_WHEN_BUSY : 1;
    for (let part = 0; part < parts; part++) {
      this.#spread();
      this.#load.isNewStep = part === 0;
      for (const service of this.#options.order) this.#settle(service, span / parts);
    }
  }

  get #isPiledUp(): boolean {
    for (const stations of this.stations) for (const { backlog } of stations) if (backlog > 0) return true;
    return false;
  }

  /** Milliseconds of work that a container has done in the last step. */
  doneIn(container: Container): { readonly work: number } {
    const service = container.service;
    const station = this.#stations.get(container);
    const rate = this.#rate[service]!;
    const work = rate > 0 ? this.#work[service]! / rate : 0;
    return { work: (station?.passed ?? 0) * work * this.#span };
  }

  stationOf(container: Container): Station | undefined {
    return this.#stations.get(container);
  }

  /** Calls per second of a service. */
  callsPerSecond(service: number): number {
    return this.#rate[service]! * 1_000;
  }

  /** Top down: how many calls of each kind there are. */
  #spread(): void {
    const { program } = this.#options;
    const { service, size, chance, parent, roots } = program;
    this.#rate.fill(0);
    this.#work.fill(0);
    this.#squares.fill(0);
    let type = -1;
    for (let call = 0; call < service.length; call++) {
      if (call === roots[type + 1]) type++;
      const from = parent[call]!;
      const rate =
        from < 0 ? this.rates[type]! : this.#callRates[from]! * this.#passes[service[from]!]! * chance[call]!;
      this.#callRates[call] = rate;
      const s = service[call]!;
      const work = program.work[s]! * size[call]!;
      this.#rate[s]! += rate;
      this.#work[s]! += rate * work;
      this.#squares[s]! += rate * work * work * this.#variations[s]!;
    }
  }

  /** Bottom up: how long calls of a service take, given those below it. */
  #settle(service: number, span: number): void {
    const { ready, rng, program } = this.#options;
    const members = ready[service] as readonly Container[];
    const stations = this.stations[service] as Station[];
    if (stations.length !== members.length) stations.length = members.length;
    for (let i = 0; i < members.length; i++)
      if (stations[i]?.container !== members[i]) stations[i] = this.#station(members[i]!);
    const rate = this.#rate[service]!;
    const count = Math.max(1, members.length);
    const calls = this.#callsOf[service] as Int32Array;
    let downstream = 0;
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i]!;
      const below = this.#belowOf(call);
      this.#below[call]! += BELOW_WEIGHT * (below - this.#below[call]!);
      if (rate > 0) downstream += (this.#callRates[call]! / rate) * this.#below[call]!;
    }
    let pass = 0;
    let passes = 0;
    const load = this.#load;
    load.rate = rate / count;
    load.work = rate > 0 ? this.#work[service]! / rate : program.work[service]!;
    load.workSquared = rate > 0 ? this.#squares[service]! / rate : 0;
    load.downstream = downstream;
    load.most = this.#roomOf(service) / count;
    for (const station of stations) {
      station.update(load, rng, span);
      pass += station.passTime / count;
      passes += load.rate > 0 ? station.passed / load.rate / count : 1 / count;
    }
    this.#passes[service] = members.length === 0 ? 0 : passes;
    const delay = 2 * (this.#options.hop + (members[0]?.delay ?? 0));
    for (let i = 0; i < calls.length; i++) this.#callTimes[calls[i]!] = this.#below[calls[i]!]! + pass + delay;
  }

  /** Mean time of the stages of a call: in each, the longest of what is called. */
  #belowOf(call: number): number {
    const { program, ready } = this.#options;
    const own = 2 * (ready[program.service[call]!]?.[0]?.delay ?? 0);
    let sum = 0;
    for (let stage = program.firstStage[call]!; stage < program.firstStage[call + 1]!; stage++) {
      let longest = 0;
      for (let i = program.firstStaged[stage]!; i < program.firstStaged[stage + 1]!; i++) {
        const child = program.staged[i]!;
        const time = program.chance[child]! * (this.#callTimes[child]! + own);
        if (time > longest) longest = time;
      }
      sum += longest;
    }
    return sum;
  }

  #roomOf(service: number): number {
    const callers = this.#callers[service];
    if (callers === null || callers === undefined) return Number.POSITIVE_INFINITY;
    const { ready, program } = this.#options;
    let room = 0;
    for (let i = 0; i < callers.length; i++) {
      const caller = callers[i]!;
      room += program.threads[caller]! * Math.max(1, ready[caller]!.length);
    }
    return room;
  }

  #station(container: Container): Station {
    const known = this.#stations.get(container);
    if (known !== undefined) return known;
    for (const old of this.#stations.keys()) if (old.isGone) this.#stations.delete(old);
    const made = new Station(container);
    this.#stations.set(container, made);
    return made;
  }
}
