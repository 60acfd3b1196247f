/**
 * What a cluster world is made of; the same options for the fluid and the event rung.
 * Owns: their types, and the check that a world can be built of them.
 * Not here: processors and ready-made clusters (processors.ts), applications and loads (workloads/).
 */
import type { Allocation } from "../../act/index.ts";
import type { Ms, WorkloadId } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import { type MetricsConfig, metricsDefaults } from "./metrics/config.ts";
import { isProcessor, type NodeSpec, processors } from "./processors.ts";
import type { Application } from "./workloads/application.ts";
import type { Load } from "./workloads/load.ts";

export interface WorkloadSpec {
  readonly id: WorkloadId;
  readonly application: Application;
  readonly load: Load;
  readonly slo: Slo;
  /** Running, ready and warm when the world begins. */
  readonly initial: Allocation;
  /**
   * How a running pod gets a new size: in place, by a new pod that takes its place, or in place with a new pod where that is
   * refused or has waited for room for five minutes (as the VPA's modes InPlace, Recreate and InPlaceOrRecreate).
   */
  readonly resize: "in-place" | "recreate" | "in-place-or-recreate";
}

export interface WorldOptions {
  readonly seed: number;
  /** When the world begins; loads are looked up by absolute time. */
  readonly start: Ms;
  readonly nodes: readonly NodeSpec[];
  readonly workloads: readonly WorkloadSpec[];
  readonly metrics?: Partial<MetricsConfig>;
}

export function checkWorldOptions({ start, nodes, workloads, metrics = {} }: WorldOptions): void {
  const refuse = (why: string): never => {
    throw new CodedError(failure("world.options", `the cluster world cannot be built: ${why}`));
  };
  if (!Number.isFinite(start)) refuse(`it starts at ${start}: give milliseconds`);
  const { interval, window, delay, sloWindow, missing, noise } = { ...metricsDefaults, ...metrics };
  if (!(interval > 0 && window > 0 && sloWindow > 0 && delay >= 0 && missing >= 0 && missing <= 1 && noise >= 0))
    refuse("its metrics have an interval or a window of 0, or a share outside of 0 to 1");
  if (workloads.length === 0) refuse("it has no workloads: give at least one");
  if (new Set(workloads.map(({ id }) => id)).size < workloads.length) refuse("two workloads have the same id");
  for (const { name, cpu, memory, processor } of nodes) {
    if (!(cpu > 0 && memory > 0)) refuse(`node ${name} has ${cpu} millicores and ${memory} bytes: give more than 0`);
    if (!isProcessor(processor))
      refuse(`node ${name} has an unknown processor '${processor}': there are ${Object.keys(processors).join(", ")}`);
  }
  for (const spec of workloads) {
    const problem = problemOf(spec);
    if (problem !== undefined) refuse(`workload ${spec.id} ${problem}`);
  }
}

function problemOf({ application, load, initial, slo }: WorkloadSpec): string | undefined {
  const { replicas, cpu, memory } = initial;
  if (!(Number.isInteger(replicas) && replicas >= 0)) return `starts with ${replicas} replicas: give a whole number`;
  if (!(cpu > 0 && memory > 0)) return `starts with ${cpu} millicores and ${memory} bytes: give more than 0`;
  if (load.perMinute.length === 0) return `has the load ${load.id}, which is empty`;
  if ("target" in slo && !(slo.target > 0)) return `has an SLO target of ${slo.target}: give more than 0`;
  return problemOfApplication(application);
}

export function problemOfApplication({ id, phases, sizes, threads, queue, timeout }: Application): string | undefined {
  if (phases.length === 0) return `runs ${id}, which does nothing: give it a phase`;
  if (phases.some(({ cpu, wait, width }) => !(cpu >= 0 && wait >= 0 && width > 0)))
    return `runs ${id}, which has a phase with negative work or no width`;
  if (sizes.length === 0) return `runs ${id}, which has no payload sizes`;
  if (!(Number.isInteger(threads) && threads >= 1 && Number.isInteger(queue) && queue >= 0))
    return `runs ${id} with ${threads} threads and a queue of ${queue}: give whole numbers from 1 and 0`;
  if (!(timeout > 0)) return `runs ${id}, whose clients wait ${timeout} ms: give more than 0`;
  return undefined;
}
