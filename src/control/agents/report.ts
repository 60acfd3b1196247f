/**
 * What an agent of a fleet tells the coordinator after a step.
 * Owns: its shape and the check. Not here: what is done with it (coordinator.ts), which quantities a task shares (its folder).
 */
import { type Failure, failure, type WorkloadId } from "../../base/index.ts";

export interface AgentReport {
  readonly agent: WorkloadId;
  /** Which life of the agent speaks, as `join` answered. */
  readonly incarnation: number;
  /** The step that it is about: the one that the coordinator has open. */
  readonly step: number;
  /** What the others may know of it, in the order of the coordinator's features. */
  readonly values: ArrayLike<number>;
  /** Its own, of this step; null where it did nothing that is rewarded. */
  readonly reward: number | null;
}

/** Undefined where a report can be taken in. */
export function reportProblem({ agent, values, reward }: AgentReport, width: number): Failure | undefined {
  if (values.length !== width)
    return failure(
      "agents.shape",
      `${agent} reported ${values.length} values and the fleet shares ${width}; use its features`,
    );
  for (let i = 0; i < width; i++)
    if (!Number.isFinite(values[i]))
      return failure("agents.not-finite", `${agent} reported ${values[i]} as value ${i}; report finite numbers only`);
  if (reward !== null && !Number.isFinite(reward))
    return failure("agents.not-finite", `${agent} reported a reward of ${reward}; report finite numbers only`);
  return undefined;
}
