/**
 * A simulated workload as what a plane manages: the pods task with its learner, its fallback and its guard.
 * Owns: putting these together. Not here: the parts (control, learn), the world (simulated-world.ts), turns (plane).
 */
import type { Allocation } from "../../act/index.ts";
import type { AgentId, Ms, Result } from "../../base/index.ts";
import { unwrap } from "../../base/index.ts";
import { startingWith } from "../../control/fallbacks/index.ts";
import {
  autoscaleLearner,
  learnerAlgorithm,
  objectiveWords,
  podsTask,
  podView,
  replayStepsOf,
  taskForModel,
} from "../../control/tasks/pods/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { Target } from "../../plane/index.ts";
import { taskTarget } from "../../plane/index.ts";
import { costOf } from "../../sim/index.ts";
import type { TwinKind } from "./pod-rules.ts";
import { FALLBACK_TITLE, fallbackOf, historyOf, loadHistoryOf, TYPICAL_TITLE, typicalRules } from "./pod-rules.ts";
import type { SimulatedWorkload } from "./simulated-workload.ts";

export interface PodsTargetOptions {
  readonly workload: SimulatedWorkload;
  readonly agent: AgentId;
  readonly have: Allocation;
  readonly twinHave: Allocation;
  readonly twin: TwinKind;
  readonly kernels: Kernels;
  /** The model that it begins with, or why it cannot be used; undefined: it begins with nothing. */
  readonly shared: Result<SharedModel> | undefined;
  readonly seed: number;
  /** When the world began, for the rules' memory of the days before. */
  readonly startedAt: Ms;
}

export function podsTarget(options: PodsTargetOptions): Target {
  const { workload, agent, have, twinHave, twin, kernels, shared, seed, startedAt } = options;
  const { id, title, slo, bounds, life } = workload;
  const model = shared?.ok ? shared.value.model.task : undefined;
  const taskOf = (inForce: typeof slo) => taskForModel(life.task(inForce), model);
  const settings = taskOf(slo);
  const algorithm = life.learner && unwrap(learnerAlgorithm(life.learner));
  return taskTarget({
    id,
    agent,
    title,
    fallback: FALLBACK_TITLE,
    slo,
    mode: life.mode,
    attainment: settings.attainment,
    objective: objectiveWords(settings),
    ...(twin === "typical" ? { twin: { title: TYPICAL_TITLE, rules: typicalRules(workload) } } : {}),
    view: podView({ task: settings, most: bounds.replicas.max, priceOf }),
    have,
    twinHave,
    profile: life.profile,
    task: (inForce) =>
      podsTask(taskOf(inForce), {
        ...(life.shield ? { shield: life.shield } : {}),
        history: loadHistoryOf(workload, startedAt),
      }),
    limits: life.limits,
    rules: startingWith(fallbackOf(workload), { history: historyOf(workload, startedAt) }),
    createLearner: ({ attempt, shared: model }) =>
      autoscaleLearner({
        kernels,
        task: settings,
        seed: seed + 7_919 * attempt,
        ...(model ? { shared: model } : {}),
        ...(algorithm ? { algorithm } : {}),
      }),
    shared,
    settings: life.settings,
    seed,
    training: { trainEvery: 4, updates: 48, replaySize: replayStepsOf },
  });
}

const priceOf = ({ replicas, cpu, memory }: Allocation, passed: Ms): number =>
  costOf({
    coreSeconds: (replicas * cpu * passed) / 1_000_000,
    byteSeconds: (replicas * memory * passed) / 1_000,
    disruptions: 0,
  });
