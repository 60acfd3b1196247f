/**
 * A step that was decided, now that its effect has been measured: what it earned, and what can be learned from it.
 * Pure. Not here: who learns from it and what is counted (agent.ts).
 */
import type { Setting } from "../../act/index.ts";
import type { Transition } from "../../learn/rl/index.ts";
import type { Seen, Task, TaskReading } from "../index.ts";
import type { CompletedStep, PendingStep } from "./tick.ts";

export interface Completion {
  readonly transition: Transition;
  readonly completed: CompletedStep;
}

interface Measured<S, O> {
  readonly observation: O;
  readonly have: S | null;
}

interface Ending<R extends TaskReading, S extends Setting, O extends Seen> {
  readonly task: Task<R, S, O>;
  readonly end: "no" | "truncated";
}

export function completionOf<R extends TaskReading, S extends Setting, O extends Seen>(
  pending: PendingStep<S, O>,
  { observation, have }: Measured<S, O>,
  { task, end }: Ending<R, S, O>,
): Completion {
  // Where nobody acted, somebody else may have: what is there now is what was done.
  const isOthers = pending.who === "nobody" && have !== null;
  const setting = isOthers ? have : pending.setting;
  const { previous, alone } = pending;
  const reward = task.reward(observation, alone ? { setting, previous, fallback: alone } : { setting, previous });
  const { episode, step, obs, proposed, logProb, actorContext, criticContext } = pending.record;
  const { values } = observation;
  return {
    transition: {
      obs,
      action: isOthers ? task.encodeSetting(have, pending.seen) : pending.executed,
      proposed,
      ...(logProb === null ? {} : { logProb }),
      reward,
      nextObs: values,
      end,
      ...(actorContext ? { actorContext } : {}),
      ...(criticContext ? { criticContext } : {}),
      ...(observation.actorContext ? { nextActorContext: observation.actorContext } : {}),
      ...(observation.criticContext ? { nextCriticContext: observation.criticContext } : {}),
    },
    completed: { episode, step, reward, end, ...(end === "no" ? {} : { finalObs: values }) },
  };
}
