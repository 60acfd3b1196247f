import { afterEach, expect, test } from "vitest";
import {
  type Algorithm,
  ddpgDefaults,
  ParallelTraining,
  type ParallelTrainOptions,
  ppoDefaults,
  rolloutKinds,
  trainParallel,
} from "../../learn/rl/index.ts";
import type { WorkerPool } from "../../learn/tensor/index.ts";
import { loadKernels } from "./load-kernels.ts";
import { openRolloutPool } from "./rollout-pool.ts";
import { openWorkerPool } from "./worker-pool.ts";

const open: WorkerPool[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

const kernels = loadKernels();
function pooled(pool: WorkerPool): WorkerPool {
  open.push(pool);
  return pool;
}

const ppo: Algorithm = {
  kind: "ppo",
  config: { ...ppoDefaults, hidden: [16], streams: 3, rolloutSteps: 20, minibatch: 32, normaliseObs: true },
};
const noise = { kind: "ornstein-uhlenbeck", sigma: 0.2, theta: 0.15, dt: 1 } as const;
const ddpg: Algorithm = {
  kind: "ddpg",
  config: { ...ddpgDefaults, hidden: [16], batch: 16, bufferSize: 400, learningStarts: 64, noise },
};

const optionsFor = (algorithm: Algorithm, pool: WorkerPool): ParallelTrainOptions => ({
  envId: algorithm.kind === "ppo" ? "CartPole-v1" : "Pendulum-v1",
  algorithm,
  seed: 11,
  kernels,
  totalSteps: 700,
  rounds: { streams: 3, steps: 25 },
  pool,
});

for (const algorithm of [ppo, ddpg]) {
  test(`${algorithm.kind}: one, two and three threads give the same bytes and the same episodes`, async () => {
    const runs = [1, 2, 3].map(async (threads) => {
      const returns: number[] = [];
      const training = new ParallelTraining({
        ...optionsFor(algorithm, pooled(openRolloutPool({ threads, kernels }))),
        callbacks: { onEpisode: (episode) => void returns.push(episode.return) },
      });
      while (!training.isDone) await training.advance();
      return { returns, steps: training.steps, bytes: training.save() };
    });
    const [one, two, three] = await Promise.all(runs);
    expect(one?.steps).toBe(700);
    expect(one?.returns.length).toBeGreaterThanOrEqual(3);
    expect(two).toEqual(one);
    expect(three).toEqual(one);
  }, 30_000);
}

test("a lost thread fails its round with a code; the round taken again gives what it would have given", async () => {
  const entry = new URL("../../../test/fixtures/threads/rollout-worker.mjs", import.meta.url);
  const pool = pooled(openWorkerPool({ kinds: rolloutKinds(), entry, threads: 1, kernels }));
  const broken = new ParallelTraining(optionsFor(ppo, pool));
  const whole = new ParallelTraining(optionsFor(ppo, pooled(openRolloutPool({ threads: 1, kernels }))));
  await broken.advance();
  await expect(broken.advance()).rejects.toMatchObject({ code: "threads.worker-lost" });
  expect(broken.steps).toBe(60);
  // The new thread has to bring the worlds to where the lost one had them.
  await broken.advance();
  await whole.advance();
  await whole.advance();
  expect(broken.save()).toEqual(whole.save());
}, 30_000);

test("an abort in the middle of a round ends the training with its reason", async () => {
  const pool = pooled(openRolloutPool({ threads: 1, kernels }));
  const stop = new AbortController();
  const endless = { ...optionsFor(ddpg, pool), totalSteps: 1e9, rounds: { streams: 1, steps: 1e6 } };
  const training = trainParallel({ ...endless, signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(training).rejects.toThrow("enough");
}, 30_000);
