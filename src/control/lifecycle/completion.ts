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
  const { values: nextObs } = observation;
  const action = isOthers ? task.encodeSetting(have, pending.seen) : pending.executed;
  // Written out, as spreads of what is seldom there would take longer than all else.
  const plain: Transition =
    logProb === null
      ? { obs, action, proposed, reward, nextObs, end }
      : { obs, action, proposed, logProb, reward, nextObs, end };
  const hasContext = actorContext || criticContext || observation.actorContext || observation.criticContext;
  const transition: Transition = !hasContext
    ? plain
    : {
        ...plain,
        ...(actorContext ? { actorContext } : {}),
        ...(criticContext ? { criticContext } : {}),
        ...(observation.actorContext ? { nextActorContext: observation.actorContext } : {}),
        ...(observation.criticContext ? { nextCriticContext: observation.criticContext } : {}),
      };
  const completed: CompletedStep =
    end === "no" ? { episode, step, reward, end } : { episode, step, reward, end, finalObs: nextObs };
  return { transition, completed };
}
