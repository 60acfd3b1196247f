/**
 * Nodes and what runs on them: who gets how much of what is shared, and where a new container goes.
 * Owns: demand by epoch, max–min shares, room. Not here: containers' lives (rollout.ts), the formula (../slowdown.ts).
 *
 * Contention on a node is settled once per epoch from what its containers wanted in the last ones. Between two epochs a
 * container's own requests come and go at full detail; that its neighbours' do is seen with a delay of an epoch, which is
 * how long caches and memory controllers take to be filled by somebody else.
 */
import type { NodeReading } from "../../../observe/telemetry/index.ts";
import type { EventQueue } from "../../engine/index.ts";
import { maxMinShares, reachOf, type Sharing } from "../../sharing.ts";
import { CPU, DEMAND_SMOOTHING, IO, LLC, MEMORY, NETWORK, NODE_EPOCH, RESOURCE_COUNT } from "../calibration.ts";
import { type DisturbedNode, isLimited, newStress } from "../disturbances.ts";
import { asLimits } from "../limits.ts";
import { type MicroserviceNode, processorClasses } from "../nodes.ts";
import type { Container } from "./container.ts";

export class Machine implements DisturbedNode {
  readonly index: number;
  readonly spec: MicroserviceNode;
  readonly speed: number;
  readonly hasPartitions: boolean;
  readonly capacity: ArrayLike<number>;
  readonly stress = newStress();
  threads = 0;
  readonly tenants: Container[] = [];
  /** Services whose image is here: they start warm. */
  readonly images = new Set<number>();

  constructor(index: number, spec: MicroserviceNode) {
    this.index = index;
    this.spec = spec;
    const { speed, hasPartitions } = processorClasses[spec.processor];
    this.speed = speed;
    this.hasPartitions = hasPartitions;
    this.capacity = spec.capacity;
  }

  /** What is not promised to anybody. */
  room(resource: number): number {
    let left = this.capacity[resource]!;
    for (const tenant of this.tenants) left -= tenant.asked[resource]!;
    return left;
  }

  hasRoomFor(limits: ArrayLike<number>): boolean {
    for (let r = 0; r < RESOURCE_COUNT; r++) if (limits[r]! > this.room(r) + 1e-9) return false;
    return true;
  }
}

const ROOM = 64;

export class Machines {
  readonly all: readonly Machine[];
  #demands = new Float64Array(ROOM);
  #weights = new Float64Array(ROOM);
  #given = new Float64Array(ROOM);
  readonly #rest: Sharing = { slack: 0, level: 0 };

  constructor(nodes: readonly MicroserviceNode[]) {
    this.all = nodes.map((spec, index) => new Machine(index, spec));
  }

  read(): readonly NodeReading[] {
    return this.all.map((machine) => ({
      node: machine.spec.name,
      capacity: asLimits(machine.capacity),
      room: asLimits(Float64Array.from(machine.capacity, (_, resource) => machine.room(resource))),
    }));
  }

  /** The emptiest by CPU that has room for all five limits; the emptiest of all where none has. */
  placeFor(limits: ArrayLike<number>): { readonly machine: Machine; readonly hasRoom: boolean } {
    const free = (machine: Machine): number => machine.room(CPU) / machine.capacity[CPU]!;
    const emptiest = (from: readonly Machine[]): Machine | undefined =>
      from.reduce<Machine | undefined>(
        (best, one) => (best === undefined || free(one) > free(best) ? one : best),
        undefined,
      );
    const fitting = emptiest(this.all.filter((machine) => machine.hasRoomFor(limits)));
    return { machine: fitting ?? (emptiest(this.all) as Machine), hasRoom: fitting !== undefined };
  }

  /** Takes note of what every container wanted since the last epoch; before stressors change. */
  settle(now: number): void {
    for (const { tenants } of this.all) {
      for (const container of tenants) {
        container.settle(now);
        container.refreshDemand(NODE_EPOCH, DEMAND_SMOOTHING);
      }
    }
  }

  divideAll(now: number, events: EventQueue): void {
    for (const machine of this.all) this.divide(machine, now, events);
  }

  /** From what its containers want now; after a limit or a stressor has changed as well. */
  divide(machine: Machine, now: number, events: EventQueue): void {
    const { tenants, stress, threads, capacity, hasPartitions } = machine;
    const count = tenants.length + 1;
    if (count > this.#demands.length) this.#grow(count);
    for (let r = 0; r < RESOURCE_COUNT; r++) {
      const limited = isLimited(r, hasPartitions);
      for (let i = 0; i < tenants.length; i++) {
        const tenant = tenants[i]!;
        const wanted = demandOf(tenant, r);
        this.#demands[i] = limited ? Math.min(tenant.limits[r]!, wanted) : wanted;
        this.#weights[i] = r === CPU ? tenant.limits[CPU]! : 1;
      }
      this.#demands[count - 1] = stress[r]!;
      this.#weights[count - 1] = Math.max(1, threads);
      const problem = { capacity: capacity[r]!, count, demands: this.#demands, weights: this.#weights };
      maxMinShares(problem, this.#given, this.#rest);
      for (let i = 0; i < tenants.length; i++) {
        const tenant = tenants[i]!;
        const reach = reachOf(this.#given[i]!, this.#weights[i]!, this.#rest);
        // CPU limits are the quota's business, not the share's.
        tenant.shares[r] = limited && r !== CPU ? Math.min(tenant.limits[r]!, reach) : reach;
      }
    }
    for (let i = 0; i < tenants.length; i++) {
      const tenant = tenants[i]!;
      tenant.settle(now);
      if (tenant.reshare()) tenant.plan(events);
    }
  }

  #grow(count: number): void {
    this.#demands = new Float64Array(count * 2);
    this.#weights = new Float64Array(count * 2);
    this.#given = new Float64Array(count * 2);
  }
}

/** What a container would draw if nothing were short. */
function demandOf({ profile, speed, demand, stress, slowdown }: Container, resource: number): number {
  switch (resource) {
    case CPU:
      return (demand * profile.cpu) / speed + stress[CPU]!;
    case MEMORY:
      return demand * profile.memory.share * profile.memory.rate * slowdown.misses + stress[MEMORY]!;
    case LLC:
      return profile.workingSet + stress[LLC]!;
    case IO:
      return demand * profile.io.share * profile.io.rate + stress[IO]!;
    case NETWORK:
      return demand * profile.network.share * profile.network.rate + stress[NETWORK]!;
    default:
      return 0;
  }
}
