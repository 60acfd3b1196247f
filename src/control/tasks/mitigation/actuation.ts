/**
 * Setting the limits and replicas of whole services in a world of containers.
 * Owns: what was asked for a service last, so that all its containers get it, those that start later as well.
 * Not here: whether it may be done (act/guard.ts), the world (port.ts).
 */
import type { Action, Actuator, Setting } from "../../../act/index.ts";
import type { Failure, Limits, Ms, Result, WorkloadId } from "../../../base/index.ts";
import { err, failure, ok, resources } from "../../../base/index.ts";
import type { InstanceReading } from "../../../observe/telemetry/index.ts";
import type { ServiceSetting } from "./action.ts";
import type { ServicesPort } from "./port.ts";
import { amounts } from "./service-reading.ts";

export interface ActuationOptions {
  readonly port: Pick<ServicesPort, "now" | "readInstances" | "setLimits" | "scale">;
  /** Undefined where no such workload is a service here. */
  readonly serviceOf: (workload: WorkloadId) => string | undefined;
}

interface Asked {
  limits: Limits;
  replicas: number;
  /** Containers that have been given the limits. */
  readonly given: Set<string>;
}

export class ServiceActuation {
  readonly #options: ActuationOptions;
  readonly #asked = new Map<string, Asked>();
  /** Who is there at a moment: reading all containers for each of forty services takes longer than all the rest. */
  #there: { readonly at: Ms; readonly instances: readonly InstanceReading[] } | null = null;

  constructor(options: ActuationOptions) {
    this.#options = options;
  }

  read(workload: WorkloadId): Result<ServiceSetting> {
    const found = this.#find(workload);
    if (!found.ok) return found;
    const { asked, containers } = found.value;
    const late = this.#giveNewcomers(asked, containers);
    return late === undefined ? ok(settingOf(asked)) : err(late);
  }

  apply(action: Action): Result<ServiceSetting> {
    const found = this.#find(action.workload);
    if (!found.ok) return found;
    const { service, asked, containers } = found.value;
    if (action.kind === "hold") return ok(settingOf(asked));
    const { port } = this.#options;
    const changed: Partial<Record<keyof Limits, number>> = {};
    for (const resource of resources) {
      const to = action.set[resource];
      if (to !== undefined && to !== asked.limits[resource]) changed[resource] = to;
    }
    if (Object.keys(changed).length > 0) {
      for (const { instance } of containers) {
        const done = port.setLimits(instance, changed);
        if (!done.ok) return done;
        asked.given.add(instance);
      }
      asked.limits = amounts((resource) => changed[resource] ?? asked.limits[resource]);
    }
    const { replicas } = action.set;
    if (replicas !== undefined && replicas !== asked.replicas) {
      const done = port.scale(service, replicas);
      if (!done.ok) return done;
      asked.replicas = replicas;
      this.#there = null;
    }
    return ok(settingOf(asked));
  }

  #find(
    workload: WorkloadId,
  ): Result<{ readonly service: string; readonly asked: Asked; readonly containers: readonly InstanceReading[] }> {
    const service = this.#options.serviceOf(workload);
    const containers = this.#instances().filter((one) => one.service === service);
    const [first] = containers;
    if (service === undefined || first === undefined)
      return err(failure("actuator.unknown-workload", `there is no container of ${workload}`));
    let asked = this.#asked.get(service);
    if (asked === undefined) {
      asked = {
        limits: first.limits,
        replicas: containers.length,
        given: new Set(containers.map(({ instance }) => instance)),
      };
      this.#asked.set(service, asked);
    }
    return ok({ service, asked, containers });
  }

  #instances(): readonly InstanceReading[] {
    const { port } = this.#options;
    if (this.#there?.at !== port.now) this.#there = { at: port.now, instances: port.readInstances() };
    return this.#there.instances;
  }

  /** A container that starts has the world's own limits until it is told. Why it could not be, where it could not. */
  #giveNewcomers(asked: Asked, containers: readonly InstanceReading[]): Failure | undefined {
    const { port } = this.#options;
    for (const { instance } of containers) {
      if (asked.given.has(instance)) continue;
      const done = port.setLimits(instance, asked.limits);
      // Its node may have no room for so much: then it keeps what it has, and the next change is tried again.
      if (!done.ok && done.failure.retry) return done.failure;
      asked.given.add(instance);
    }
    if (asked.given.size > containers.length) {
      const there = new Set(containers.map(({ instance }) => instance));
      for (const instance of asked.given) if (!there.has(instance)) asked.given.delete(instance);
    }
    return undefined;
  }
}

const settingOf = ({ limits, replicas }: Asked): ServiceSetting => ({
  cpu: limits.cpu,
  memory: limits.memory,
  llc: limits.llc,
  io: limits.io,
  network: limits.network,
  replicas,
});

/** The same as the loop's port. */
export function servicesActuator(actuation: ServiceActuation): Actuator {
  const given = (signal: AbortSignal): Result<never> | undefined =>
    signal.aborted
      ? err(failure("actuator.aborted", "the action was given up before it was done", { retry: true }))
      : undefined;
  return {
    read: async (workload, signal) => given(signal) ?? (actuation.read(workload) as Result<Setting>),
    apply: async (action, signal) => given(signal) ?? (actuation.apply(action) as Result<Setting>),
  };
}
