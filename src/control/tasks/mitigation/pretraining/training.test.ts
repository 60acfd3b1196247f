import { beforeAll, expect, test } from "vitest";
import { ok, seededRng } from "../../../../base/index.ts";
import { referenceKernels } from "../../../../learn/tensor/index.ts";
import { hotelReservation, simulatedGround } from "../../../../sim/index.ts";
import type { MitigationAgent } from "../agent.ts";
import { episodeLength, type MitigationTraining, usualTraining } from "./config.ts";
import { PretrainingScene } from "./scene.ts";
import { ALL, judgeMitigation, openMitigationAgent, type TrainedMitigation, trainMitigation } from "./training.ts";

const small: MitigationTraining = {
  ...usualTraining,
  episodes: 6,
  curriculum: { shortest: 5, longest: 10, from: 1 / 3, until: 1 },
  scene: { ...usualTraining.scene, samples: 60 },
};
const ground = simulatedGround(hotelReservation);
const services = ["search", "profile"];
const evaluation = { length: 10, scenes: 1 };
const run = (seed: number) =>
  trainMitigation({
    ...small,
    ground,
    seed,
    kernels: referenceKernels(),
    services,
    checkpointEvery: 3,
    evaluation,
  });

const saying = (value: number): MitigationAgent => ({ act: () => ok(new Float32Array(5).fill(value)) });

let trained: TrainedMitigation;
beforeAll(() => {
  trained = run(1_000);
});

test("episodes are short at first and grow in a straight line to their full length", () => {
  const curriculum = { shortest: 20, longest: 300, from: 1 / 3, until: 1 };
  expect([0, 0.2, 1 / 3, 2 / 3, 1].map((progress) => episodeLength(curriculum, progress))).toEqual([
    20, 20, 20, 160, 300,
  ]);
});

test("a training is the same to the last byte under one seed and another one under another", () => {
  const again = run(1_000);
  expect(again.checkpoints[ALL]).toEqual(trained.checkpoints[ALL]);
  expect(again.judgements).toEqual(trained.judgements);
  expect(run(1_001).checkpoints[ALL]).not.toEqual(trained.checkpoints[ALL]);
});

test("policies are judged before the first episode and at every checkpoint; the best one is kept", () => {
  expect(trained.judgements.map(({ episodes }) => episodes)).toEqual([0, 3, 6]);
  expect(trained.episodes.map(({ length }) => length)).toEqual([5, 5, 5, 6, 8, 9]);
  const best = Math.max(...trained.judgements.map(({ reward }) => reward));
  const agent = openMitigationAgent(trained.best, { kernels: referenceKernels(), ddpg: small.ddpg });
  const judged = judgeMitigation(agent, { ...small, ground, services, evaluation, episodes: 0 });
  expect(judged.reward).toBe(best);
});

test("transferred agents begin with the common networks, one for each service", () => {
  const kernels = referenceKernels();
  const none = { ...small, episodes: 0, ground, seed: 1, kernels, services, each: true };
  const transferred = trainMitigation({ ...none, from: trained.checkpoints });
  const observation = Float32Array.of(0.5, 0, 0.3, 0.9, 0.2, 1, 0.1, 0.4);
  const common = openMitigationAgent(trained.checkpoints, { kernels, ddpg: small.ddpg });
  const own = openMitigationAgent(transferred.checkpoints, { kernels, ddpg: small.ddpg });
  expect(Object.keys(transferred.checkpoints)).toEqual(services);
  expect(own.act("search", observation)).toEqual(common.act("search", observation));
  expect(() => own.act("frontend", observation)).toThrow(/no policy for frontend/);
});

test("who starves a service is blamed for it and paid less; who leaves it what it has is not blamed", () => {
  const play = (action: number | null) => {
    const scene = new PretrainingScene({
      ...small,
      actions: "limits",
      ground,
      rng: seededRng(1_000),
      length: 10,
      managed: new Set(["search"]),
      // Nothing is injected: whatever breaks was broken by the limits.
      scene: { ...small.scene, anomaliesPerSecond: 1e-9, load: { min: 1.2, max: 1.2 } },
    });
    let sights = scene.look();
    expect(sights).toHaveLength(1);
    for (let second = 0; second < 10; second++) {
      scene.step(action === null ? [] : sights.map((sight) => ({ sight, action: new Float32Array(5).fill(action) })));
      sights = scene.look();
    }
    return sights[0];
  };
  // At its lower limits, a quarter of the defaults, it gets less than it uses.
  const [left, starved] = [play(null), play(-1)];
  expect(left?.reading.sloMaintenance).toBe(1);
  expect(starved?.reading.sloMaintenance).toBeLessThan(0.9);
  expect(starved?.reward).toBeLessThan(left?.reward ?? 0);
});

test("judging by nobody and by somebody meets the same requests", () => {
  const options = { ...small, ground, services, evaluation, episodes: 0 };
  expect(judgeMitigation(null, options).requestedCores).not.toBe(judgeMitigation(saying(1), options).requestedCores);
  expect(judgeMitigation(null, options)).toEqual(judgeMitigation(null, options));
});
