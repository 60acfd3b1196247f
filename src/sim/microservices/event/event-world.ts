/**
 * The event rung of the microservices world: every request, every call, every container. START READING HERE.
 * Owns: the loop over events, arrivals, and which events there are.
 * Not here: calls (call-flow.ts), sharing a node (machines.ts), containers' lives (rollout.ts), telemetry (scrape.ts).
 */
import type { Injection } from "../../../act/faults/index.ts";
import type { Limits, Ms, Result, Rng } from "../../../base/index.ts";
import { assertNever, CodedError, failure, milliseconds, seededRng } from "../../../base/index.ts";
import type {
  InstanceReading,
  NodeReading,
  RequestReading,
  Span,
  WorkloadReading,
} from "../../../observe/telemetry/index.ts";
import { type Arrivals, arrivals, rateAt } from "../../cluster/workloads/index.ts";
import { EventQueue } from "../../engine/index.ts";
import type { MicroserviceApplication } from "../applications/index.ts";
import { NODE_EPOCH, RESOURCE_COUNT } from "../calibration.ts";
import { type Disturbable, Disturbances } from "../disturbances.ts";
import { initialOf } from "../initial.ts";
import { asLimits } from "../limits.ts";
import { type FilledOptions, fillOptions, type MicroserviceWorldOptions } from "../spec.ts";
import type { ApplicationTruth, MicroserviceWorld } from "../world.ts";
import { CallFlow, type FlowState } from "./call-flow.ts";
import { type Container, EVENT } from "./container.ts";
import { Ledger } from "./ledger.ts";
import { Machines } from "./machines.ts";
import { Rollout } from "./rollout.ts";
import { Scraper } from "./scrape.ts";
import { SpanLog } from "./spans.ts";

/** What only this rung has: how much it has done. */
export interface EventMicroserviceWorld extends MicroserviceWorld {
  readonly events: number;
  /** Spans that found no room because nobody took the ones before. */
  readonly spansDropped: number;
}

export function microserviceWorld(options: MicroserviceWorldOptions): EventMicroserviceWorld {
  return new World(fillOptions(options));
}

interface Source {
  readonly type: number;
  readonly arrivals: Arrivals;
  readonly seeds: Rng;
  readonly extra: Rng;
  isExtraPlanned: boolean;
}

class World implements EventMicroserviceWorld, Disturbable {
  readonly application: MicroserviceApplication;
  readonly slos: readonly Ms[];
  readonly extraLoad: Float64Array;
  readonly requestNames: readonly string[];
  events = 0;
  readonly #options: FilledOptions;
  readonly #state: FlowState;
  readonly #flow: CallFlow;
  readonly #machines: Machines;
  readonly #rollout: Rollout;
  readonly #scraper: Scraper;
  readonly #ledger: Ledger;
  readonly #spans: SpanLog;
  readonly #sources: readonly Source[];
  readonly #disturbances = new Disturbances();
  #lastLook = { at: 0, cpuUsed: 0, paid: new Float64Array(RESOURCE_COUNT) };
  /** Of containers that are gone, core-milliseconds. */
  #cpuOfGone = 0;
  #nextEpoch = NODE_EPOCH;

  constructor(options: FilledOptions) {
    const { application, seed, slos, metrics, start, nodes, timeout, hop, spread, tracing } = options;
    this.#options = options;
    this.application = application;
    this.slos = slos;
    this.requestNames = application.requests.map(({ name }) => name);
    this.extraLoad = new Float64Array(application.requests.length);
    const root = seededRng(seed).fork("microservices");
    const { program, replicas, limits, defaults } = initialOf(options);
    this.#state = { now: 0, events: new EventQueue(), program, containers: [], ready: program.names.map(() => []) };
    const state = this.#state;
    this.#machines = new Machines(nodes);
    this.#rollout = new Rollout({ state, machines: this.#machines, rng: root.fork("rollout"), limits, defaults });
    const services = program.names.length;
    this.#ledger = new Ledger({ requests: this.requestNames, slos, services, sloWindow: metrics.sloWindow });
    const now = () => state.now;
    this.#spans = new SpanLog({ start, program, tracing, nodes: nodes.length, rng: root.fork("spans"), now });
    this.#flow = new CallFlow(state, {
      timeout,
      hop,
      spread,
      ledger: this.#ledger,
      spans: this.#spans,
      onIdle: (container) => this.#remove(container),
    });
    this.#scraper = new Scraper({
      start,
      program,
      metrics,
      slos,
      rng: root.fork("metrics"),
      rollout: this.#rollout,
      machines: this.#machines,
      ledger: this.#ledger,
    });
    for (let service = 0; service < services; service++) this.#rollout.begin(service, replicas[service]!);
    for (const machine of this.#machines.all) this.#machines.divide(machine, 0, state.events);
    state.events.schedule(NODE_EPOCH, EVENT.epoch, 0);
    const phases = root.fork("scrapes");
    for (let service = 0; service <= services; service++)
      state.events.schedule(phases.next() * metrics.interval, EVENT.scrape, service);
    this.#sources = this.requestNames.map((name, type) => this.#sourceOf(type, root.fork("arrivals").fork(name)));
    for (const source of this.#sources) this.#planArrival(source);
  }

  get now(): Ms {
    return milliseconds(this.#options.start + this.#state.now);
  }

  get spansDropped(): number {
    return this.#spans.dropped;
  }

  advance(until: Ms): void {
    const end = until - this.#options.start;
    const state = this.#state;
    if (!(end >= state.now))
      throw new RangeError(`the world is at ${this.now} ms and cannot go to ${until}: time does not go back`);
    const { events } = state;
    while (events.nextAt <= end) {
      events.pop();
      state.now = events.at;
      this.events++;
      this.#happen(events.kind, events.subject);
    }
    state.now = end;
  }

  readService(service: string): WorkloadReading {
    const index = this.#state.program.names.indexOf(service);
    if (index >= 0) return this.#scraper.readService(index, this.#state.now);
    throw new CodedError(
      failure(
        "microservices.unknown-target",
        `there is no service ${service} in ${this.application.name}: check its name`,
      ),
    );
  }

  readInstances(): readonly InstanceReading[] {
    return this.#scraper.readInstances(this.#state.now);
  }

  readRequests(): readonly RequestReading[] {
    return this.#scraper.readRequests(this.#state.now);
  }

  readNodes(): readonly NodeReading[] {
    return this.#machines.read();
  }

  takeSpans(): readonly Span[] {
    return this.#spans.take();
  }

  setLimits(instance: string, limits: Partial<Limits>): Result<Limits> {
    return this.#rollout.setLimits(instance, limits);
  }

  scale(service: string, replicas: number): Result<number> {
    return this.#rollout.scale(service, replicas);
  }

  inject(injection: Injection): void {
    this.#disturbances.add({ ...injection, start: milliseconds(injection.start - this.#options.start) });
  }

  hasTarget({ target }: Injection): boolean {
    if (target.on === "requests") return target.request === "all" || this.requestNames.includes(target.request);
    if (target.on === "node") return this.node(target.node) !== undefined;
    return this.instance(target.service, target.replica) !== undefined;
  }

  instance(service: string, replica: number): Container | undefined {
    return this.#rollout.instance(service, replica);
  }

  node(name: string) {
    return this.#machines.all.find(({ spec }) => spec.name === name);
  }

  truth(): ApplicationTruth {
    const { now, containers } = this.#state;
    let cpuUsed = this.#cpuOfGone;
    for (const container of containers) {
      if (container.isGone) continue;
      container.settle(now);
      cpuUsed += container.clock.used;
    }
    this.#rollout.settlePaid(now);
    const last = this.#lastLook;
    const paid = Float64Array.from(this.#rollout.paid);
    this.#lastLook = { at: now, cpuUsed, paid };
    return {
      from: milliseconds(this.#options.start + last.at),
      to: this.now,
      requests: this.#ledger.truth((type) => this.#flow.requests.countOpen(type)),
      limits: asLimits(paid.map((amount, r) => amount - last.paid[r]!)),
      cpuUsed: (cpuUsed - last.cpuUsed) / 1_000,
    };
  }

  #happen(kind: number, subject: number): void {
    switch (kind as (typeof EVENT)[keyof typeof EVENT]) {
      case EVENT.workDone:
        this.#flow.workDone(this.#state.containers[subject]!);
        break;
      case EVENT.deliver:
        this.#flow.deliver(subject);
        break;
      case EVENT.returned:
        this.#flow.returned(subject);
        break;
      case EVENT.arrival:
        this.#arrive(this.#sources[subject]!);
        break;
      case EVENT.extraArrival:
        this.#arriveExtra(this.#sources[subject]!);
        break;
      case EVENT.deadline:
        this.#flow.giveUpDue();
        break;
      case EVENT.epoch:
        this.#epoch();
        break;
      case EVENT.scrape:
        this.#scraper.scrape(subject, this.#state.now);
        this.#state.events.schedule(this.#state.now + this.#options.metrics.interval, EVENT.scrape, subject);
        break;
      case EVENT.started:
        this.#rollout.becomeReady(this.#state.containers[subject]!);
        break;
      case EVENT.limitSet:
        this.#rollout.limitSet(subject);
        break;
      default:
        assertNever(kind as never);
    }
  }

  #epoch(): void {
    const { now, events } = this.#state;
    this.#machines.settle(now);
    this.#disturbances.apply(this, now);
    this.#machines.divideAll(now, events);
    this.#nextEpoch = now + NODE_EPOCH;
    events.schedule(this.#nextEpoch, EVENT.epoch, 0);
    for (const source of this.#sources) if (this.extraLoad[source.type]! > 0) this.#planExtra(source);
  }

  #remove(container: Container): void {
    container.settle(this.#state.now);
    this.#cpuOfGone += container.clock.used;
    this.#rollout.remove(container);
  }

  #sourceOf(type: number, rng: Rng): Source {
    const { load, start } = this.#options;
    const share = this.#state.program.mix[type]!;
    const own = { ...load, perMinute: load.perMinute.map((rate) => rate * share) };
    return {
      type,
      arrivals: arrivals(own, rng.fork("times"), start),
      seeds: rng.fork("seeds"),
      extra: rng.fork("extra"),
      isExtraPlanned: false,
    };
  }

  #arrive(source: Source): void {
    this.#flow.arrive(source.type, source.seeds.uint32() | 0);
    this.#planArrival(source);
  }

  #planArrival({ type, arrivals: times }: Source): void {
    const at = times.next() - this.#options.start;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#state.events.schedule(Math.max(at, this.#state.now), EVENT.arrival, type);
  }

  /** Requests that an injection adds come as a stream of their own, so that those that come anyway stay the same. */
  #planExtra(source: Source): void {
    if (source.isExtraPlanned) return;
    const { load } = this.#options;
    const perMs =
      (rateAt(load, this.now) * this.#state.program.mix[source.type]! * this.extraLoad[source.type]!) / 1_000;
    const gap = perMs > 0 ? -Math.log(1 - source.extra.next()) / perMs : Number.POSITIVE_INFINITY;
    // Without memory: one that would come after the next epoch is drawn anew there, at that epoch's rate.
    if (this.#state.now + gap >= this.#nextEpoch) return;
    source.isExtraPlanned = true;
    this.#state.events.schedule(this.#state.now + gap, EVENT.extraArrival, source.type);
  }

  #arriveExtra(source: Source): void {
    source.isExtraPlanned = false;
    if (this.extraLoad[source.type]! <= 0) return;
    this.#flow.arrive(source.type, source.extra.uint32() | 0);
    this.#planExtra(source);
  }
}
