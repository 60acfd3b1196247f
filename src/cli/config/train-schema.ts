/**
 * Settings of `coxswain train`. Each algorithm has its own section; the defaults are the algorithms' own, so that this
 * file adds names, bounds and rules but no second opinion.
 */

import { z } from "zod";
import {
  type DdpgConfig,
  type DqnConfig,
  ddpgDefaults,
  dqnDefaults,
  type PpoConfig,
  ppoDefaults,
  td3Options,
} from "../../learn/rl/index.ts";

const count = z.int().positive();
const share = z.number().min(0).max(1);
const amount = z.number().min(0);
const hidden = z.array(count).min(1).describe("widths of the hidden layers");

const LINE = "a straight line from one value to another over the first fraction of training";
const NORMALISE_OBS = "scale observations by their mean and deviation so far";

const schedule = z.strictObject({ from: z.number(), to: z.number(), fraction: share });

const priority = z
  .strictObject({ alpha: share, beta: share, epsilon: z.number().positive() })
  .nullable()
  .describe("draw transitions by how wrong they were predicted; null draws uniformly");

const noise = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("gaussian"), sigma: amount }),
    z.strictObject({ kind: z.literal("ornstein-uhlenbeck"), sigma: amount, theta: amount, dt: z.number().positive() }),
    z.strictObject({ kind: z.literal("none") }),
  ])
  .describe("exploration, in the policy's scale of -1 to 1");

const ppoSchema = z
  .strictObject({
    hidden: hidden.default([...ppoDefaults.hidden]),
    lr: schedule.default(ppoDefaults.lr).describe(`learning rate: ${LINE}`),
    streams: count.default(ppoDefaults.streams).describe("parallel environments"),
    rolloutSteps: count.default(ppoDefaults.rolloutSteps).describe("steps of each environment between two updates"),
    epochs: count.default(ppoDefaults.epochs).describe("passes over a rollout"),
    minibatch: count.default(ppoDefaults.minibatch).describe("rows per gradient step"),
    gamma: share.default(ppoDefaults.gamma).describe("discount per step"),
    lambda: share.default(ppoDefaults.lambda).describe("of generalised advantage estimation"),
    clip: schedule.default(ppoDefaults.clip).describe(`how far one update may move the policy: ${LINE}`),
    valueClip: amount.default(ppoDefaults.valueClip).describe("the same for the value function; 0 for no limit"),
    valueCoef: amount.default(ppoDefaults.valueCoef).describe("weight of the value function's loss"),
    entropyCoef: amount.default(ppoDefaults.entropyCoef).describe("weight of staying undecided"),
    maxGradNorm: amount.default(ppoDefaults.maxGradNorm).describe("0 for no limit"),
    normaliseAdvantages: z
      .boolean()
      .default(ppoDefaults.normaliseAdvantages)
      .describe("scale advantages to mean 0 and deviation 1 in each minibatch"),
    targetKl: amount.default(ppoDefaults.targetKl).describe("0 for never stopping an update early"),
    normaliseObs: z.boolean().default(ppoDefaults.normaliseObs).describe(NORMALISE_OBS),
    normaliseReward: z
      .boolean()
      .default(ppoDefaults.normaliseReward)
      .describe("scale rewards by the deviation of returns so far"),
    logStdInit: z
      .number()
      .default(ppoDefaults.logStdInit)
      .describe("logarithm of the first deviation of Gaussian actions"),
    maskedChoices: z
      .boolean()
      .default(ppoDefaults.maskedChoices)
      .describe("the last numbers of an observation say which choices may be made now"),
  })
  .refine((ppo) => ppo.minibatch <= ppo.streams * ppo.rolloutSteps, {
    path: ["minibatch"],
    message: "must be at most streams × rolloutSteps, the rows of one rollout",
  }) satisfies z.ZodType<PpoConfig>;

/** The settings that all learners with a replay buffer share. */
function replaySettings(defaults: DqnConfig | DdpgConfig) {
  return {
    hidden: hidden.default([...defaults.hidden]),
    gamma: share.default(defaults.gamma).describe("discount per step"),
    tau: share.default(defaults.tau).describe("how far targets move towards the networks"),
    batch: count.default(defaults.batch).describe("transitions per gradient step"),
    bufferSize: count.default(defaults.bufferSize).describe("transitions kept"),
    learningStarts: z.int().min(0).default(defaults.learningStarts).describe("steps before anything is learned"),
    trainEvery: count.default(defaults.trainEvery).describe("environment steps between updates"),
    gradientSteps: count.default(defaults.gradientSteps).describe("gradient steps per update"),
    maxGradNorm: amount.default(defaults.maxGradNorm).describe("0 for no limit"),
    priority: priority.default(defaults.priority),
    normaliseObs: z.boolean().default(defaults.normaliseObs).describe(NORMALISE_OBS),
  };
}

const holdsBatch = (config: { readonly batch: number; readonly bufferSize: number }) =>
  config.batch <= config.bufferSize;
const tooLargeBatch = { path: ["batch"], message: "must be at most bufferSize" };

const dqnSchema = z
  .strictObject({
    ...replaySettings(dqnDefaults),
    lr: schedule.default(dqnDefaults.lr).describe(`learning rate: ${LINE}`),
    targetEvery: count.default(dqnDefaults.targetEvery).describe("steps between updates of the target network"),
    epsilon: schedule.default(dqnDefaults.epsilon).describe(`share of actions drawn at random: ${LINE}`),
    double: z.boolean().default(dqnDefaults.double).describe("double Q-learning"),
    loss: z.enum(["huber", "mse"]).default(dqnDefaults.loss).describe("of the temporal-difference error"),
    averaging: share
      .default(dqnDefaults.averaging)
      .describe("0 acts by the network itself, not by its running average"),
  })
  .refine(holdsBatch, tooLargeBatch) satisfies z.ZodType<DqnConfig>;

function ddpgSchema(defaults: DdpgConfig) {
  return z
    .strictObject({
      ...replaySettings(defaults),
      warmup: z
        .enum(["uniform", "noise"])
        .default(defaults.warmup)
        .describe("what the steps before learning draw their actions from"),
      actorLr: z.number().positive().default(defaults.actorLr).describe("learning rate of the policy"),
      criticLr: z.number().positive().default(defaults.criticLr).describe("learning rate of the critics"),
      noise: noise.default(defaults.noise),
      twinCritics: z.boolean().default(defaults.twinCritics).describe("two critics, of which the lower counts"),
      targetNoise: z
        .strictObject({ sigma: amount, clip: amount })
        .default(defaults.targetNoise)
        .describe("noise on the target policy's actions"),
      policyDelay: count.default(defaults.policyDelay).describe("updates of the critics for one of the policy"),
    })
    .refine(holdsBatch, tooLargeBatch) satisfies z.ZodType<DdpgConfig>;
}

export const trainSchema = z.strictObject({
  task: z.string().min(1).default("CartPole-v1").describe("environment id to learn"),
  taskConfig: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("settings that the environment is made with, such as 'application: 3' for AutoscaleFluid-v0"),
  algo: z.string().min(1).default("ppo").describe("learner: ppo, dqn, ddpg, td3, or the kind of one from a module"),
  learner: z.record(z.string(), z.unknown()).default({}).describe("settings of a learner from a module"),
  seed: z.int().min(0).default(1).describe("every random stream of the run descends from it"),
  steps: count.default(100_000).describe("environment steps to train for"),
  threads: z
    .int()
    .min(0)
    .default(0)
    .describe("0 steps and learns in turn; from 1 up, steps are taken in rounds on so many threads"),
  evaluateEverySteps: count.default(10_000).describe("how often the policy is evaluated without exploration"),
  evaluateEpisodes: count.default(10).describe("episodes per evaluation"),
  checkpointEverySteps: count.default(20_000).describe("how often a checkpoint is written"),
  ppo: ppoSchema.prefault({}),
  dqn: dqnSchema.prefault({}),
  ddpg: ddpgSchema(ddpgDefaults).prefault({}),
  td3: ddpgSchema({ ...ddpgDefaults, ...td3Options }).prefault({}),
});

export type TrainConfig = z.output<typeof trainSchema>;
