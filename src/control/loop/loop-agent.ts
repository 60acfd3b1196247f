/**
 * An agent in the loop: its ticks as they are, its training and its task's advice in a thread instead of in place.
 * Owns: when a round is due, whether what came of it is still wanted, stored steps as its learner takes them.
 * Not here: the agent (control/lifecycle), the thread (adapters/runtime's trainer).
 */
import type { Setting } from "../../act/index.ts";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Transition } from "../../learn/trajectory/index.ts";
import type { Seen, TaskReading } from "../index.ts";
import type { Agent, EstimatorOptions, TickInput, TrainingOutcome, TrainingWork } from "../lifecycle/index.ts";
import { AGENT_TRAINING_TASK } from "../lifecycle/index.ts";
import type { LoopAgent } from "./ports.ts";

export interface LoopAgentOptions<R extends TaskReading, S extends Setting, O extends Seen, F> {
  readonly agent: Agent<R, S, O, F>;
  /** Turns between two rounds of training. */
  readonly trainEvery?: number;
  /** Gradient updates of a round. */
  readonly updates?: number;
  /** How a trained policy is judged when the agent asks for an estimate. */
  readonly estimate: EstimatorOptions;
  /** The size of its learner's replay, which is filled from the trajectory store after a restart. */
  readonly replaySize: number;
}

export function loopAgent<R extends TaskReading, S extends Setting, O extends Seen, F>(
  options: LoopAgentOptions<R, S, O, F>,
): LoopAgent {
  const { agent, estimate, trainEvery = 4, updates = 64, replaySize } = options;
  let turns = 0;
  /** The stage in which the round under way began. */
  let begunIn: string | undefined;
  /** Whether it is work for the task, and none for the learner. */
  let isAdvice = false;
  return {
    parse: (arrived) => agent.parse(arrived),
    tick: (input) => {
      turns += 1;
      // `parse` has made the reading, and the actuator of this workload the setting: the loop only carries them.
      const tick = agent.tick(input as TickInput<R, S>);
      return tick.events.some(({ name }) => name === "learner-rebuilt") ? { ...tick, hasForgotten: true } : tick;
    },
    acted: (outcome) => agent.acted(outcome as Result<S>),
    training: () => {
      const work = agent.adviceWork;
      isAdvice = work !== undefined;
      if (work) return work;
      if (!agent.mayTrain || turns < trainEvery) return undefined;
      turns = 0;
      begunIn = agent.state.stage;
      const saved = agent.save({ resumable: true });
      return {
        kind: AGENT_TRAINING_TASK,
        config: {
          saved,
          workload: agent.workload,
          fallback: agent.fallback,
          updates,
          sharedModel: agent.sharedModel,
          estimate: agent.isEstimateDue ? estimate : null,
        } satisfies TrainingWork,
      };
    },
    adopt: (outcome) => {
      if (isAdvice) return agent.takeAdvice(outcome);
      const made = outcomeOf(outcome);
      if (!made.ok) return made;
      // A stage that ended meanwhile was left with the policy that had earned it; another one would be untried there.
      if (!agent.mayTrain || agent.state.stage !== begunIn) return ok(undefined);
      const { policy, updates: done, estimate: score } = made.value;
      const adopted = agent.adopt(policy, { isTrained: done > 0 });
      if (adopted.ok && score !== null) agent.takeEstimate(score);
      return adopted;
    },
    save: () => agent.save(),
    load: (state) => agent.load(state),
    recollection: {
      most: agent.takesAnySteps ? replaySize : 0,
      get own() {
        return agent.kept.length;
      },
      take: (steps, { isFirst }) => agent.recall(steps.map(learnable), { afresh: isFirst }),
    },
    dispose: () => agent.dispose(),
  };
}

/** A stored step as the learner takes it. Off-policy learners learn from what was done, whoever did it. */
function learnable({ record, nextObs }: Transition) {
  const { obs, proposed, executed, logProb, reward, end, actorContext, criticContext } = record;
  return {
    obs,
    action: executed,
    proposed,
    ...(logProb === null ? {} : { logProb }),
    reward,
    // Nothing follows a terminated step, and nobody looks at what stands there.
    nextObs: nextObs ?? obs,
    end,
    ...(actorContext ? { actorContext } : {}),
    ...(criticContext ? { criticContext } : {}),
  };
}

/** It comes from another thread, so it is looked at before it is believed. */
function outcomeOf(outcome: unknown): Result<TrainingOutcome> {
  const made = outcome as Partial<TrainingOutcome> | null | undefined;
  if (made?.policy instanceof Uint8Array && made.estimate !== undefined) return ok(made as TrainingOutcome);
  return err(
    failure(
      "loop.outcome",
      "the trainer answered with something that is not a policy; its threads must run the same version as the loop",
    ),
  );
}
