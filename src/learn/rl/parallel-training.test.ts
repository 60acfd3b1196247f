import { expect, test } from "vitest";
import type { TaskContext, WorkerPool } from "../tensor/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import { openLearner } from "./algorithms.ts";
import { ddpgDefaults } from "./ddpg-config.ts";
import type { ParallelTrainOptions } from "./parallel-training.ts";
import { ParallelTraining, trainParallel } from "./parallel-training.ts";
import { ppoDefaults } from "./ppo.ts";
import { rolloutKinds } from "./rollout-task.ts";
import { Training } from "./train.ts";

/** Runs tasks in turn on the calling thread, each group of streams in a worker's memory of its own. */
function inlinePool(threads: number): WorkerPool {
  const workers = Array.from({ length: threads }, () => rolloutKinds());
  let next = 0;
  return {
    threads,
    run: async ({ kind, config }) => {
      const worker = workers[next++ % threads];
      const context: TaskContext = { kernels: referenceKernels(), isCancelled: () => false, progress: () => {} };
      return worker?.tasks[kind]?.(config, context);
    },
    openShards: () => Promise.reject(new Error("not asked for")),
    close: async () => {},
  };
}

const ppo: Algorithm = {
  kind: "ppo",
  config: { ...ppoDefaults, hidden: [16], streams: 3, rolloutSteps: 20, minibatch: 32, normaliseReward: true },
};
const ddpg: Algorithm = {
  kind: "ddpg",
  config: {
    ...ddpgDefaults,
    hidden: [16],
    batch: 16,
    bufferSize: 200,
    learningStarts: 32,
    noise: { kind: "ornstein-uhlenbeck", sigma: 0.2, theta: 0.15, dt: 1 },
  },
};

const optionsFor = (algorithm: Algorithm, more: Partial<ParallelTrainOptions> = {}): ParallelTrainOptions => ({
  envId: algorithm.kind === "ppo" ? "CartPole-v1" : "Pendulum-v1",
  algorithm,
  seed: 11,
  kernels: referenceKernels(),
  totalSteps: 400,
  rounds: { streams: 3, steps: 25 },
  evaluation: { every: 110, episodes: 1 },
  pool: inlinePool(1),
  ...more,
});

async function finished(training: ParallelTraining): Promise<ParallelTraining> {
  while (!training.isDone) await training.advance();
  return training;
}

for (const algorithm of [ppo, ddpg]) {
  test(`${algorithm.kind}: resumed on other threads, a training ends with the same bytes and evaluations`, async () => {
    const whole = await finished(new ParallelTraining(optionsFor(algorithm)));
    const first = new ParallelTraining(optionsFor(algorithm));
    await first.advance();
    await first.advance();
    const resumeFrom = first.save();
    const second = await finished(new ParallelTraining(optionsFor(algorithm, { pool: inlinePool(2), resumeFrom })));
    expect(second.evaluations).toEqual(whole.evaluations);
    expect(second.save()).toEqual(whole.save());
    const other = await finished(new ParallelTraining(optionsFor(algorithm, { seed: 12 })));
    expect(other.learner.save()).not.toEqual(whole.learner.save());
  });
}

test("a round of PPO is one rollout; evaluations are exact and checkpoints fall on ends of rounds", async () => {
  const seen = { updates: [] as number[], evaluations: [] as number[], checkpoints: [] as number[] };
  const outcome = await trainParallel(
    optionsFor(ppo, {
      checkpointEvery: 100,
      callbacks: {
        onUpdate: (_, { steps }) => void seen.updates.push(steps),
        onEvaluation: ({ steps }) => void seen.evaluations.push(steps),
        onCheckpoint: ({ steps }) => void seen.checkpoints.push(steps),
      },
    }),
  );
  expect(outcome.steps).toBe(400);
  expect(seen.updates).toEqual([60, 120, 180, 240, 300, 360]);
  expect(seen.evaluations).toEqual([110, 220, 330]);
  expect(seen.checkpoints).toEqual([120, 240, 300, 400]);
  expect(openLearner(outcome.checkpoint, referenceKernels()).ok).toBe(true);
});

test("a checkpoint of a training step by step, or of other rounds, is refused", () => {
  const { pool: _, rounds: __, ...serial } = optionsFor(ddpg);
  const mismatch = expect.objectContaining({ code: "checkpoint.mismatch" });
  const resume = (resumeFrom: Uint8Array, more: Partial<ParallelTrainOptions> = {}) => {
    return () => new ParallelTraining(optionsFor(ddpg, { resumeFrom, ...more }));
  };
  const bytes = new ParallelTraining(optionsFor(ddpg)).save();
  expect(resume(bytes)).not.toThrow();
  expect(resume(bytes, { rounds: { streams: 2, steps: 25 } })).toThrow(mismatch);
  expect(resume(bytes, { rounds: { streams: 3, steps: 24 } })).toThrow(mismatch);
  expect(resume(new Training(serial).save())).toThrow(mismatch);
  expect(() => new Training({ ...serial, resumeFrom: bytes })).toThrow(mismatch);
});

test("PPO learns to balance the pole well beyond chance in rounds too", async () => {
  const config = {
    ...ppoDefaults,
    hidden: [32],
    streams: 8,
    rolloutSteps: 32,
    minibatch: 256,
    epochs: 20,
    lambda: 0.8,
    gamma: 0.98,
    lr: { from: 3e-3, to: 0, fraction: 1 },
    valueClip: 0,
    valueCoef: 0.5,
    entropyCoef: 0,
  };
  const { evaluation: _, ...options } = optionsFor({ kind: "ppo", config }, { totalSteps: 10_000, seed: 1001 });
  const training = await finished(new ParallelTraining(options));
  // A random policy balances for about 22 steps.
  expect(training.evaluate({ episodes: 10 }).mean).toBeGreaterThan(100);
}, 30_000);
