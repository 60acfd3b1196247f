/**
 * What injected anomalies want of a world at a moment.
 * Owns: the step from an intensity to demand, delay and load, the same for both rungs; the list of injections in force.
 * Not here: kinds, targets and patterns (act/faults), what demand does (slowdown.ts).
 */
import { endOf, type FaultKind, type Injection, intensityAt } from "../../act/faults/index.ts";
import { CPU, IO, LLC, MEMORY, NETWORK, RESOURCE_COUNT } from "./calibration.ts";

export const disturbanceScale = {
  /**
   * Demand of a stressor in a container at full intensity, over the container's default limit: of CPU, of what flows, of
   * cache. Assumed [1..5], [4..32], [4..32]: at full intensity an injector takes "all possible resources" (FIRM 3.3.2).
   */
  cpu: 3,
  flow: 16,
  cache: 24,
  /** Where a machine cannot limit a resource, a stressor is bound by the machine only: over its capacity. Assumed [2..5]. */
  unlimited: 3,
  /** Mean of the added delay per message at full intensity, ms, and its deviation over the mean. Assumed [5..100], [0..0.5]. */
  delay: 20,
  delayVariation: 0.25,
  /** Requests added at full intensity, over those that come anyway. Assumed [1..5]. */
  load: 3,
} as const;

const resourceOf: { readonly [K in FaultKind]: number } = {
  "workload-variation": -1,
  "network-delay": -1,
  cpu: CPU,
  llc: LLC,
  "memory-bandwidth": MEMORY,
  "io-bandwidth": IO,
  "network-bandwidth": NETWORK,
};

/** A container as far as it can be disturbed. */
export interface Disturbed {
  readonly stress: Float64Array;
  /** Mean added delay of a message to or from it, ms. */
  delay: number;
  /** By resource: what a stressor in it wants at full intensity. */
  readonly fullStress: ArrayLike<number>;
}

export interface DisturbedNode {
  /** Demand of a tenant without limits, by resource, and the threads it has for it. */
  readonly stress: Float64Array;
  threads: number;
  readonly capacity: ArrayLike<number>;
  readonly tenants: readonly Disturbed[];
}

export interface Disturbable {
  instance(service: string, replica: number): Disturbed | undefined;
  node(name: string): DisturbedNode | undefined;
  /** Factor on the load that comes anyway, by request type. */
  readonly extraLoad: Float64Array;
  readonly requestNames: readonly string[];
}

export class Disturbances {
  #injections: Injection[] = [];
  #touched: Disturbed[] = [];
  #touchedNodes: DisturbedNode[] = [];

  /** In the place of one with the same id, if there is such a one: so an injection is called off before its time. */
  add(injection: Injection): void {
    const at = this.#injections.findIndex(({ id }) => id === injection.id);
    if (at < 0) this.#injections.push(injection);
    else this.#injections[at] = injection;
  }

  get size(): number {
    return this.#injections.length;
  }

  /** Sets what all of them want at a moment; what was wanted before is gone. False when nothing was and is wanted. */
  apply(world: Disturbable, now: number): boolean {
    const had = this.#touched.length + this.#touchedNodes.length;
    for (const container of this.#touched) {
      container.stress.fill(0);
      container.delay = 0;
    }
    for (const node of this.#touchedNodes) {
      node.stress.fill(0);
      node.threads = 0;
    }
    world.extraLoad.fill(0);
    this.#touched = [];
    this.#touchedNodes = [];
    if (this.#injections.length === 0) return had > 0;
    for (const injection of this.#injections) {
      const intensity = intensityAt(injection, now);
      if (intensity > 0) this.#applyOne(world, injection, intensity);
    }
    this.#injections = this.#injections.filter((injection) => endOf(injection) > now);
    return true;
  }

  #applyOne(world: Disturbable, { kind, target }: Injection, intensity: number): void {
    if (target.on === "requests") {
      for (const [type, name] of world.requestNames.entries())
        if (target.request === "all" || target.request === name)
          world.extraLoad[type]! += intensity * disturbanceScale.load;
      return;
    }
    const resource = resourceOf[kind];
    if (target.on === "instance") {
      const container = world.instance(target.service, target.replica);
      if (container === undefined) return;
      this.#touched.push(container);
      if (resource >= 0) container.stress[resource]! += intensity * container.fullStress[resource]!;
      else container.delay += intensity * disturbanceScale.delay;
      return;
    }
    const node = world.node(target.node);
    if (node === undefined) return;
    if (resource < 0) {
      for (const container of node.tenants) {
        this.#touched.push(container);
        container.delay += intensity * disturbanceScale.delay;
      }
      return;
    }
    this.#touchedNodes.push(node);
    node.stress[resource]! += intensity * node.capacity[resource]!;
    // As many threads as cores it keeps busy: each is a tenant like any other when what is short is divided.
    node.threads = Math.max(node.threads, intensity * node.capacity[CPU]!);
  }
}

/** Of a container with these default limits on a machine. */
export function fullStressOf(
  defaults: ArrayLike<number>,
  { capacity, hasPartitions }: { readonly capacity: ArrayLike<number>; readonly hasPartitions: boolean },
): Float64Array {
  const { cpu, flow, cache, unlimited } = disturbanceScale;
  return Float64Array.from(defaults, (limit, r) => {
    if (r === CPU) return cpu * limit;
    if (!isLimited(r, hasPartitions)) return unlimited * capacity[r]!;
    return (r === LLC ? cache : flow) * limit;
  });
}

/** Memory bandwidth and cache need a processor that can divide them; the kernel limits the others everywhere. */
export const isLimited = (resource: number, hasPartitions: boolean): boolean =>
  hasPartitions || (resource !== MEMORY && resource !== LLC);

export const newStress = (): Float64Array => new Float64Array(RESOURCE_COUNT);
