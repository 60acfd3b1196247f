/** The actuator of a simulated cluster: what controllers act through, as they would on a real one. */
import type { Action, Actuator, Allocation } from "../../act/index.ts";
import { err, failure, ok, type Result, type WorkloadId } from "../../base/index.ts";
import type { ClusterWorld } from "./world.ts";

export function simActuator(world: ClusterWorld): Actuator {
  const refusal = (workload: WorkloadId, signal: AbortSignal): Result<never> | undefined => {
    if (signal.aborted)
      return err(failure("actuator.aborted", "the action was given up before it was done", { retry: true }));
    if (world.workloads.includes(workload)) return undefined;
    return err(failure("actuator.unknown-workload", `there is no workload ${workload} in this world: check its name`));
  };
  return {
    read: async (workload, signal) => refusal(workload, signal) ?? ok(world.allocation(workload)),
    apply: async (action, signal) => refusal(action.workload, signal) ?? world.apply(action as Action<Allocation>),
  };
}
