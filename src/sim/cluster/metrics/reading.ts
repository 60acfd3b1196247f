/**
 * A reading of what the pipeline delivered and of what the API server says, the same for both rungs.
 * Owns: putting them together. What the API server says is never late; measurements are.
 */
import type { Allocation } from "../../../act/index.ts";
import type { Bytes, Millicores, Ms, PerSecond, Ratio, WorkloadId } from "../../../base/index.ts";
import type { OomKill, WorkloadReading } from "../../../observe/telemetry/index.ts";
import { podGrants } from "./config.ts";
import type { PodSample, Sample } from "./pipeline.ts";

/** A pod as the API server knows it. */
export interface PodStatus {
  readonly pod: string;
  readonly createdAt: number;
  readonly readyAt: number | null;
  readonly cpuLimit: number;
  readonly memoryLimit: number;
  readonly restarts: number;
}

export interface ReadingParts {
  readonly workload: WorkloadId;
  readonly asked: Allocation;
  readonly pods: readonly PodStatus[];
  readonly ooms: readonly OomKill[];
  readonly sample: Sample | undefined;
  /** Added to the sample's own time; and the time of a reading that has no sample yet. */
  readonly start: number;
}

export function assembleReading({ workload, asked, pods, ooms, sample, start }: ReadingParts): WorkloadReading {
  const ingress = sample?.ingress ?? null;
  return {
    workload,
    at: (start + (sample?.at ?? 0)) as Ms,
    spec: { replicas: asked.replicas, cpu: asked.cpu, memory: asked.memory },
    pods: pods.map((status) => {
      const measured = sample?.pods.get(status.pod);
      return {
        pod: status.pod,
        createdAt: status.createdAt as Ms,
        readyAt: status.readyAt as Ms | null,
        cpuLimit: status.cpuLimit as Millicores,
        memoryLimit: status.memoryLimit as Bytes,
        cpu: (measured?.cpu ?? null) as Millicores | null,
        memory: (measured?.memory ?? null) as Bytes | null,
        restarts: status.restarts,
      };
    }),
    use: useOf([...(sample?.pods.values() ?? [])]),
    latency: (ingress?.latency ?? null) as Ms | null,
    offered: (ingress?.offered ?? null) as PerSecond | null,
    completed: (ingress?.completed ?? null) as PerSecond | null,
    failed: (ingress?.failed ?? null) as PerSecond | null,
    ooms,
  };
}

/** Over the pods that were measured, against the limits they had when they were. */
function useOf(samples: readonly PodSample[]): WorkloadReading["use"] {
  if (samples.length === 0) return { cpu: null, memory: null, io: null, network: null };
  const share = (use: (sample: PodSample) => number, limit: (sample: PodSample) => number): Ratio => {
    let [used, granted] = [0, 0];
    for (const sample of samples) {
      used += use(sample);
      granted += limit(sample);
    }
    return (used / granted) as Ratio;
  };
  return {
    cpu: share(
      ({ cpu }) => cpu,
      ({ cpuLimit }) => cpuLimit,
    ),
    memory: share(
      ({ memory }) => memory,
      ({ memoryLimit }) => memoryLimit,
    ),
    io: share(
      ({ io }) => io,
      () => podGrants.io,
    ),
    network: share(
      ({ network }) => network,
      () => podGrants.network,
    ),
  };
}
