/**
 * A reading of what the pipeline delivered and of what the API server says, the same for both rungs.
 * Owns: putting them together. What the API server says is never late; measurements are.
 */
import type { Allocation } from "../../../act/index.ts";
import type { Bytes, Millicores, Ms, PerSecond, Ratio, WorkloadId } from "../../../base/index.ts";
import type { OomKill, PodReading, ResizeState, WorkloadReading } from "../../../observe/telemetry/index.ts";
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
  readonly resize?: ResizeState | undefined;
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
  const readings: PodReading[] = [];
  for (const status of pods) readings.push(podReading(status, sample?.pods.get(status.pod)));
  return {
    workload,
    at: (start + (sample?.at ?? 0)) as Ms,
    spec: { replicas: asked.replicas, cpu: asked.cpu, memory: asked.memory },
    pods: readings,
    use: sample === undefined || sample.pods.size === 0 ? notMeasured : useOf(sample.pods),
    latency: (ingress?.latency ?? null) as Ms | null,
    offered: (ingress?.offered ?? null) as PerSecond | null,
    completed: (ingress?.completed ?? null) as PerSecond | null,
    failed: (ingress?.failed ?? null) as PerSecond | null,
    ooms,
  };
}

function podReading(status: PodStatus, measured: PodSample | undefined): PodReading {
  const reading: PodReading = {
    pod: status.pod,
    createdAt: status.createdAt as Ms,
    readyAt: status.readyAt as Ms | null,
    cpuLimit: status.cpuLimit as Millicores,
    memoryLimit: status.memoryLimit as Bytes,
    cpu: (measured?.cpu ?? null) as Millicores | null,
    memory: (measured?.memory ?? null) as Bytes | null,
    restarts: status.restarts,
  };
  return status.resize === undefined ? reading : { ...reading, resize: status.resize };
}

const notMeasured: WorkloadReading["use"] = Object.freeze({ cpu: null, memory: null, io: null, network: null });

/** Over the pods that were measured, against the limits they had when they were. */
function useOf(samples: ReadonlyMap<string, PodSample>): WorkloadReading["use"] {
  let cpu = 0;
  let memory = 0;
  let io = 0;
  let network = 0;
  let cpuLimit = 0;
  let memoryLimit = 0;
  for (const sample of samples.values()) {
    cpu += sample.cpu;
    memory += sample.memory;
    io += sample.io;
    network += sample.network;
    cpuLimit += sample.cpuLimit;
    memoryLimit += sample.memoryLimit;
  }
  return {
    cpu: (cpu / cpuLimit) as Ratio,
    memory: (memory / memoryLimit) as Ratio,
    io: (io / (samples.size * podGrants.io)) as Ratio,
    network: (network / (samples.size * podGrants.network)) as Ratio,
  };
}
