/**
 * What telemetry says of the fluid rung: the last whole step, with the pipeline's noise and holes.
 * Owns: readings in the shapes of the event rung. They are made when somebody asks, since a step has no time for it.
 */
import { type Ms, milliseconds, type Ratio } from "../../../base/index.ts";
import type { InstanceReading, WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { PodSample, Sample } from "../../cluster/metrics/pipeline.ts";
import { normalFrom, uniform } from "../../draws.ts";
import { CPU, IO, LLC, MEMORY, NETWORK } from "../calibration.ts";
import type { Container } from "../event/container.ts";
import type { Machines } from "../event/machines.ts";
import type { Rollout } from "../event/rollout.ts";
import { countersOf, memoryLimitOf, readingOf } from "../event/scrape.ts";
import { asLimits, boundsOf } from "../limits.ts";
import type { Program } from "../program.ts";
import type { FilledOptions } from "../spec.ts";
import type { Flows } from "./flows.ts";

export interface FluidReader {
  readonly program: Program;
  readonly options: FilledOptions;
  readonly rollout: Rollout;
  readonly machines: Machines;
  readonly flows: Flows;
  /** The end of the last whole step. */
  readonly at: number;
}

/** Share of the limit that is used, by resource; null where the sample is missing, or nothing has happened yet. */
function useOf(container: Container, { flows, options, at }: FluidReader): InstanceReading["use"] {
  const { seed, metrics } = options;
  const step = at / 1_000;
  if (at === 0 || uniform(seed ^ container.index, step, 0) < metrics.missing) return null;
  const noisy = (value: number, purpose: number): Ratio => {
    const normal = normalFrom(
      uniform(seed ^ container.index, step, purpose),
      uniform(seed ^ container.index, step, purpose + 8),
    );
    return (value * Math.exp(metrics.noise * normal - metrics.noise ** 2 / 2)) as Ratio;
  };
  const { profile, limits, stress, slowdown, speed } = container;
  const { memory, io, network, workingSet } = profile;
  // Milliseconds of work per millisecond.
  const work = flows.doneIn(container).work / 1_000;
  const flow = (drawn: number, resource: number): number =>
    Math.min(1, (drawn + stress[resource]!) / limits[resource]!);
  return {
    cpu: noisy(Math.min(1, ((work * profile.cpu) / speed + stress[CPU]!) / limits[CPU]!), 1),
    memory: noisy(flow(work * memory.share * memory.rate * slowdown.misses, MEMORY), 2),
    llc: Math.min(1, (workingSet + stress[LLC]!) / limits[LLC]!) as Ratio,
    io: noisy(flow(work * io.share * io.rate, IO), 3),
    network: noisy(flow(work * network.share * network.rate, NETWORK), 4),
  };
}

export function readInstances(reader: FluidReader): readonly InstanceReading[] {
  const { program, rollout, machines, options, at, flows } = reader;
  return rollout.members.flatMap((members, service) =>
    members.map((container): InstanceReading => {
      const use = useOf(container, reader);
      const { lower, upper } = boundsOf(container.defaults);
      container.busy = Math.round(flows.stationOf(container)?.busy ?? 0);
      return {
        instance: container.name,
        service: program.names[service] as string,
        node: machines.all[container.node]!.spec.name,
        at: milliseconds(options.start + at),
        isReady: container.readyAt !== null,
        limits: asLimits(container.limits),
        lower: asLimits(lower),
        upper: asLimits(upper),
        threads: container.threads,
        use,
        counters: use === null ? null : countersOf(container, flows.stationOf(container)?.peak ?? 0),
      };
    }),
  );
}

export function readService(service: number, reader: FluidReader): WorkloadReading {
  const { program, rollout, options, at, flows } = reader;
  const { start } = options;
  const members = rollout.members[service] as readonly Container[];
  const pods: PodSample[] = [];
  let latency = 0;
  let refused = 0;
  for (const container of members) {
    const use = useOf(container, reader);
    const station = flows.stationOf(container);
    latency = Math.max(latency, station?.passTime ?? 0);
    refused += (station?.refused ?? 0) / members.length;
    if (use === null) continue;
    const { limits } = container;
    pods.push({
      pod: container.name,
      cpu: use.cpu * limits[CPU]! * 1_000,
      memory: countersOf(container, 0).memoryUsageBytes,
      io: use.io * limits[IO]! * 1e6,
      network: use.network * limits[NETWORK]! * 1e6,
      cpuLimit: limits[CPU]! * 1_000,
      memoryLimit: memoryLimitOf(container),
    });
  }
  const offered = flows.callsPerSecond(service);
  const sample: Sample | undefined =
    at === 0
      ? undefined
      : {
          at,
          pods,
          // Of a service this rung knows the mean only; clients' percentiles are sampled.
          ingress: { latency: latency as Ms, offered, completed: offered * (1 - refused), failed: offered * refused },
        };
  return readingOf(service, { program, rollout, start, sample });
}
