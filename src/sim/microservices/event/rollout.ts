/**
 * Containers' lives: placed, started cold or warm, resized, drained.
 * Owns: what is asked for and when it takes effect (Table 3.5). Not here: requests (call-flow.ts), sharing (machines.ts).
 */
import type { Limits, Result, Rng } from "../../../base/index.ts";
import { err, failure, ok, resources } from "../../../base/index.ts";
import { mechanics } from "../../cluster/mechanics.ts";
import { CPU, operationLatency, RESOURCE_COUNT } from "../calibration.ts";
import { fullStressOf } from "../disturbances.ts";
import { asLimits, boundsOf } from "../limits.ts";
import type { FlowState } from "./call-flow.ts";
import { Container, EVENT } from "./container.ts";
import type { Machine, Machines } from "./machines.ts";

interface LimitChange {
  readonly container: Container;
  readonly resource: number;
  readonly limit: number;
}

export interface RolloutOptions {
  readonly state: FlowState;
  readonly machines: Machines;
  readonly rng: Rng;
  /** By service: limits that a new container gets; and those that bounds are derived from. */
  readonly limits: readonly Float64Array[];
  readonly defaults: readonly Float64Array[];
}

export class Rollout {
  readonly asked: Int32Array;
  readonly #options: RolloutOptions;
  /** By service: those that are there or starting, not those that drain. */
  readonly members: Container[][];
  readonly #names = new Map<string, Container>();
  readonly #made: Int32Array;
  readonly #changes: (LimitChange | undefined)[] = [];
  readonly #freeChanges: number[] = [];
  readonly #latencies: Rng;
  readonly #phases: Rng;
  /** Limits in force integrated over time: what is paid for. */
  readonly paid = new Float64Array(RESOURCE_COUNT);
  #inForce = new Float64Array(RESOURCE_COUNT);
  #paidAt = 0;

  constructor(options: RolloutOptions) {
    this.#options = options;
    const { program } = options.state;
    this.asked = new Int32Array(program.names.length);
    this.members = program.names.map(() => []);
    this.#made = new Int32Array(program.names.length);
    this.#latencies = options.rng.fork("latencies");
    this.#phases = options.rng.fork("phases");
  }

  /** Ready at once, for the beginning of a world; wherever there is most room, even where there is too little. */
  begin(service: number, replicas: number): void {
    this.asked[service] = replicas;
    for (let i = 0; i < replicas; i++) {
      const container = this.#place(service, this.#options.machines.placeFor(this.#limitsOf(service)).machine);
      this.becomeReady(container);
    }
  }

  becomeReady(container: Container): void {
    if (container.isDraining || container.isGone) return;
    const { state } = this.#options;
    container.readyAt = state.now;
    state.ready[container.service]!.push(container);
  }

  find(instance: string): Container | undefined {
    const found = this.#names.get(instance);
    return found?.isGone === true ? undefined : found;
  }

  instance(service: string, replica: number): Container | undefined {
    const index = this.#options.state.program.names.indexOf(service);
    return index < 0 ? undefined : this.members[index]?.find((container) => container.replica === replica);
  }

  scale(service: string, replicas: number): Result<number> {
    const { state, machines } = this.#options;
    const index = state.program.names.indexOf(service);
    if (index < 0) return err(unknown("service", service));
    if (!(Number.isInteger(replicas) && replicas >= 1))
      return err(
        failure("microservices.replicas", `${service} cannot have ${replicas} replicas: give a whole number from 1`),
      );
    const members = this.members[index] as Container[];
    while (members.length > replicas) this.#drain(members.pop() as Container);
    while (members.length < replicas) {
      const { machine, hasRoom } = machines.placeFor(this.#limitsOf(index));
      if (!hasRoom) {
        this.asked[index] = members.length;
        return err(
          failure("microservices.no-room", `no node has room for one more ${service}: lower limits somewhere first`),
        );
      }
      const isWarm = machine.images.has(index);
      const container = this.#place(index, machine);
      const wait = this.#draw(isWarm ? operationLatency.warmStart : operationLatency.coldStart);
      state.events.schedule(state.now + wait, EVENT.started, container.index);
    }
    this.asked[index] = replicas;
    return ok(replicas);
  }

  setLimits(instance: string, wanted: Partial<Limits>): Result<Limits> {
    const container = this.find(instance);
    if (container === undefined || container.isDraining) return err(unknown("instance", instance));
    const { state, machines } = this.#options;
    const machine = machines.all[container.node] as Machine;
    const { lower, upper } = boundsOf(container.defaults);
    const next = Float64Array.from(container.asked);
    for (const [r, resource] of resources.entries()) {
      const limit = wanted[resource];
      if (limit === undefined) continue;
      if (!(limit > 0 && Number.isFinite(limit)))
        return err(failure("microservices.limit", `the limit ${limit} of ${resource} of ${instance} is no amount`));
      next[r] = Math.min(Math.max(limit, lower[r]!), upper[r]!);
      const more = next[r]! - container.asked[r]!;
      if (more > machine.room(r) + 1e-9)
        return err(
          failure(
            "microservices.no-room",
            `node ${machine.spec.name} has not so much ${resource} left for ${instance}: scale out instead`,
          ),
        );
    }
    for (let r = 0; r < RESOURCE_COUNT; r++) {
      if (next[r] === container.asked[r]) continue;
      container.asked[r] = next[r]!;
      const wait = this.#draw(operationLatency[resources[r]!]);
      state.events.schedule(
        state.now + wait,
        EVENT.limitSet,
        this.#remember({ container, resource: r, limit: next[r]! }),
      );
    }
    return ok(asLimits(next));
  }

  limitSet(index: number): void {
    const change = this.#changes[index] as LimitChange;
    this.#changes[index] = undefined;
    this.#freeChanges.push(index);
    const { container, resource, limit } = change;
    if (container.isGone) return;
    const { state, machines } = this.#options;
    this.#pay(state.now);
    this.#inForce[resource]! += limit - container.limits[resource]!;
    container.settle(state.now);
    container.limits[resource] = limit;
    if (resource === CPU) container.clock.setLimit(limit);
    machines.divide(machines.all[container.node] as Machine, state.now, state.events);
    container.plan(state.events);
  }

  /** A container that drains has nothing left to do. */
  remove(container: Container): void {
    if (container.isGone) return;
    const { state, machines } = this.#options;
    this.#pay(state.now);
    for (let r = 0; r < RESOURCE_COUNT; r++) this.#inForce[r]! -= container.limits[r]!;
    container.isGone = true;
    const tenants = (machines.all[container.node] as Machine).tenants;
    tenants.splice(tenants.indexOf(container), 1);
  }

  /** Brings what is paid for up to now. */
  settlePaid(now: number): void {
    this.#pay(now);
  }

  #drain(container: Container): void {
    container.isDraining = true;
    const { state } = this.#options;
    const ready = state.ready[container.service] as Container[];
    const at = ready.indexOf(container);
    if (at >= 0) ready.splice(at, 1);
    if (container.held === 0) this.remove(container);
  }

  #limitsOf(service: number): Float64Array {
    return this.#options.limits[service] as Float64Array;
  }

  #place(service: number, machine: Machine): Container {
    const { state, defaults } = this.#options;
    const { program, containers, now } = state;
    const replica = this.#made[service]!++;
    const limits = Float64Array.from(this.#limitsOf(service));
    const container = new Container({
      index: containers.length,
      service,
      replica,
      name: `${program.names[service] as string}-${replica}`,
      node: machine.index,
      profile: program.profiles[service]!,
      speed: machine.speed,
      threads: program.threads[service]!,
      queueLimit: program.queue[service]!,
      defaults: defaults[service] as Float64Array,
      fullStress: fullStressOf(defaults[service] as Float64Array, machine),
      limits,
      at: now,
      quotaPhase: (1 - this.#phases.next()) * mechanics.quotaPeriod,
    });
    containers.push(container);
    machine.tenants.push(container);
    machine.images.add(service);
    this.members[service]!.push(container);
    this.#names.set(container.name, container);
    this.#pay(now);
    for (let r = 0; r < RESOURCE_COUNT; r++) this.#inForce[r]! += limits[r]!;
    return container;
  }

  #remember(change: LimitChange): number {
    const slot = this.#freeChanges.pop() ?? this.#changes.length;
    this.#changes[slot] = change;
    return slot;
  }

  #draw({ mean, deviation }: { readonly mean: number; readonly deviation: number }): number {
    return Math.max(mean / 10, mean + deviation * this.#latencies.normal());
  }

  #pay(now: number): void {
    const span = (now - this.#paidAt) / 1_000;
    this.#paidAt = now;
    for (let r = 0; r < RESOURCE_COUNT; r++) this.paid[r]! += span * this.#inForce[r]!;
  }
}

const unknown = (what: string, name: string) =>
  failure(
    "microservices.unknown-target",
    `there is no ${what} ${name} in this world: it was removed, or check its name`,
  );
