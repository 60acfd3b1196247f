/**
 * Learners under the lifecycle, as studies drive them.
 * Owns: the agent of a scene, training between its steps, the ways in which studies differ.
 * Not here: the lifecycle and its learner (control/lifecycle).
 */
import type { Allocation } from "../../act/index.ts";
import { ok, unwrap } from "../../base/index.ts";
import type { PodFallback } from "../../control/fallbacks/index.ts";
import { startingWith } from "../../control/fallbacks/index.ts";
import type { AgentSettings, LifecycleProfile, Tick } from "../../control/lifecycle/index.ts";
import { Agent, offPolicyEstimator, parseLifecycleProfile } from "../../control/lifecycle/index.ts";
import type { AutoscaleTask, ShieldOptions } from "../../control/tasks/pods/index.ts";
import { autoscaleLearner, defaultShield, podsTask } from "../../control/tasks/pods/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import type { BcqConfig, Learner } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { guardLimits } from "../../pretraining/index.ts";
import type { Driver, View } from "./drive.ts";
import { loadHistory, warmHistory } from "./rules.ts";

export interface AgentDriverOptions<S> {
  readonly scene: Scene;
  readonly task: AutoscaleTask;
  readonly fallback: PodFallback<S>;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly profile?: Partial<LifecycleProfile>;
  readonly shield?: ShieldOptions;
  readonly settings?: Partial<AgentSettings>;
  readonly learner?: Partial<BcqConfig>;
  /** Gradient steps per control step while the agent may learn; the paper's base learner takes one. */
  readonly updatesPerStep?: number;
  /** An agent's save to start from. */
  readonly saved?: Uint8Array;
  /** A learner's save to start from: its networks, with a new agent around it that has seen nothing. */
  readonly policy?: Uint8Array;
  /** In place of the lifecycle's own learner. */
  createLearner?(attempt: number): Learner;
  /** A model whose policy the agent begins with, under the workload's embedding, as the product does. */
  readonly shared?: SharedModel;
  /** Is shown every tick, for studies that count. */
  readonly watch?: TickWatch;
}

export type TickWatch = (tick: Tick<Allocation>, view: View) => void;

export interface AgentDriver extends Driver {
  readonly stage: string;
  /** Gradient updates so far. */
  readonly updates: number;
  save(): Uint8Array;
  /** The learner alone, without what it has seen: what another workload's learner can begin with. */
  policy(): Uint8Array;
  dispose(): void;
}

export function agentDriver<S>(options: AgentDriverOptions<S>): AgentDriver {
  const { scene, task, fallback, kernels, seed, updatesPerStep = 1 } = options;
  let learner: Learner;
  const agent = new Agent({
    workload: scene.workload,
    task: podsTask(task, { shield: options.shield ?? defaultShield, history: loadHistory(scene) }),
    profile: unwrap(parseLifecycleProfile(options.profile)),
    limits: guardLimits,
    fallback: startingWith(fallback, { history: warmHistory(scene) }),
    createLearner(attempt) {
      learner =
        options.createLearner?.(attempt) ??
        autoscaleLearner({
          kernels,
          task,
          seed: seed + 7_919 * attempt,
          ...(options.learner ? { config: options.learner } : {}),
          ...(options.shared ? { shared: options.shared } : {}),
        });
      // A learner that was lost is not made of what it was lost with.
      if (options.policy !== undefined && attempt === 0) unwrap(learner.load(options.policy));
      return learner;
    },
    ...(options.shared ? { shared: ok(options.shared) } : {}),
    estimator: offPolicyEstimator({ seed }),
    ...(options.settings ? { settings: options.settings } : {}),
    seed,
  });
  if (options.saved !== undefined) unwrap(agent.load(options.saved));
  let updates = 0;
  return {
    get stage() {
      return agent.state.stage;
    },
    get updates() {
      return updates;
    },
    decide(view: View) {
      const { reading, have, nodes, now } = view;
      const tick = agent.tick({ reading: ok(reading), have: ok(have), nodes, now });
      options.watch?.(tick, view);
      agent.advise();
      if (agent.mayTrain) updates += agent.train({ updates: updatesPerStep }).updates;
      return tick.action;
    },
    save: () => agent.save({ resumable: true }),
    policy: () => learner.save(),
    dispose: () => agent.dispose(),
  };
}
