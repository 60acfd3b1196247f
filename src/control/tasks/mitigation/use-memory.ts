/**
 * What containers have lately used at most, which headroom is a factor on, and the limits that they were deployed with.
 * Owns: the highest of the last readings, by container and resource. One second's use is a poor guide to the next one's
 * peak, and a limit that follows it down throttles whoever comes then. Of CPU it is the busiest quota period: a container
 * that rests most of the time still needs a whole core for the moment in which it does not.
 */
import type { Limits } from "../../../base/index.ts";
import type { InstanceReading } from "../../../observe/telemetry/index.ts";
import { amounts } from "./service-reading.ts";

/** Readings that count: ten seconds of them at the usual rhythm. */
const REMEMBERED = 10;

export class UseMemory {
  readonly #readings = new Map<string, Limits[]>();
  readonly #deployed = new Map<string, Limits>();

  /** One interval's readings. Containers that are not among them are forgotten; a missing sample leaves what is known. */
  note(instances: readonly InstanceReading[]): void {
    const seen = new Set<string>();
    for (const { instance, limits, use, counters } of instances) {
      seen.add(instance);
      if (!this.#deployed.has(instance)) this.#deployed.set(instance, limits);
      if (use === null) continue;
      const own = this.#readings.get(instance) ?? [];
      this.#readings.set(instance, own);
      const busiest = counters?.cpuPeakCores ?? 0;
      own.push(
        amounts((resource) => {
          const mean = limits[resource] * Math.min(1, use[resource]);
          return resource === "cpu" ? Math.max(mean, busiest) : mean;
        }),
      );
      if (own.length > REMEMBERED) own.shift();
    }
    for (const instance of this.#deployed.keys()) {
      if (seen.has(instance)) continue;
      this.#deployed.delete(instance);
      this.#readings.delete(instance);
    }
  }

  /** The limits that it was first seen with, before anybody here changed them. */
  deployedWith({ instance, limits }: InstanceReading): Limits {
    return this.#deployed.get(instance) ?? limits;
  }

  /** Its limits where nothing is known of it: all may be in use. */
  peakOf({ instance, limits }: InstanceReading): Limits {
    const own = this.#readings.get(instance);
    if (own === undefined) return limits;
    return amounts((resource) => Math.max(...own.map((reading) => reading[resource])));
  }
}
