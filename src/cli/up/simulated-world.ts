/**
 * The simulated cluster and its twin as a plane's world: the same nodes, workloads, seed and requests, under different
 * controllers. Owns: opening both, and the ports through which a plane meets them. Not here: simulating (sim).
 */
import type { Allocation } from "../../act/index.ts";
import type { Failure, Ms, WorkloadId } from "../../base/index.ts";
import { err, failure, ManualClock, milliseconds, ok, perSecond } from "../../base/index.ts";
import type { Measured } from "../../control/index.ts";
import { podReward, podSums } from "../../control/tasks/pods/index.ts";
import type { Slo, TelemetrySource } from "../../observe/telemetry/index.ts";
import { sloPreservation } from "../../observe/telemetry/index.ts";
import type { ActiveFault, Truth, World, WorldSide } from "../../plane/index.ts";
import type { Application, ClusterWorld, WorkloadTruth } from "../../sim/index.ts";
import { eventWorld, simActuator } from "../../sim/index.ts";
import { nodesFor } from "./demo-cluster.ts";
import type { SimulatedWorkload } from "./simulated-workload.ts";
import { SimulatedEvents } from "./world-events.ts";

/** A workload where it is to go on. */
export interface PlacedWorkload {
  readonly workload: SimulatedWorkload;
  readonly slo: Slo;
  readonly have: Allocation;
  readonly twinHave: Allocation;
}

export interface SimulatedWorldOptions {
  readonly seed: number;
  readonly start: Ms;
  /** When the world began, before any restart. */
  readonly startedAt: Ms;
  readonly faults: readonly ActiveFault[];
}

export function openSimulatedWorld(
  placed: readonly PlacedWorkload[],
  { seed, start, startedAt, faults }: SimulatedWorldOptions,
): World {
  const workloads = placed.map(({ workload }) => workload);
  const events = new SimulatedEvents({ workloads, faults, startedAt, now: start });
  const open = (which: "have" | "twinHave") =>
    eventWorld({
      seed,
      start,
      nodes: nodesFor(workloads),
      workloads: placed.map((one) =>
        specOf(one, { initial: one[which], application: events.softwareOf(one.workload) }),
      ),
    });
  const [managed, twin] = [open("have"), open("twinHave")];
  events.enter([managed, twin]);
  const side = (world: ClusterWorld): WorldSide => ({
    telemetry: telemetryOf(world, (workload) => events.isTelemetryLost(workload)),
    actuator: simActuator(world),
    nodes: { nodes: async (workload) => ok(world.nodes(workload)) },
    truth: truthOf(world, workloads),
  });
  return {
    kind: "simulated",
    ...side(managed),
    twin: side(twin),
    clock: {
      kind: "moved",
      clock: new ManualClock(start),
      advance: (until) => {
        for (const world of [managed, twin]) world.advance(milliseconds(Math.max(world.now, until)));
      },
    },
    faults: events,
    events,
  };
}

const specOf = (
  { workload: { id, load }, slo }: PlacedWorkload,
  { initial, application }: { readonly initial: Allocation; readonly application: Application },
) => ({ id, application, load, slo, initial, resize: "in-place" as const });

/** A world's readings, as a loop asks for them; while telemetry is lost, none. */
const telemetryOf = (world: ClusterWorld, isLost: (workload: WorkloadId) => boolean): TelemetrySource => ({
  read: async (workload) => (isLost(workload) ? err(lost(workload)) : ok(world.read(workload))),
});

const lost = (workload: WorkloadId): Failure =>
  failure("plane.telemetry-lost", `the telemetry of ${workload} is lost, as was asked for; it comes back by itself`, {
    retry: true,
  });

/** What clients and the bill saw, which is more than controllers are shown. */
function truthOf(world: ClusterWorld, workloads: readonly SimulatedWorkload[]): Truth {
  const tasks = new Map(workloads.map(({ id, slo, life }) => [id, life.task(slo)]));
  return {
    measure: (workload, slo) => {
      const task = tasks.get(workload);
      return task === undefined ? {} : measuredBy(world.truth(workload), { ...task, slo });
    },
  };
}

const share = (used: number, granted: number): number => (granted > 0 ? Math.min(1, used / granted) : 0);

type Judged = Parameters<typeof podReward>[0] & { readonly slo: Slo };

function measuredBy(truth: WorkloadTruth, task: Judged): Omit<Measured, "ready"> {
  const passed = Math.max(1, truth.to - truth.from) / 1_000;
  const { arrived, completed, timedOut, dropped, lost: gone, latency, cost, oomKills } = truth;
  const { cpuUsed, cpuLimit, memoryUsed, memoryLimit } = truth;
  const preservation = sloPreservation(task.slo, {
    latency,
    offered: perSecond(arrived / passed),
    completed: perSecond(completed / passed),
    failed: perSecond((timedOut + dropped + gone) / passed),
  });
  return {
    load: arrived / passed,
    latency,
    preservation,
    use: { cpu: (cpuUsed / passed) * 1_000, memory: memoryUsed / passed },
    reward: podReward(task, {
      preservation,
      cpu: share(cpuUsed, cpuLimit),
      memory: share(memoryUsed, memoryLimit),
    }),
    cost,
    sums: podSums({ cpu: cpuUsed, memory: memoryUsed }, { cpu: cpuLimit, memory: memoryLimit }),
    harmed: oomKills,
  };
}
