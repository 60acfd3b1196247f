/**
 * What a plane manages, made of any task: its agent with learner and fallback, and the fallback alone for the twin.
 * Owns: putting these together, so that task, mode and pause follow what a person has set.
 * Not here: the parts (control, learn), which targets there are (cli/up/wiring.ts).
 */
import type { GuardLimits, Setting } from "../act/index.ts";
import type { Result } from "../base/index.ts";
import type { Fallback, Seen, Task, TaskReading, TaskView } from "../control/index.ts";
import type { AgentSettings } from "../control/lifecycle/index.ts";
import { Agent, modelForTask, offPolicyEstimator } from "../control/lifecycle/index.ts";
import { fallbackAgent, loopAgent } from "../control/loop/index.ts";
import type { SharedModel } from "../learn/meta/index.ts";
import type { Learner } from "../learn/rl/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";
import type { PersonSet, Target } from "./target.ts";

export interface LearnerWish {
  /** 0 is the first; a later one is asked for when a policy was lost, and should have another seed. */
  readonly attempt: number;
  /** The model that it begins with, where there is one that fits. */
  readonly shared?: SharedModel;
}

export interface TaskTargetOptions<R extends TaskReading, S extends Setting, O extends Seen, F>
  extends Omit<Target, "view" | "fallback" | "twinRules" | "createAgent" | "createRules"> {
  /** What the rules are called, for people. */
  readonly fallback: string;
  readonly view: TaskView<R, S>;
  /** For the SLO in force; asked once for each. */
  task(slo: Slo): Task<R, S, O>;
  readonly limits: GuardLimits;
  readonly rules: Fallback<F, R, S>;
  /** Other rules for the twin than the agent's fallback, with what they are called. */
  readonly twin?: { readonly title: string; readonly rules: Fallback<F, R, S> };
  createLearner(wish: LearnerWish): Learner;
  /** A model that it is to begin with, or why that cannot be used; absent: it begins with nothing. */
  readonly shared?: Result<SharedModel> | undefined;
  readonly settings?: Partial<AgentSettings>;
  readonly seed: number;
  readonly training: TrainingPace;
}

export interface TrainingPace {
  /** Turns between two rounds of training. */
  readonly trainEvery: number;
  /** Gradient updates of a round. */
  readonly updates: number;
  /** The size of its learner's replay, which is filled from the trajectory store after a restart. */
  replaySize(begun: { readonly isShared: boolean }): number;
}

export function taskTarget<R extends TaskReading, S extends Setting, O extends Seen, F>(
  options: TaskTargetOptions<R, S, O, F>,
): Target {
  const { id, agent, title, fallback, slo, mode, attainment, view, have, twinHave, rules, limits, objective, twin } =
    options;
  return {
    id,
    agent,
    title,
    fallback: { name: rules.name, title: fallback },
    slo,
    mode,
    ...(attainment === undefined ? {} : { attainment }),
    ...(objective === undefined ? {} : { objective }),
    ...(twin === undefined ? {} : { twinRules: { name: twin.rules.name, title: twin.title } }),
    view,
    have,
    twinHave,
    profile: options.profile,
    createAgent: (set) => createAgent(options, set),
    createRules: () => fallbackAgent({ workload: id, task: options.task(slo), fallback: twin?.rules ?? rules, limits }),
  };
}

function createAgent<R extends TaskReading, S extends Setting, O extends Seen, F>(
  options: TaskTargetOptions<R, S, O, F>,
  set: PersonSet,
) {
  const { id, seed, limits, rules, settings, training } = options;
  let current = { slo: set.slo, task: options.task(set.slo) };
  /** Asked for several times in every tick, so it is made once for each SLO. */
  const taskFor = (slo: Slo): Task<R, S, O> => {
    if (current.slo !== slo) current = { slo, task: options.task(slo) };
    return current.task;
  };
  const shared = options.shared?.ok ? modelForTask(options.shared.value, current.task) : options.shared;
  const estimate = { seed, config: { horizon: current.task.episodeSteps } };
  const agent = new Agent<R, S, O, F>({
    workload: id,
    get task() {
      return taskFor(set.slo);
    },
    get profile() {
      return options.profile(set.mode);
    },
    limits,
    fallback: rules,
    createLearner: (attempt) =>
      set.disturb(options.createLearner(shared?.ok ? { attempt, shared: shared.value } : { attempt })),
    ...(shared ? { shared } : {}),
    estimator: offPolicyEstimator(estimate),
    ...(settings ? { settings } : {}),
    seed,
    isPaused: () => set.isPaused,
  });
  const { trainEvery, updates } = training;
  const replaySize = training.replaySize({ isShared: agent.sharedModel !== null });
  return { agent, slot: loopAgent({ agent, replaySize, trainEvery, updates, estimate }) };
}
