/**
 * Learners under the lifecycle, as studies drive them.
 * Owns: the agent of a scene with the paper's hyperparameters, training between steps, the ways in which studies differ.
 * Not here: the lifecycle (control/lifecycle), the learner (learn/rl).
 */
import { ok, unwrap } from "../../base/index.ts";
import type { Fallback } from "../../control/fallbacks/index.ts";
import type { AgentOptions, AgentSettings, LifecycleProfile, ShieldOptions } from "../../control/lifecycle/index.ts";
import { Agent, defaultShield, parseLifecycleProfile } from "../../control/lifecycle/index.ts";
import type { AutoscaleTask } from "../../control/tasks/index.ts";
import { actionSpace, observationSpace } from "../../control/tasks/index.ts";
import type { BcqConfig } from "../../learn/rl/index.ts";
import { actionShapeOf, Bcq, bcqDefaults } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { Driver, View } from "./drive.ts";
import { warmHistory } from "./rules.ts";
import type { Scene } from "./scene.ts";
import { guardLimits } from "./scene.ts";

/** Table 2 of the paper, as far as it goes. Rewards are centred: episodes only ever truncate. */
export const learnerConfig: BcqConfig = {
  ...bcqDefaults,
  actorLr: 3e-4,
  criticLr: 3e-3,
  gamma: 0.99,
  tau: 3e-3,
  batch: 64,
  bufferSize: 50_000,
  centreRewards: true,
};

export interface AgentDriverOptions<S> {
  readonly scene: Scene;
  readonly task: AutoscaleTask;
  readonly fallback: Fallback<S>;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly profile?: Partial<LifecycleProfile>;
  readonly shield?: ShieldOptions;
  readonly settings?: Partial<AgentSettings>;
  readonly learner?: Partial<BcqConfig>;
  readonly estimator?: AgentOptions<S>["estimator"];
  /** Gradient steps per control step while the agent may learn; the paper's base learner takes one. */
  readonly updatesPerStep?: number;
  readonly policy?: Uint8Array;
}

export interface AgentDriver extends Driver {
  readonly stage: string;
  dispose(): void;
}

export function agentDriver<S>(options: AgentDriverOptions<S>): AgentDriver {
  const { scene, task, fallback, kernels, seed, updatesPerStep = 1 } = options;
  const shape = {
    obs: observationSpace(task).size,
    action: actionShapeOf(actionSpace),
    actorContext: 0,
    criticContext: 0,
  };
  const agent = new Agent<S>({
    workload: scene.workload,
    task,
    profile: unwrap(parseLifecycleProfile(options.profile)),
    limits: guardLimits,
    fallback,
    fallbackStart: { history: warmHistory(scene) },
    createLearner: (attempt) => {
      const learner = new Bcq({
        kernels,
        shape,
        config: { ...learnerConfig, ...options.learner },
        seed: seed + 7_919 * attempt,
      });
      if (options.policy !== undefined) unwrap(learner.load(options.policy));
      return learner;
    },
    shield: options.shield ?? defaultShield,
    ...(options.settings ? { settings: options.settings } : {}),
    ...(options.estimator ? { estimator: options.estimator } : {}),
    seed,
  });
  return {
    get stage() {
      return agent.state.stage;
    },
    decide({ reading, have, nodes, now }: View) {
      const tick = agent.tick({ reading: ok(reading), have: ok(have), nodes, now });
      if (agent.mayTrain) agent.train({ updates: updatesPerStep });
      return tick.action;
    },
    dispose: () => agent.dispose(),
  };
}
