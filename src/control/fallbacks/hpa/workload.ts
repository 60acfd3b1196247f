/**
 * What the HPA would have read from the API and the metrics server about a workload, made from one of its readings.
 * Owns: pods and metrics in the HPA's shapes. A pod has one container here, and its requests are its limits: that is how
 * the worlds place pods, and what a single CPU and memory limit per pod means.
 * Not here: the algorithm (hpa.ts).
 */
import type { Ms } from "../../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { HpaMetric } from "./config.ts";
import { milliBytes } from "./config.ts";
import type { HpaReading } from "./hpa.ts";
import type { HpaPod, PodReading as HpaPodReading } from "./pods.ts";

/** The one container of a pod. */
export const container = "app";

export const isStarting = ({ readyAt, restarts }: PodReading): boolean => readyAt === null && restarts === 0;

export const isOfSize = (pod: PodReading, { cpuLimit, memoryLimit }: PodReading): boolean =>
  pod.cpuLimit === cpuLimit && pod.memoryLimit === memoryLimit;

/** Pods of a workload are nearly all of one size: what says so is made once for neighbours, in every step. */
export function hpaPods({ at, pods }: WorkloadReading): readonly HpaPod[] {
  let like: PodReading | undefined;
  let containers: HpaPod["containers"] = [];
  return pods.map((pod) => {
    const { createdAt, readyAt } = pod;
    if (like === undefined || !isOfSize(pod, like)) {
      containers = [{ name: container, requests: { cpu: pod.cpuLimit, memory: pod.memoryLimit } }];
      like = pod;
    }
    return {
      name: pod.pod,
      phase: isStarting(pod) ? "Pending" : "Running",
      startedAt: createdAt,
      // When a pod that was killed stopped being ready is not told; the newest scrape is the best guess.
      ready: readyAt === null ? { status: "False", since: at } : { status: "True", since: readyAt },
      containers,
    };
  });
}

export function hpaReading(metric: HpaMetric, reading: WorkloadReading, window: Ms): HpaReading {
  if (metric.type !== "resource") return { kind: "failed", why: `a reading has no metric of type ${metric.type}` };
  const { at } = reading;
  const pods = new Map<string, HpaPodReading>();
  let last: HpaPodReading | undefined;
  for (const { pod, cpu, memory } of reading.pods) {
    const exact = metric.resource === "cpu" ? cpu : memory === null ? null : milliBytes(memory);
    if (exact === null) continue;
    // The metrics API answers in whole millicores, rounded up.
    const milli = Math.ceil(exact);
    // Pods that are only imagined share the work out evenly: one reading does for all of them.
    if (last === undefined || last.milli !== milli) last = { milli, at, window };
    pods.set(pod, last);
  }
  return { kind: "per-pod", pods };
}
