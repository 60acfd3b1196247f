/**
 * A reading of what the pipeline delivered and of what the API server says, the same for both rungs.
 * Owns: putting them together. What the API server says is never late; measurements are.
 */
import type { Allocation } from "../../../act/index.ts";
import type { Bytes, Millicores, Ms, PerSecond, Ratio, WorkloadId } from "../../../base/index.ts";
import type { OomKill, PodReading, WorkloadReading } from "../../../observe/telemetry/index.ts";
import { podGrants } from "./config.ts";
import type { PodSample, Sample } from "./pipeline.ts";

/** A pod as the API server knows it, without what it uses: that is filled in, for a copy of each would be half of a reading. */
export type PodStatus = { -readonly [K in keyof PodReading]: PodReading[K] };

export interface ReadingParts {
  readonly workload: WorkloadId;
  readonly asked: Allocation;
  /** They become the reading's own. */
  readonly pods: readonly PodStatus[];
  readonly ooms: readonly OomKill[];
  readonly sample: Sample | undefined;
  /** Added to the sample's own time; and the time of a reading that has no sample yet. */
  readonly start: number;
}

export function assembleReading({ workload, asked, pods, ooms, sample, start }: ReadingParts): WorkloadReading {
  const ingress = sample?.ingress ?? null;
  const samples = sample?.pods ?? NO_SAMPLES;
  let next = 0;
  for (const status of pods) {
    const place = placeOf(status.pod, samples, next);
    if (place < 0) continue;
    const { cpu, memory } = samples[place] as PodSample;
    status.cpu = cpu as Millicores;
    status.memory = memory as Bytes;
    next = place + 1;
  }
  return {
    workload,
    at: (start + (sample?.at ?? 0)) as Ms,
    spec: { replicas: asked.replicas, cpu: asked.cpu, memory: asked.memory },
    pods,
    use: samples.length === 0 ? notMeasured : useOf(samples),
    latency: (ingress?.latency ?? null) as Ms | null,
    offered: (ingress?.offered ?? null) as PerSecond | null,
    completed: (ingress?.completed ?? null) as PerSecond | null,
    failed: (ingress?.failed ?? null) as PerSecond | null,
    ooms,
  };
}

const NO_SAMPLES: readonly PodSample[] = [];

/** Both lists are in the same order but for pods that are in one of them only, so the next one is nearly always it. */
function placeOf(pod: string, samples: readonly PodSample[], next: number): number {
  for (let i = next; i < samples.length; i++) if ((samples[i] as PodSample).pod === pod) return i;
  for (let i = 0; i < next; i++) if ((samples[i] as PodSample).pod === pod) return i;
  return -1;
}

const notMeasured: WorkloadReading["use"] = Object.freeze({ cpu: null, memory: null, io: null, network: null });

/** Over the pods that were measured, against the limits they had when they were. */
function useOf(samples: readonly PodSample[]): WorkloadReading["use"] {
  let cpu = 0;
  let memory = 0;
  let io = 0;
  let network = 0;
  let cpuLimit = 0;
  let memoryLimit = 0;
  for (const sample of samples) {
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
    io: (io / (samples.length * podGrants.io)) as Ratio,
    network: (network / (samples.length * podGrants.network)) as Ratio,
  };
}
