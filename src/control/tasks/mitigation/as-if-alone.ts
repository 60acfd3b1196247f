/**
 * The autoscaler of Kubernetes at the side of a learner: what it would have by now if it had been alone. Pure.
 * Owns: the service that it believes in while the learner acts, and the reading of it. It leaves limits as they were
 * deployed; where the learner has made them smaller, containers are busier than its own would be.
 */
import { millicores, ratio } from "../../../base/index.ts";
import type { FallbackWish } from "../../index.ts";
import type { ServiceSetting } from "./action.ts";
import type { ServiceReading } from "./service-reading.ts";

const MILLI = 1_000;

/** The same work, shared out among the containers that there would be. */
export function readingAsIf(own: ServiceSetting, reading: ServiceReading): ServiceReading {
  const { autoscaled } = reading;
  const { pods, spec } = autoscaled;
  const cpuLimit = millicores(own.cpu * MILLI);
  if (spec.replicas === own.replicas && pods.every((pod) => pod.cpuLimit === cpuLimit)) return reading;
  const ready = pods.filter(({ readyAt }) => readyAt !== null);
  const [first] = ready;
  if (first === undefined) return reading;
  const sampled = ready.flatMap(({ cpu }) => (cpu === null ? [] : [cpu as number]));
  const mean = sampled.length === 0 ? null : sampled.reduce((sum, cpu) => sum + cpu, 0) / sampled.length;
  // Containers whose sample is missing worked as hard as the others.
  const cpu = mean === null ? null : millicores((ready.length * mean) / own.replicas);
  const shared = Array.from({ length: own.replicas }, (_, i) => {
    const like = ready[i] ?? first;
    return { ...like, pod: ready[i] === undefined ? `${like.pod}+${i}` : like.pod, cpuLimit, cpu };
  });
  return {
    ...reading,
    autoscaled: {
      ...autoscaled,
      spec: { ...spec, replicas: own.replicas, cpu: cpuLimit },
      pods: shared,
      use: { ...autoscaled.use, cpu: cpu === null ? null : ratio(cpu / cpuLimit) },
    },
  };
}

export const aloneAfter = (before: ServiceSetting, { want }: FallbackWish<ServiceSetting>): ServiceSetting => ({
  ...before,
  ...want,
});
