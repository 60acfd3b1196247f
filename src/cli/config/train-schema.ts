/** Settings of `coxswain train`. */

import { z } from "zod";

const steps = z.int().positive();

export const trainSchema = z
  .strictObject({
    task: z.string().min(1).default("CartPole-v1").describe("environment id to learn"),
    algo: z.enum(["ppo", "dqn", "ddpg", "td3"]).default("ppo").describe("base learner"),
    seed: z.int().min(0).default(1).describe("every random stream of the run descends from it"),
    steps: steps.default(100_000).describe("environment steps to train for"),
    evaluateEverySteps: steps.default(10_000).describe("how often the policy is evaluated without exploration"),
    evaluateEpisodes: z.int().positive().default(10).describe("episodes per evaluation"),
    checkpointEverySteps: steps.default(20_000).describe("how often a checkpoint is written"),
  })
  .refine((train) => train.evaluateEverySteps <= train.steps, {
    path: ["evaluateEverySteps"],
    message: "must be at most train.steps, else the policy is never evaluated",
  });
