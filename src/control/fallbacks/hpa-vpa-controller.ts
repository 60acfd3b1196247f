/**
 * HPA and VPA over a workload's readings: the fallback of pod autoscaling.
 * Owns: what the two would have read from the API and the metrics server, made from a reading; which pods follow.
 * Not here: the two algorithms and their rhythm (hpa-vpa.ts).
 *
 * A pod has one container here, and its requests are its limits: that is how the worlds place pods, and what a single
 * CPU and memory limit per pod means.
 */
import type { Allocation } from "../../act/index.ts";
import type { Bytes, Millicores, Ms } from "../../base/index.ts";
import { seconds, unwrap } from "../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../observe/telemetry/index.ts";
import type { FallbackReason, FallbackStart, PodFallback, PodFallbackStep } from "./fallback.ts";
import type { HpaConfig } from "./hpa/config.ts";
import { container, hpaPods, hpaReading, isOfSize, isStarting } from "./hpa/workload.ts";
import type { HpaVpaConfig, HpaVpaInput, HpaVpaState } from "./hpa-vpa.ts";
import { hpaVpaConfig, hpaVpaStep, isVpaDue, startHpaVpa } from "./hpa-vpa.ts";
import type { Resources, UpdaterConfig, VpaConfig, VpaPolicies } from "./vpa/config.ts";
import { defaultUpdaterConfig, defaultVpaConfig } from "./vpa/config.ts";
import type { VpaObservation } from "./vpa/history.ts";
import type { LeftAlone, UpdaterPod } from "./vpa/update-order.ts";
import { warmVpaState } from "./vpa/warm.ts";

export interface HpaVpaControllerConfig {
  readonly hpa: HpaConfig;
  readonly vpa?: VpaConfig;
  readonly updater?: UpdaterConfig;
  /** What pods start with until the VPA recommends something. */
  readonly template: { readonly cpu: Millicores; readonly memory: Bytes };
  /** Where given, the VPA recommends within these: minAllowed and maxAllowed of its policy. */
  readonly bounds?: { readonly [D in "cpu" | "memory"]: { readonly min: Allocation[D]; readonly max: Allocation[D] } };
  /** Over which the readings are means. */
  readonly metricsWindow?: Ms;
}

interface Termination {
  readonly startedAt: Ms;
  readonly finishedAt: Ms;
}

export interface HpaVpaControllerState {
  readonly both: HpaVpaState;
  /** The last OOM kill of each living pod: a pod that is killed soon after its start is resized out of turn. */
  readonly terminations: Readonly<Record<string, Termination>>;
}

export function hpaVpaController(config: HpaVpaControllerConfig): PodFallback<HpaVpaControllerState> {
  const { template, bounds, metricsWindow = seconds(30) } = config;
  const policies: VpaPolicies =
    bounds === undefined
      ? {}
      : {
          "*": {
            minAllowed: { cpu: bounds.cpu.min, memory: bounds.memory.min },
            maxAllowed: { cpu: bounds.cpu.max, memory: bounds.memory.max },
          },
        };
  const both = hpaVpaConfig({
    hpa: config.hpa,
    vpa: config.vpa ?? defaultVpaConfig,
    updater: config.updater ?? { ...defaultUpdaterConfig, mode: "Auto" },
    policies,
    template: { [container]: { requests: template, limits: template } },
  });
  return {
    name: "hpa+vpa",
    start: (options) => start(both, options),
    step: (state, reading, now) => step(both, state, { reading, now, metricsWindow }),
  };
}

function start(both: HpaVpaConfig, { history }: FallbackStart = {}): HpaVpaControllerState {
  const warm = history === undefined ? undefined : unwrap(warmVpaState(both.vpa, container, history));
  return { both: startHpaVpa(both, warm), terminations: {} };
}

interface Tick {
  readonly reading: WorkloadReading;
  readonly now: Ms;
  readonly metricsWindow: Ms;
}

function step(config: HpaVpaConfig, before: HpaVpaControllerState, tick: Tick): PodFallbackStep<HpaVpaControllerState> {
  const { reading, now } = tick;
  const terminations = terminationsAfter(before.terminations, reading);
  const vertical = isVpaDue(before.both, now);
  const input: HpaVpaInput = {
    now,
    replicas: reading.spec.replicas,
    statusReplicas: reading.pods.length,
    pods: hpaPods(reading),
    readings: config.hpa.metrics.map((metric) => hpaReading(metric, reading, tick.metricsWindow)),
    observations: observationsIn(reading, vertical),
    updaterPods: vertical ? updaterPods(reading.pods, terminations) : [],
  };
  const { replicas, newPods, evict, resize, hpa, updater, state } = hpaVpaStep(config, before.both, input);
  const limits = newPods[container]?.limits;
  const followers = evict.concat(resize);
  const reasons: FallbackReason[] = [];
  for (const reason of hpa?.reasons ?? []) reasons.push({ by: "hpa", reason });
  if (updater !== undefined) reasons.push({ by: "vpa", follow: followers, left: countOf(updater.left) });
  const want = wantOf(replicas, limits);
  const after = { both: state, terminations };
  const failure = hpa?.failure;
  return failure ? { want, followers, reasons, failure, state: after } : { want, followers, reasons, state: after };
}

function wantOf(replicas: number, limits: Partial<Resources> = {}): Partial<Allocation> {
  const { cpu, memory } = limits;
  if (cpu !== undefined && memory !== undefined) return { replicas, cpu, memory };
  return { replicas, ...limits };
}

function countOf(left: readonly { readonly why: LeftAlone }[]): Partial<Record<LeftAlone, number>> {
  const counts: Partial<Record<LeftAlone, number>> = {};
  for (const { why } of left) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}

const nothingSeen: readonly VpaObservation[] = [];

/** Kills always; usage only when the VPA's turn has come. */
function observationsIn({ at, pods, ooms }: WorkloadReading, withUsage: boolean): readonly VpaObservation[] {
  if (!withUsage && ooms.length === 0) return nothingSeen;
  const seen: VpaObservation[] = ooms.map((kill) => {
    const { pod, at: killedAt, memoryLimit: request } = kill;
    return { kind: "oom", pod, container, at: killedAt, request };
  });
  if (!withUsage) return seen;
  for (const { pod, cpu, memory, cpuLimit } of pods) {
    if (cpu !== null) seen.push({ kind: "cpu", pod, container, at, usage: cpu, request: cpuLimit });
    if (memory !== null) seen.push({ kind: "memory", pod, container, at, usage: memory });
  }
  return seen;
}

/** As above: neighbours of one size that were not killed have the same containers, so their updates weigh the same. */
function updaterPods(
  pods: readonly PodReading[],
  terminations: Readonly<Record<string, Termination>>,
): readonly UpdaterPod[] {
  let like: PodReading | undefined;
  let containers: UpdaterPod["containers"] = [];
  return pods.map((pod) => {
    const last = terminations[pod.pod];
    if (last !== undefined || like === undefined || !isOfSize(pod, like)) {
      const size = { cpu: pod.cpuLimit, memory: pod.memoryLimit };
      containers = [
        { name: container, requests: size, limits: size, ...(last && { lastTermination: { isOom: true, ...last } }) },
      ];
      like = last === undefined ? pod : undefined;
    }
    return {
      name: pod.pod,
      ...(isStarting(pod) && { isPending: true }),
      startedAt: pod.createdAt,
      ...(pod.resize && { resize: pod.resize }),
      containers,
    };
  });
}

function terminationsAfter(
  before: Readonly<Record<string, Termination>>,
  { pods, ooms }: WorkloadReading,
): Readonly<Record<string, Termination>> {
  if (ooms.length === 0 && Object.keys(before).length === 0) return before;
  const after: Record<string, Termination> = {};
  for (const { pod, createdAt } of pods) {
    let last = before[pod];
    // A container that was killed before had started again when it was.
    for (const kill of ooms)
      if (kill.pod === pod) last = { startedAt: last?.finishedAt ?? createdAt, finishedAt: kill.at };
    if (last !== undefined) after[pod] = last;
  }
  return after;
}
