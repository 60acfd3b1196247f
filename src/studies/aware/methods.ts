/**
 * The methods that the AWARE studies compare, as settings of one lifecycle.
 * Owns: which thresholds, gates, shield and actions each has. Not here: driving them (agents.ts, drivers.ts).
 */
import type { LifecycleProfile } from "../../control/lifecycle/index.ts";
import { noGates, paperProfile } from "../../control/lifecycle/index.ts";
import type { AutoscaleTask, ShieldOptions } from "../../control/tasks/pods/index.ts";
import { noShield } from "../../control/tasks/pods/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import type { Learner } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { AgentDriver } from "./agents.ts";
import { agentDriver } from "./agents.ts";
import type { AgentConfig } from "./config.ts";
import { rulesDriver } from "./drivers.ts";
import type { Setting } from "./setting.ts";

/** What stands between a policy and the workload, and what its actions say. */
export interface Form {
  readonly shield: ShieldOptions;
  readonly actions: AutoscaleTask["actions"];
}

export interface LearningMethod extends Form {
  readonly profile: Partial<LifecycleProfile>;
}

/** As the papers' authors made their agents: an action is a limit, and nothing is around it. */
export const published: Form = { shield: noShield, actions: "limits" };

/** As this product is: an action is a multiple of what the requests need, behind the shield. */
export const ours = ({ shield }: AgentConfig): Form => ({ shield, actions: "demand" });

/** The paper set its 130 because the rules earned about 130; here it is what they earn on the very workload. */
const fallbackLevel = { kind: "fallback", times: 1, plus: 0 } as const;
/** A life under a daily load: even the rules' rewards deviate by more than the paper's 5. */
const fallbackDeviation = { kind: "fallback", times: 1.5, atLeast: 5 } as const;

const algorithm1: Partial<LifecycleProfile> = {
  ...paperProfile,
  online: fallbackLevel,
  deviation: fallbackDeviation,
  gates: noGates,
};

/** All that this product has: bootstrapping, gates, shield, rollback. */
export const aware = (agent: AgentConfig): LearningMethod => ({ profile: { gates: agent.gates }, ...ours(agent) });

/** What the paper has: Algorithm 1, nothing around it. */
export const awareOfPaper: LearningMethod = { profile: algorithm1, ...published };

/** The paper's way for workloads that cannot bear a learner's mistakes: while the policy is retrained, the rules act. */
export const awareOfPaperHighStakes: LearningMethod = { profile: { ...algorithm1, stakes: "high" }, ...published };

/** Algorithm 1 behind the shield. Without it some learners end in pods that are killed for lack of memory, all of it used. */
export const awareShielded = (agent: AgentConfig): LearningMethod => ({ profile: algorithm1, ...ours(agent) });

/** Bootstrapping until the recorded rewards reach this many times the fallback's level. */
export const bootstrappedTo = (times: number): LearningMethod => ({
  profile: { ...algorithm1, online: { kind: "fallback", times, plus: 0 } },
  ...published,
});

/** Retraining when the mean falls this far below the converged level. */
export const retrainedBelow = (below: number): LearningMethod => ({
  profile: { ...algorithm1, serving: { kind: "converged", below } },
  ...published,
});

/** Algorithm 1 that begins ONLINE: the base learner learns by trying, from the first step on. */
export const withoutBootstrap: LearningMethod = { profile: { ...algorithm1, bootstrap: false }, ...published };

/** Rewards are between 0 and 200, so these thresholds always hold: once in SERVING, always in SERVING. */
const always = { kind: "absolute", value: -1_000 } as const;
const anyDeviation = { kind: "absolute", value: 1_000 } as const;

/** A policy that serves as it is, whatever comes of it. */
export const frozen = (form: Form = published): LearningMethod => ({
  profile: { ...algorithm1, online: always, serving: always, deviation: anyDeviation },
  ...form,
});

/** A policy that never stops learning: no window of rewards is without any deviation. */
export const everLearning = (form: Form = published): LearningMethod => ({
  profile: { ...algorithm1, bootstrap: false, deviation: { kind: "absolute", value: 0 } },
  ...form,
});

export interface DriverParts {
  readonly setting: Setting;
  readonly agent: AgentConfig;
  readonly kernels: Kernels;
  readonly seed: number;
  /** An agent's save to go on from. */
  readonly saved?: Uint8Array;
  /** Another agent's policy to begin with. */
  readonly policy?: Uint8Array;
  /** In place of the lifecycle's own learner. */
  createLearner?(attempt: number): Learner;
  /** A pre-trained model to begin with, as the product does. */
  readonly shared?: SharedModel;
}

export function learningDriver(method: LearningMethod, parts: DriverParts): AgentDriver {
  const { setting, agent, kernels, seed, saved, policy, createLearner, shared } = parts;
  const { profile, shield, actions } = method;
  return agentDriver({
    scene: setting.scene,
    task: { ...setting.task, actions },
    fallback: setting.fallback(),
    kernels,
    seed,
    profile,
    shield,
    settings: agent.settings,
    learner: agent.learner,
    updatesPerStep: agent.updatesPerStep,
    ...(saved ? { saved } : {}),
    ...(policy ? { policy } : {}),
    ...(createLearner ? { createLearner } : {}),
    ...(shared ? { shared } : {}),
  });
}

export const rulesOnly = ({ scene, fallback }: Setting) => rulesDriver(scene, fallback());
