/**
 * A step that was decided, now that its effect has been measured: what it earned, and what can be learned from it.
 * Pure. Not here: who learns from it and what is counted (agent.ts).
 */
import type { Transition } from "../../learn/rl/index.ts";
import type { AutoscaleTask, Observation } from "../tasks/index.ts";
import { encodeAction, reward } from "../tasks/index.ts";
import type { Sight } from "./sight.ts";
import type { CompletedStep, PendingStep } from "./tick.ts";

export interface Completion {
  readonly transition: Transition;
  readonly completed: CompletedStep;
}

export function completionOf(
  pending: PendingStep,
  { observation, have }: Pick<Sight, "have"> & { readonly observation: Observation },
  { task, end }: { readonly task: AutoscaleTask; readonly end: "no" | "truncated" },
): Completion {
  // Where nobody acted, somebody else may have: what is there now is what was done.
  const isOthers = pending.who === "nobody" && have !== null;
  const allocation = isOthers ? have : pending.allocation;
  const { measures, values } = observation;
  const earned = reward(task, { measures, allocation, previous: pending.previous });
  const { episode, step, obs, proposed, logProb } = pending.record;
  return {
    transition: {
      obs,
      action: isOthers ? encodeAction(task, have, pending.demand) : pending.executed,
      proposed,
      ...(logProb === null ? {} : { logProb }),
      reward: earned,
      nextObs: values,
      end,
    },
    completed: { episode, step, reward: earned, end, ...(end === "no" ? {} : { finalObs: values }) },
  };
}
