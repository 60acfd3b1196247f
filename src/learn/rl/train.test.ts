import { expect, test, vi } from "vitest";
import { box, discrete, registerEnv } from "../env/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import { openLearner } from "./algorithms.ts";
import type { EpisodeReport } from "./course.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import { dqnDefaults } from "./dqn.ts";
import { ppoDefaults } from "./ppo.ts";
import type { TrainOptions } from "./train.ts";
import { Training, train } from "./train.ts";

const small = { hidden: [16], batch: 16, bufferSize: 200, learningStarts: 32 };
const subjects: readonly { readonly envId: string; readonly algorithm: Algorithm }[] = [
  {
    envId: "CartPole-v1",
    algorithm: {
      kind: "ppo",
      config: {
        ...ppoDefaults,
        hidden: [16],
        streams: 3,
        rolloutSteps: 20,
        minibatch: 32,
        normaliseObs: true,
        normaliseReward: true,
      },
    },
  },
  {
    envId: "Pendulum-v1",
    algorithm: {
      kind: "ddpg",
      config: {
        ...ddpgDefaults,
        ...small,
        ...td3Options,
        noise: { kind: "ornstein-uhlenbeck", sigma: 0.2, theta: 0.15, dt: 1 },
      },
    },
  },
  {
    envId: "CartPole-v1",
    algorithm: {
      kind: "dqn",
      config: { ...dqnDefaults, ...small, priority: { alpha: 0.6, beta: 0.4, epsilon: 0.01 } },
    },
  },
];

const optionsFor = (subject: (typeof subjects)[number], more: Partial<TrainOptions> = {}): TrainOptions => ({
  ...subject,
  seed: 11,
  kernels: referenceKernels(),
  totalSteps: 700,
  ...more,
});

for (const subject of subjects) {
  const { kind } = subject.algorithm;

  test(`${kind}: the same seed trains to the same bytes, evaluated on the way or not`, () => {
    const bytesWith = (more: Partial<TrainOptions>) => {
      const training = new Training(optionsFor(subject, more));
      training.advance(700);
      return training.learner.save({ resumable: true });
    };
    const plain = bytesWith({});
    expect(bytesWith({})).toEqual(plain);
    expect(bytesWith({ evaluation: { every: 100, episodes: 2 } })).toEqual(plain);
    expect(bytesWith({ seed: 12 })).not.toEqual(plain);
  });

  test(`${kind}: a training resumed in the middle of an episode ends with the same bytes and evaluations`, () => {
    const evaluation = { every: 150, episodes: 2 };
    const whole = new Training(optionsFor(subject, { evaluation }));
    whole.advance(700);
    const first = new Training(optionsFor(subject, { evaluation }));
    first.advance(341);
    const second = new Training(optionsFor(subject, { evaluation, resumeFrom: first.save() }));
    expect(second.steps).toBe(341);
    second.advance(700);
    expect(second.isDone).toBe(true);
    expect(second.evaluations).toEqual(whole.evaluations);
    expect(second.save()).toEqual(whole.save());
  });
}

const [ppo] = subjects as [(typeof subjects)[number]];

test("callbacks tell of episodes, updates, evaluations and checkpoints, with whole episodes' sums", async () => {
  const seen = {
    episodes: [] as EpisodeReport[],
    updates: 0,
    evaluations: [] as number[],
    checkpoints: [] as number[],
  };
  const outcome = await train(
    optionsFor(ppo, {
      evaluation: { every: 300, episodes: 2 },
      checkpointEvery: 200,
      callbacks: {
        onEpisode: (episode) => void seen.episodes.push(episode),
        onUpdate: () => {
          seen.updates += 1;
        },
        onEvaluation: ({ steps }) => void seen.evaluations.push(steps),
        onCheckpoint: ({ steps }) => void seen.checkpoints.push(steps),
      },
    }),
  );
  expect(outcome.steps).toBe(700);
  expect(seen.updates).toBe(Math.floor(700 / 60));
  expect(seen.evaluations).toEqual([300, 600]);
  expect(seen.checkpoints).toEqual([200, 400, 600]);
  // CartPole pays 1 per step.
  for (const { return: sum, length } of seen.episodes) expect(sum).toBe(length);
  const counted = seen.episodes.reduce((steps, { length }) => steps + length, 0);
  expect(counted).toBeGreaterThan(400);
  expect(counted).toBeLessThanOrEqual(700);
  expect(openLearner(outcome.checkpoint, referenceKernels()).ok).toBe(true);
});

test("a callback can stop, and a signal aborts between slices", async () => {
  const stopped = await train(optionsFor(ppo, { callbacks: { onEpisode: () => "stop" } }));
  expect(stopped.steps).toBeLessThan(200);
  const controller = new AbortController();
  const pause = async () => controller.abort(new Error("enough"));
  await expect(train({ ...optionsFor(ppo, { totalSteps: 5_000 }), signal: controller.signal, pause })).rejects.toThrow(
    "enough",
  );
});

test("a checkpoint of another training, or a damaged one, is refused", () => {
  const bytes = new Training(optionsFor(ppo)).save();
  const resume = (more: Partial<TrainOptions>) => () => new Training(optionsFor(ppo, { resumeFrom: bytes, ...more }));
  expect(resume({})).not.toThrow();
  expect(resume({ seed: 12 })).toThrow(expect.objectContaining({ code: "checkpoint.mismatch" }));
  expect(resume({ resumeFrom: bytes.subarray(1) })).toThrow(expect.objectContaining({ code: "checkpoint.corrupt" }));
  expect(resume({ resumeFrom: bytes.subarray(0, 100) })).toThrow(
    expect.objectContaining({ code: "checkpoint.truncated" }),
  );
});

test("a world that turns NaN stops the training with a code, and nothing of it is learned", () => {
  registerEnv({
    id: "TurnsNan-v0",
    core: () => ({
      observationSpace: box({ low: -1, high: 1, size: 1 }),
      actionSpace: discrete(2),
      stateSize: 1,
      initial: (state) => void state.fill(0),
      transition: ({ state, next }) => {
        next[0] = (state[0] ?? 0) + 1;
      },
      observe: (state, obs) => {
        obs[0] = (state[0] ?? 0) > 20 ? Number.NaN : 0.5;
      },
      reward: () => 1,
      isTerminal: () => false,
    }),
  });
  const training = new Training(optionsFor({ ...ppo, envId: "TurnsNan-v0" }));
  expect(() => training.advance(700)).toThrow(expect.objectContaining({ code: "rl.not-finite" }));
  expect(training.learner.steps).toBeLessThanOrEqual(61);
});

test("contexts reach the learner with every step, and the next step's too", () => {
  const asked: number[] = [];
  const context = {
    actorWidth: 1,
    criticWidth: 2,
    at: (stream: number) => {
      asked.push(stream);
      return { actorContext: [stream], criticContext: [stream, 1] };
    },
  };
  const training = new Training(optionsFor(ppo, { context, totalSteps: 60 }));
  training.advance(60);
  expect(training.learner.shape).toMatchObject({ actorContext: 1, criticContext: 2 });
  expect(asked.slice(0, 6)).toEqual([0, 0, 1, 1, 2, 2]);
});

test("a context source may hand out the same array again: each step keeps what held before it", () => {
  const shared = new Float32Array(1);
  let calls = 0;
  const context = {
    actorWidth: 1,
    criticWidth: 0,
    at: () => {
      shared[0] = calls++;
      return { actorContext: shared };
    },
  };
  const training = new Training(optionsFor(ppo, { context, totalSteps: 1 }));
  const observe = vi.spyOn(training.learner, "observe");
  training.advance(1);
  expect(observe.mock.calls[0]?.[0].actorContext?.[0]).toBe(0);
  expect(observe.mock.calls[0]?.[0].nextActorContext?.[0]).toBe(1);
});

test("PPO learns to balance the pole well beyond chance within a few thousand steps", () => {
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
  const training = new Training({
    envId: "CartPole-v1",
    algorithm: { kind: "ppo", config },
    seed: 1001,
    kernels: referenceKernels(),
    totalSteps: 10_000,
  });
  training.advance(10_000);
  // A random policy balances for about 22 steps.
  expect(training.evaluate({ episodes: 10 }).mean).toBeGreaterThan(100);
});
