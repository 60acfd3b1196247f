/**
 * The actuator of OpenWhisk: an action's limits are read, compared and set.
 * Owns: that order, and the one repeat when somebody else wrote in between. Not here: what limits mean (limits.ts).
 *
 * An update makes a new version of the action, and OpenWhisk lets warm containers serve only the version they were started for: every
 * change costs cold starts. So nothing is sent where nothing would change.
 */
import type { Action, Actuator } from "../../act/index.ts";
import type { Failure, Result, WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import { beginCall, malformed, type OpenWhiskCall } from "./client.ts";
import {
  ActionBody,
  limitsFor,
  mostContainers,
  NamespaceLimitsBody,
  type OpenWhiskSetting,
  sharesOf,
} from "./limits.ts";
import { actionPath } from "./names.ts";
import type { OpenWhiskTarget } from "./options.ts";

export function openWhiskActuator(target: OpenWhiskTarget): Actuator {
  return {
    read: async (workload, signal) => worded(workload, await readSetting(target, workload, beginCall(target, signal))),
    apply: async (action, signal) => worded(action.workload, await apply(target, action, beginCall(target, signal))),
  };
}

async function apply(target: OpenWhiskTarget, action: Action, call: OpenWhiskCall): Promise<Result<OpenWhiskSetting>> {
  const { workload } = action;
  const first = await attempt(target, action, call);
  const answer =
    !first.ok && first.failure.code === "functions.platform.conflict" ? await attempt(target, action, call) : first;
  if (!answer.ok || answer.value !== undefined) return answer as Result<OpenWhiskSetting>;
  return readSetting(target, workload, call);
}

/** What is there where nothing had to be set; undefined after something was. */
async function attempt(
  target: OpenWhiskTarget,
  action: Action,
  call: OpenWhiskCall,
): Promise<Result<OpenWhiskSetting | undefined>> {
  const { workload } = action;
  const have = await readSetting(target, workload, call);
  if (!have.ok || action.kind === "hold") return have;
  const limits = limitsFor(action.set, have.value, target);
  if (!limits.ok) return limits;
  if (limits.value === undefined) return have;
  const path = `actions/${actionPath(workload)}`;
  const put = await call.ask({ method: "PUT", path, query: { overwrite: "true" }, body: { limits: limits.value } });
  return put.ok ? ok(undefined) : put;
}

async function readSetting(
  target: OpenWhiskTarget,
  workload: WorkloadId,
  call: OpenWhiskCall,
): Promise<Result<OpenWhiskSetting>> {
  const { origin, invokerMemory } = target;
  const path = actionPath(workload);
  if (path === undefined) return err(failure("functions.platform.not-found", "no action can have this id"));
  const found = await call.ask({ method: "GET", path: `actions/${path}`, query: { code: "false" } });
  if (!found.ok) return found;
  const action = ActionBody.safeParse(found.value);
  if (!action.success) return err(malformed(origin, `the action ${workload} lacks its kind or its limits`));
  const { exec, limits } = action.data;
  if (exec.kind === SEQUENCE) return err(failure("functions.platform.not-found", "it is a sequence of other actions"));
  const containers = limits.instances === undefined ? await usualContainers(target, call) : ok(limits.instances);
  if (!containers.ok) return containers;
  const { memory } = limits;
  return ok({ shares: sharesOf(memory, invokerMemory), memory, containers: containers.value });
}

/** Sequences have no container; their parts do. */
export const SEQUENCE = "sequence";

async function usualContainers(target: OpenWhiskTarget, call: OpenWhiskCall): Promise<Result<number>> {
  const limits = await readNamespaceLimits(target, call);
  return limits.ok ? ok(mostContainers(limits.value)) : limits;
}

export async function readNamespaceLimits({ origin }: OpenWhiskTarget, call: OpenWhiskCall) {
  const found = await call.ask({ method: "GET", path: "limits" });
  if (!found.ok) return found;
  const limits = NamespaceLimitsBody.safeParse(found.value);
  return limits.success
    ? ok(limits.data)
    : err(malformed(origin, "the namespace's limits lack 'concurrentInvocations'"));
}

/** In the words that every actuator has for it. */
function worded<T>(workload: WorkloadId, result: Result<T>): Result<T> {
  if (result.ok) return result;
  const cause: Failure = result.failure;
  if (cause.code === "functions.platform.aborted")
    return err(failure("actuator.aborted", "the action was given up before it was done", { retry: true, cause }));
  if (cause.code === "functions.platform.not-found")
    return err(
      failure("actuator.unknown-workload", `there is no function ${workload} on OpenWhisk: check its name`, { cause }),
    );
  return result;
}
