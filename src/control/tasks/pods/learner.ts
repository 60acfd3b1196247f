/**
 * The learner of an autoscaling agent: around the capacity model's plan the plan itself; without a model BCQ while it learns from the
 * fallback, TD3 when it has been let go; another one that the workload's owner names; or a policy that was trained on other
 * workloads, under this one's embedding.
 * Owns: its shape for a task, which learners an agent may have, and their hyperparameters. Not here: the algorithms
 * (learn/rl).
 */
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { SharedModel } from "../../../learn/meta/index.ts";
import { ADAPTED_REPLAY_STEPS, AdaptedLearner } from "../../../learn/meta/index.ts";
import type {
  Algorithm,
  BcqConfig,
  DdpgConfig,
  Learner,
  LearnerConfig,
  LearnsFrom,
  PpoConfig,
} from "../../../learn/rl/index.ts";
import {
  bcqDefaults,
  constant,
  createLearner,
  ddpgDefaults,
  learnerKinds,
  ppoDefaults,
  td3Options,
} from "../../../learn/rl/index.ts";
import type { Kernels } from "../../../learn/tensor/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import { observationSpace } from "./observation.ts";
import { actionSizeOf } from "./task.ts";

/**
 * Table 2 of AWARE where it says something; its replay of 10⁶ is 50,000 here, the rest stays in the trajectory store.
 * Exploration noise is the agent's (agent-options.ts), since the shield has to hold it.
 */
export const autoscaleBcq: BcqConfig = Object.freeze<BcqConfig>({
  ...bcqDefaults,
  actorLr: 3e-4,
  criticLr: 3e-3,
  gamma: 0.99,
  tau: 3e-3,
  batch: 64,
  bufferSize: 50_000,
  noise: { kind: "none" },
  // Episodes only ever truncate: the workload goes on.
  centreRewards: true,
});

/** DDPG in the same slot: nothing is drawn at random before it learns, for the fallback's steps are there to begin with. */
const autoscaleDdpg: DdpgConfig = Object.freeze<DdpgConfig>({
  ...ddpgDefaults,
  actorLr: autoscaleBcq.actorLr,
  criticLr: autoscaleBcq.criticLr,
  gamma: autoscaleBcq.gamma,
  tau: autoscaleBcq.tau,
  batch: autoscaleBcq.batch,
  bufferSize: autoscaleBcq.bufferSize,
  learningStarts: 0,
  noise: autoscaleBcq.noise,
});

/**
 * PPO in the same slot. It draws its actions itself, as widely at first as the agent's noise would; a life has no end that
 * a schedule could run towards; one agent is one stream, and half an hour of it a rollout.
 */
const autoscalePpo: PpoConfig = Object.freeze<PpoConfig>({
  ...ppoDefaults,
  lr: constant(3e-4),
  clip: constant(0.2),
  streams: 1,
  rolloutSteps: 128,
  minibatch: 64,
  gamma: autoscaleBcq.gamma,
  entropyCoef: 0,
  logStdInit: Math.log(0.2),
});

/** Steps that a learner keeps, by whether it began from a shared model. */
export const replayStepsOf = ({ isShared }: { readonly isShared: boolean }): number =>
  isShared ? ADAPTED_REPLAY_STEPS : autoscaleBcq.bufferSize;

/** The learner of one workload's agent, as its owner writes it. */
export interface LearnerChoice {
  /** `bcq`, the usual one, `td3`, `ddpg`, `ppo`, or the kind of a registered learner. */
  readonly kind: string;
  /** Settings that differ from the usual ones of an agent. */
  readonly config: LearnerConfig;
}

const agentLearners = (): readonly string[] => ["bcq", "td3", "ddpg", "ppo", ...learnerKinds()];

/** Whose steps a learner that comes with the product may learn from; of a user's own only the learner itself knows. */
export const learnsFromOf = ({ kind }: LearnerChoice): LearnsFrom => (kind === "ppo" ? "own-rollout" : "any");

export function learnerAlgorithm({ kind, config }: LearnerChoice): Result<Algorithm> {
  const own = learnerKinds().includes(kind);
  if (own) return ok({ kind: "registered", name: kind, config });
  const usual = usualSettings(kind);
  if (usual === undefined)
    return refused(`there is no learner '${kind}' for an agent; known are ${agentLearners().join(", ")}`);
  for (const [key, value] of Object.entries(config))
    if (!isLike(value, (usual.config as unknown as LearnerConfig)[key]))
      return refused(`the learner '${kind}' has no setting '${key}' of this kind; correct or remove it`);
  const algorithm = { kind: usual.kind, config: { ...usual.config, ...config } } as Algorithm;
  const problem = algorithm.kind === "ppo" ? rolloutProblem(algorithm.config) : undefined;
  return problem === undefined ? ok(algorithm) : refused(`the learner '${kind}' cannot have ${problem}`);
}

function rolloutProblem(config: PpoConfig): string | undefined {
  if (config.streams !== 1) return `streams ${config.streams}: one agent is one stream`;
  for (const key of ["rolloutSteps", "epochs", "minibatch"] as const)
    if (!Number.isInteger(config[key]) || config[key] < 1) return `${key} ${config[key]}: give a whole number from 1`;
  return undefined;
}

function usualSettings(kind: string): Extract<Algorithm, { kind: "bcq" | "ddpg" | "ppo" }> | undefined {
  switch (kind) {
    case "bcq":
      return { kind: "bcq", config: autoscaleBcq };
    case "td3":
      return { kind: "ddpg", config: { ...autoscaleDdpg, ...td3Options } };
    case "ddpg":
      return { kind: "ddpg", config: autoscaleDdpg };
    case "ppo":
      return { kind: "ppo", config: autoscalePpo };
    default:
      return undefined;
  }
}

/** Numbers for numbers, lists for lists: what is inside, the learner sees. */
function isLike(value: unknown, usual: unknown): boolean {
  if (typeof value === "number" && !Number.isFinite(value)) return false;
  return usual !== undefined && typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual);
}

const refused = (message: string) => err(failure("agent.learner", message));

export interface AutoscaleLearnerOptions {
  readonly kernels: Kernels;
  readonly task: Pick<AutoscaleTask, "features" | "actions">;
  readonly seed: number;
  readonly config?: Partial<BcqConfig>;
  /** Another one than the usual, from `learnerAlgorithm`. */
  readonly algorithm?: Algorithm;
  /** Begins with its policy instead, which is fine-tuned; to be asked for by `modelForTask` first. */
  readonly shared?: SharedModel;
}

export function autoscaleLearner(options: AutoscaleLearnerOptions): Learner {
  const { kernels, task, seed, config, shared, algorithm } = options;
  if (shared) return new AdaptedLearner({ kernels, shared, seed });
  const size = actionSizeOf(task);
  const low = new Array<number>(size).fill(-1);
  const high = new Array<number>(size).fill(1);
  const shape = {
    obs: observationSpace(task).size,
    action: { kind: "continuous" as const, low, high },
    actorContext: 0,
    criticContext: 0,
  };
  const usual: Algorithm =
    task.actions === "residual" && config === undefined
      ? { kind: "constant", config: { action: new Array<number>(size).fill(0) } }
      : { kind: "bcq", config: { ...autoscaleBcq, ...config } };
  return createLearner(algorithm ?? usual, { kernels, shape, seed });
}
