/**
 * The fallback at the side of a learner: what it would have by now if it had been alone.
 * Owns: the deployment that the fallback believes in while the learner acts, and the reading of it. Pure.
 * Not here: the fallback's own rules (control/fallbacks), what its wish is used for (decision.ts).
 *
 * Why it is not shown the learner's pods: it counts replicas in pods of the size it finds, so of many small ones it makes
 * many large ones; and it lets things be that are nearly right, so what a learner took away it would not ask back. The
 * requests are the same whoever serves them, so the work that was measured is shared out among the pods it would have.
 */
import type { Allocation } from "../../../act/index.ts";
import { millicores, ratio } from "../../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { FallbackWish } from "../../index.ts";

/** The reading as it would be with the fallback's own pods. Loops and written-out objects: this is passed in every step. */
export function readingAsIf(own: Allocation, reading: WorkloadReading): WorkloadReading {
  const { workload, at, spec, use, latency, offered, completed, failed, ooms } = reading;
  const isAlike = spec.replicas === own.replicas && reading.pods.every(({ cpuLimit }) => cpuLimit === own.cpu);
  const pods = isAlike ? withMemory(reading.pods, own.memory) : sharedAmong(own, reading.pods);
  const memory = meanOf(pods, "memory");
  const cpu = isAlike ? null : meanOf(pods, "cpu");
  return {
    workload,
    at,
    spec: own,
    pods,
    use: {
      cpu: isAlike ? use.cpu : cpu === null ? null : ratio(cpu / own.cpu),
      memory: memory === null ? null : ratio(memory / own.memory),
      io: use.io,
      network: use.network,
    },
    latency,
    offered,
    completed,
    failed,
    // A pod that was killed for want of less than the fallback gives would be alive.
    ooms: ooms.length === 0 ? ooms : ooms.filter(({ memoryLimit }) => memoryLimit >= own.memory),
  };
}

/** The fallback's deployment one step on. Pods keep their size until it names them: its updater leaves alone what is nearly right. */
export function aloneAfter(before: Allocation, { want, followers }: FallbackWish<Allocation>): Allocation {
  const isResized = followers === undefined || followers.length > 0;
  // Written out: this is passed in every step, and copies by spread cost several times as much.
  const { replicas = before.replicas, cpu = before.cpu, memory = before.memory } = want;
  return isResized ? { replicas, cpu, memory } : { replicas, cpu: before.cpu, memory: before.memory };
}

/** What is asked for may be newer than the pods: their size is that of the one that was there first. */
export function sizesThereAre({ pods }: WorkloadReading, have: Allocation): Allocation {
  let oldest = pods[0];
  if (!oldest) return have;
  for (const pod of pods) if (pod.createdAt < oldest.createdAt) oldest = pod;
  return { replicas: have.replicas, cpu: oldest.cpuLimit, memory: oldest.memoryLimit };
}

const withMemory = (pods: readonly PodReading[], memoryLimit: Allocation["memory"]): readonly PodReading[] =>
  pods.map(({ pod, createdAt, readyAt, cpuLimit, cpu, memory, restarts }) => {
    return { pod, createdAt, readyAt, cpuLimit, memoryLimit, cpu, memory, restarts };
  });

/** The work of the pods that are ready, in pods of the fallback's. Without one of them nothing is known of the work. */
function sharedAmong(own: Allocation, pods: readonly PodReading[]): readonly PodReading[] {
  const ready = pods.filter(({ readyAt }) => readyAt !== null);
  if (ready.length === 0) return withMemory(pods, own.memory);
  // Pods whose sample is missing worked as hard as the others.
  const each = meanOf(ready, "cpu");
  const cpu = each === null ? null : millicores((ready.length * each) / own.replicas);
  const { cpu: cpuLimit, memory: memoryLimit } = own;
  const shared: PodReading[] = [];
  for (let i = 0; i < own.replicas; i++) {
    const { pod: name, createdAt, readyAt, memory, restarts } = ready[i % ready.length] as PodReading;
    const pod = i < ready.length ? name : `${name}+${i}`;
    shared.push({ pod, createdAt, readyAt, cpuLimit, memoryLimit, cpu, memory, restarts });
  }
  return shared;
}

function meanOf(pods: readonly PodReading[], figure: "cpu" | "memory"): number | null {
  let sum = 0;
  let known = 0;
  for (const pod of pods) {
    const value = pod[figure];
    if (value === null) continue;
    sum += value;
    known += 1;
  }
  return known === 0 ? null : sum / known;
}
