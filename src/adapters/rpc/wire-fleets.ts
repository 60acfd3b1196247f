/** What the agents of a fleet do and see, as messages. Not here: one agent's numbers (wire-spaces.ts). */
import { create } from "@bufbuild/protobuf";
import { CodedError, failure } from "../../base/index.ts";
import type { FleetEnv, Step } from "../../learn/env/index.ts";
import { type AgentAction, type AgentObserved, AgentObservedSchema } from "./generated/coxswain/env/v1/env_pb.ts";
import { valueFromNumbers, valueToNumbers } from "./wire-spaces.ts";

type Fleet = FleetEnv<unknown, unknown>;

export function actionsFromMessage({ actionSpace }: Fleet, actions: readonly AgentAction[]): Map<string, unknown> {
  const by = new Map(actions.map(({ agent, action }) => [agent, valueFromNumbers(actionSpace, action)]));
  if (by.size === actions.length) return by;
  throw new CodedError(failure("space.mismatch", "an agent has two actions in one step; send one for each"));
}

export function agentsToMessage(
  { observationSpace }: Fleet,
  steps: ReadonlyMap<string, Step<unknown>>,
): AgentObserved[] {
  return [...steps].map(([agent, { obs, reward, end }]) =>
    create(AgentObservedSchema, {
      agent,
      observation: valueToNumbers(observationSpace, obs),
      reward,
      terminated: end === "terminated",
      truncated: end === "truncated",
    }),
  );
}
