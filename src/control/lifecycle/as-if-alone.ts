/**
 * The fallback at the side of a learner: what it would have by now if it had been alone.
 * Owns: the deployment that the fallback believes in while the learner acts, and the reading of it. Pure.
 * Not here: the fallback's own rules (control/fallbacks), what its wish is used for (decision.ts).
 *
 * Why it is not shown the learner's pods: it counts replicas in pods of the size it finds, so of many small ones it makes
 * many large ones; and it lets things be that are nearly right, so what a learner took away it would not ask back. The
 * requests are the same whoever serves them, so the work that was measured is shared out among the pods it would have.
 */
import type { Allocation } from "../../act/index.ts";
import { millicores, ratio } from "../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../observe/telemetry/index.ts";
import type { FallbackStep } from "../fallbacks/index.ts";

/** The reading as it would be with the fallback's own pods. */
export function readingAsIf(own: Allocation, reading: WorkloadReading): WorkloadReading {
  const { pods, spec, use } = reading;
  const isAlike = spec.replicas === own.replicas && pods.every(({ cpuLimit }) => cpuLimit === own.cpu);
  const imagined = isAlike ? pods : sharedAmong(own, pods);
  const share = (used: number | null, limit: number) => (used === null ? null : ratio(used / limit));
  return {
    ...reading,
    spec: own,
    pods: imagined.map((pod) => ({ ...pod, memoryLimit: own.memory })),
    use: {
      ...use,
      cpu: isAlike
        ? use.cpu
        : share(
            meanOf(imagined, ({ cpu }) => cpu),
            own.cpu,
          ),
      memory: share(
        meanOf(imagined, ({ memory }) => memory),
        own.memory,
      ),
    },
    // A pod that was killed for want of less than the fallback gives would be alive.
    ooms: reading.ooms.filter(({ memoryLimit }) => memoryLimit >= own.memory),
  };
}

/** The fallback's deployment one step on. Pods keep their size until it names them: its updater leaves alone what is nearly right. */
export function aloneAfter(
  before: Allocation,
  { want, pods }: Pick<FallbackStep<unknown>, "want" | "pods">,
): Allocation {
  const isResized = pods === undefined || pods.length > 0;
  return isResized ? { ...before, ...want } : { ...before, replicas: want.replicas ?? before.replicas };
}

/** What is asked for may be newer than the pods: their size is that of the one that was there first. */
export function sizesThereAre({ pods }: WorkloadReading, have: Allocation): Allocation {
  const [first, ...others] = pods;
  if (!first) return have;
  const oldest = others.reduce((one, other) => (other.createdAt < one.createdAt ? other : one), first);
  return { replicas: have.replicas, cpu: oldest.cpuLimit, memory: oldest.memoryLimit };
}

/** The work of the pods that are ready, in pods of the fallback's. Without one of them nothing is known of the work. */
function sharedAmong({ replicas, cpu: cpuLimit }: Allocation, pods: readonly PodReading[]): readonly PodReading[] {
  const ready = pods.filter(({ readyAt }) => readyAt !== null);
  if (ready.length === 0) return pods;
  // Pods whose sample is missing worked as hard as the others.
  const each = meanOf(ready, ({ cpu }) => cpu);
  const cpu = each === null ? null : millicores((ready.length * each) / replicas);
  return Array.from({ length: replicas }, (_, i) => {
    const like = ready[i % ready.length] as PodReading;
    return { ...like, pod: i < ready.length ? like.pod : `${like.pod}+${i}`, cpu, cpuLimit };
  });
}

function meanOf(pods: readonly PodReading[], figure: (pod: PodReading) => number | null): number | null {
  const known = pods.map(figure).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
