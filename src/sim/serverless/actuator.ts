/** The actuator of a simulated serverless platform: what controllers act through, as they would on a real one. */
import { type Actuator, afterAction } from "../../act/index.ts";
import { err, failure, ok, type Result, type WorkloadId } from "../../base/index.ts";
import type { FunctionSetting } from "./setting.ts";
import type { ServerlessWorld } from "./world.ts";

export function serverlessActuator(world: ServerlessWorld): Actuator {
  const refusal = (workload: WorkloadId, signal: AbortSignal): Result<never> | undefined => {
    if (signal.aborted)
      return err(failure("actuator.aborted", "the action was given up before it was done", { retry: true }));
    if (world.functions.includes(workload)) return undefined;
    return err(
      failure("actuator.unknown-workload", `there is no function ${workload} on this platform: check its name`),
    );
  };
  return {
    read: async (workload, signal) => refusal(workload, signal) ?? ok(world.setting(workload)),
    apply: async (action, signal) => {
      const refused = refusal(action.workload, signal);
      if (refused) return refused;
      const next = afterAction(world.setting(action.workload), action) as FunctionSetting;
      const applied = world.apply(action.workload, next);
      // It takes effect a moment later, and nothing can stop it.
      return applied.ok ? ok(next) : applied;
    },
  };
}
