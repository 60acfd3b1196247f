/**
 * The fluid rung of the microservices world: queues in equilibrium, step by step, with a few sampled requests.
 * Owns: the step; rates through the call graphs; sampled requests and what they say about all.
 * Not here: one container as a queue (station.ts), limits and starts (event/rollout.ts), sharing (event/machines.ts).
 *
 * For training: some tens of microseconds a step of one second. It has the face of the event rung, whose results are the
 * ones that count; agreement.ts says how far they are apart.
 */
import type { Injection } from "../../../act/faults/index.ts";
import type { Limits, Ms, Result, Rng } from "../../../base/index.ts";
import { CodedError, failure, milliseconds, seededRng } from "../../../base/index.ts";
import type {
  InstanceReading,
  NodeReading,
  RequestReading,
  Span,
  WorkloadReading,
} from "../../../observe/telemetry/index.ts";
import { DISPERSION_SPAN, rateAt } from "../../cluster/workloads/index.ts";
import { EventQueue } from "../../engine/index.ts";
import { bottomUp, type MicroserviceApplication } from "../applications/index.ts";
import { IO, MEMORY, NETWORK, RESOURCE_COUNT } from "../calibration.ts";
import { type Disturbable, Disturbances } from "../disturbances.ts";
import { type Container, EVENT } from "../event/container.ts";
import { Machines } from "../event/machines.ts";
import { Rollout } from "../event/rollout.ts";
import { initialOf } from "../initial.ts";
import { asLimits } from "../limits.ts";
import type { Program } from "../program.ts";
import { type FilledOptions, fillOptions, type MicroserviceWorldOptions } from "../spec.ts";
import type { ApplicationTruth, MicroserviceWorld } from "../world.ts";
import { Counts } from "./counts.ts";
import { Flows } from "./flows.ts";
import { readInstances, readService } from "./readings.ts";
import { Samples } from "./samples.ts";

export interface FluidOptions extends MicroserviceWorldOptions {
  /** Requests that are sampled in every step, at least one of each type. */
  readonly samples?: number;
}

export const FLUID_STEP = 1_000;
const USUAL_SAMPLES = 16;

export function fluidMicroserviceWorld({ samples = USUAL_SAMPLES, ...options }: FluidOptions): MicroserviceWorld {
  return new FluidWorld(fillOptions(options), samples);
}

class FluidWorld implements MicroserviceWorld, Disturbable {
  readonly application: MicroserviceApplication;
  readonly slos: readonly Ms[];
  readonly extraLoad: Float64Array;
  readonly requestNames: readonly string[];
  readonly #options: FilledOptions;
  readonly #program: Program;
  readonly #state: { now: number; events: EventQueue; program: Program; containers: Container[]; ready: Container[][] };
  readonly #machines: Machines;
  readonly #rollout: Rollout;
  readonly #disturbances = new Disturbances();
  readonly #flows: Flows;
  readonly #samples: Samples;
  readonly #counts: Counts;
  readonly #rng: Rng;
  readonly #bursts: Float64Array;
  #burstUntil = 0;
  #lastLook = { at: 0, cpuUsed: 0, paid: new Float64Array(RESOURCE_COUNT) };

  constructor(options: FilledOptions, samples: number) {
    const { application, seed, slos, nodes } = options;
    this.#options = options;
    this.application = application;
    this.slos = slos;
    this.requestNames = application.requests.map(({ name }) => name);
    this.extraLoad = new Float64Array(application.requests.length);
    this.#bursts = new Float64Array(application.requests.length).fill(1);
    const root = seededRng(seed).fork("microservices-fluid");
    this.#rng = root.fork("arrivals");
    const { program, replicas, limits, defaults } = initialOf(options);
    this.#program = program;
    this.#state = { now: 0, events: new EventQueue(), program, containers: [], ready: program.names.map(() => []) };
    const state = this.#state;
    this.#machines = new Machines(nodes);
    this.#rollout = new Rollout({ state, machines: this.#machines, rng: root.fork("rollout"), limits, defaults });
    for (let service = 0; service < program.names.length; service++) this.#rollout.begin(service, replicas[service]!);
    this.#machines.divideAll(0, state.events);
    const order = (bottomUp(application) as readonly string[]).map((name) => program.names.indexOf(name));
    this.#flows = new Flows({ program, order, hop: options.hop.mean, rng: root.fork("periods"), ready: state.ready });
    this.#counts = new Counts({ requests: this.requestNames, slos, sloWindow: options.metrics.sloWindow });
    this.#samples = new Samples({
      options,
      program,
      flows: this.#flows,
      counts: this.#counts,
      rng: root.fork("samples"),
      samples,
    });
    state.events.schedule(FLUID_STEP, EVENT.epoch, 0);
  }

  get now(): Ms {
    return milliseconds(this.#options.start + this.#state.now);
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
      const { kind, subject } = events;
      if (kind === EVENT.epoch) this.#step();
      else if (kind === EVENT.started) this.#rollout.becomeReady(state.containers[subject]!);
      else if (kind === EVENT.limitSet) this.#rollout.limitSet(subject);
    }
    state.now = end;
  }

  readService(service: string): WorkloadReading {
    const index = this.#program.names.indexOf(service);
    if (index >= 0) return readService(index, this.#reader());
    throw new CodedError(
      failure(
        "microservices.unknown-target",
        `there is no service ${service} in ${this.application.name}: check its name`,
      ),
    );
  }

  readInstances(): readonly InstanceReading[] {
    return readInstances(this.#reader());
  }

  readRequests(): readonly RequestReading[] {
    return this.#counts.readings(this.#state.now, this.#options.start);
  }

  readNodes(): readonly NodeReading[] {
    return this.#machines.read();
  }

  /** This rung has no spans: train what needs them in the event rung. */
  takeSpans(): readonly Span[] {
    return [];
  }

  setLimits(instance: string, limits: Partial<Limits>): Result<Limits> {
    return this.#rollout.setLimits(instance, limits);
  }

  scale(service: string, replicas: number): Result<number> {
    const scaled = this.#rollout.scale(service, replicas);
    // Nothing is under way here that a container would have to finish first.
    for (const container of this.#state.containers)
      if (container.isDraining && !container.isGone) this.#rollout.remove(container);
    return scaled;
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
    let cpuUsed = 0;
    for (const container of containers) cpuUsed += container.clock.used;
    this.#rollout.settlePaid(now);
    const last = this.#lastLook;
    const paid = Float64Array.from(this.#rollout.paid);
    this.#lastLook = { at: now, cpuUsed, paid };
    return {
      from: milliseconds(this.#options.start + last.at),
      to: this.now,
      requests: this.#counts.truth(),
      limits: asLimits(paid.map((amount, r) => amount - last.paid[r]!)),
      cpuUsed: (cpuUsed - last.cpuUsed) / 1_000,
    };
  }

  #reader() {
    const { program, containers } = this.#state;
    const { options, rollout, machines, flows } = {
      options: this.#options,
      rollout: this.#rollout,
      machines: this.#machines,
      flows: this.#flows,
    };
    return {
      program,
      containers,
      options,
      rollout,
      machines,
      flows,
      at: Math.floor(this.#state.now / FLUID_STEP) * FLUID_STEP,
    };
  }

  /** The second that ends now. */
  #step(): void {
    const state = this.#state;
    const { now, events } = state;
    const began = now - FLUID_STEP;
    // Stressors of the second are those at its middle.
    const wasDisturbed = this.#disturbances.apply(this, began + FLUID_STEP / 2);
    this.#draw(began);
    if (wasDisturbed || this.#flows.isAnyBusy) this.#machines.divideAll(now, events);
    this.#flows.step(FLUID_STEP);
    this.#account();
    this.#samples.take(now);
    events.schedule(now + FLUID_STEP, EVENT.epoch, 0);
  }

  /** How many come in the second: Poisson around a rate that bursts every 15 s as much as the load's dispersion says. */
  #draw(began: number): void {
    const { load, start } = this.#options;
    const rng = this.#rng;
    const perSecond = rateAt(load, start + began);
    if (began >= this.#burstUntil) {
      this.#burstUntil = began + DISPERSION_SPAN;
      const extra = Math.max(0, load.dispersion - 1);
      for (let type = 0; type < this.#bursts.length; type++) {
        const mean = (perSecond * this.#program.mix[type]! * DISPERSION_SPAN) / 1_000;
        // A lognormal factor of the same mean and variance as the event rung's gamma.
        const sigma = mean > 0 ? Math.sqrt(Math.log(1 + extra / mean)) : 0;
        this.#bursts[type] = sigma === 0 ? 1 : Math.exp(sigma * rng.normal() - (sigma * sigma) / 2);
      }
    }
    for (let type = 0; type < this.#bursts.length; type++) {
      const mean = perSecond * this.#program.mix[type]! * this.#bursts[type]! * (1 + this.extraLoad[type]!);
      // Queues get the rate: they have the chance of single arrivals in them already.
      this.#flows.rates[type] = mean / FLUID_STEP;
      this.#counts.arrivals[type] = Math.max(0, Math.round(mean + Math.sqrt(mean) * rng.normal()));
    }
  }

  /** What containers have drawn in the second, for their counters. */
  #account(): void {
    for (const members of this.#state.ready) {
      for (const container of members) {
        const { work } = this.#flows.doneIn(container);
        const { memory, io, network } = container.profile;
        container.workDone += work;
        container.clock.used += (work * container.profile.cpu) / container.speed;
        this.#flows.stationOf(container)?.countPeriods();
        container.drawn[MEMORY]! += (work * memory.share * memory.rate * container.slowdown.misses) / 1_000;
        container.drawn[IO]! += (work * io.share * io.rate) / 1_000;
        container.drawn[NETWORK]! += (work * network.share * network.rate) / 1_000;
      }
    }
  }
}
