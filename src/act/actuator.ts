/**
 * The port through which actions reach a world: a simulator, a Kubernetes cluster, control groups.
 * Owns: the contract, and an implementation in memory for tests and for worlds that keep their own settings.
 * Not here: the adapters that do it outside.
 */
import type { Result, WorkloadId } from "../base/index.ts";
import { err, failure, ok } from "../base/index.ts";
import type { Action } from "./action.ts";
import { afterAction } from "./action.ts";
import type { Setting } from "./knob.ts";

export interface Actuator {
  /** What is there now, read and not remembered. */
  read(workload: WorkloadId, signal: AbortSignal): Promise<Result<Setting>>;
  /**
   * Does a guarded action and answers with what is there then. By level: doing it a second time changes nothing.
   * A failure says whether trying again can help; nothing is done by halves without saying so.
   * Followers that are not there, or have the values already, are left out: members come and go between look and act.
   */
  apply(action: Action, signal: AbortSignal): Promise<Result<Setting>>;
}

export function memoryActuator(workloads: Iterable<readonly [WorkloadId, Setting]>): Actuator {
  const settings = new Map(workloads);
  const find = (workload: WorkloadId, signal: AbortSignal): Result<Setting> => {
    if (signal.aborted)
      return err(failure("actuator.aborted", "the action was given up before it was done", { retry: true }));
    const have = settings.get(workload);
    if (have !== undefined) return ok(have);
    return err(
      failure("actuator.unknown-workload", `there is no workload ${workload}: it was removed, or its name is wrong`),
    );
  };
  return {
    read: (workload, signal) => Promise.resolve(find(workload, signal)),
    apply: (action, signal) => {
      const have = find(action.workload, signal);
      if (!have.ok) return Promise.resolve(have);
      const next = afterAction(have.value, action);
      settings.set(action.workload, next);
      return Promise.resolve(ok(next));
    },
  };
}
