import { expect, test } from "vitest";
import { unwrap } from "../../base/index.ts";
import { END_CODE } from "../env/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import type { DqnConfig } from "./dqn.ts";
import { argmax, Dqn, dqnDefaults, qTarget } from "./dqn.ts";
import type { Transition } from "./learner.ts";

const flat = (value: number) => ({ from: value, to: value, fraction: 1 });

test("the target by hand: double takes the target's value of the online network's choice", () => {
  const online = [5, 1, 3];
  const target = [2, 9, 4];
  const at = (chooser: number[], end: keyof typeof END_CODE) =>
    qTarget({ reward: 1, end: END_CODE[end], next: target, at: 0, n: 3, chooser: { values: chooser, at: 0 } }, 0.5);
  expect(at(online, "no")).toBe(1 + 0.5 * 2);
  expect(at(target, "no")).toBe(1 + 0.5 * 9);
  expect(at(online, "truncated")).toBe(2);
  expect(at(online, "terminated")).toBe(1);
});

test("the largest of several values is found where it is, the first of equals", () => {
  expect(argmax([9, 1, 3, 3, 2], 1, 4)).toBe(1);
});

const shape = { obs: 1, action: { kind: "discrete", n: 2 }, actorContext: 1, criticContext: 0 } as const;
const blocksOf = (learner: Dqn) => unwrap(decodeCheckpoint(learner.save())).blocks;

test("one update by hand: the gradient of the taken action's value, of the other none", () => {
  const config: DqnConfig = {
    ...dqnDefaults,
    hidden: [],
    batch: 2,
    bufferSize: 1,
    learningStarts: 0,
    trainEvery: 2,
    targetEvery: 1_000,
    gamma: 0.5,
    maxGradNorm: 0,
    loss: "mse",
  };
  const learner = new Dqn({ kernels: referenceKernels(), shape, config, seed: 5 });
  const params = Array.from(blocksOf(learner)["network/params"] ?? []);
  // No hidden layer: Q = x·W + b with W [2, 2] first, then b [2].
  const q = (x: readonly [number, number], a: number) =>
    x[0] * (params[a] ?? 0) + x[1] * (params[2 + a] ?? 0) + (params[4 + a] ?? 0);
  const step: Transition = {
    obs: [0.5],
    actorContext: [2],
    action: [1],
    reward: 0.25,
    nextObs: [-1],
    nextActorContext: [1],
    end: "no",
  };
  for (let i = 0; i < 2; i++) unwrap(learner.observe(step));
  const stats = learner.update();
  const y = 0.25 + 0.5 * Math.max(q([-1, 1], 0), q([-1, 1], 1));
  const error = q([0.5, 2], 1) - y;
  expect(stats?.criticLoss).toBeCloseTo(error * error, 5);
  const gradient = Array.from(blocksOf(learner)["optimiser/moments"]?.slice(0, 6) ?? [], (m) => m / 0.1);
  // d(error²) = 2·error times the input 0.5, the context 2 and the bias.
  const want = [0, error, 0, 4 * error, 0, 2 * error];
  want.forEach((g, i) => {
    expect(gradient[i], `parameter ${i}`).toBeCloseTo(g, 5);
  });
});

test("the target network stands still between its updates", () => {
  const config = { ...dqnDefaults, hidden: [4], batch: 2, learningStarts: 0, trainEvery: 1, targetEvery: 4 };
  const learner = new Dqn({ kernels: referenceKernels(), shape, config, seed: 5 });
  const step: Transition = { obs: [0.5], actorContext: [2], action: [1], reward: 1, nextObs: [-1], end: "no" };
  const isCopy: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    unwrap(learner.observe(step));
    const network = Array.from(blocksOf(learner)["network/params"] ?? []);
    learner.update();
    isCopy.push(JSON.stringify(network) === JSON.stringify(Array.from(blocksOf(learner)["target/params"] ?? [])));
  }
  // At step 1 nothing was learned yet; at step 4 the network as it was before that step's own update is copied.
  expect(isCopy).toEqual([true, true, false, true]);
});

test("decisions without exploration come from the averaged weights, those with it from the network", () => {
  const config: DqnConfig = {
    ...dqnDefaults,
    hidden: [],
    batch: 2,
    learningStarts: 0,
    trainEvery: 1,
    lr: flat(0.5),
    epsilon: flat(0),
    averaging: 0.01,
  };
  const learner = new Dqn({ kernels: referenceKernels(), shape, config, seed: 5 });
  const before = blocksOf(learner)["network/params"] ?? new Float32Array(0);
  const choose = (explore: boolean) => unwrap(learner.act([1], { explore, actorContext: [1] })).action[0] ?? Number.NaN;
  const first = choose(false);
  // The choice made so far turns out to be bad, and the network learns it in a few large steps.
  const step: Transition = {
    obs: [1],
    actorContext: [1],
    action: [first],
    reward: -9,
    nextObs: [1],
    end: "terminated",
  };
  unwrap(learner.observe(step));
  unwrap(learner.observe(step));
  learner.update();
  const after = blocksOf(learner);
  before.forEach((old, i) => {
    const now = after["network/params"]?.[i] ?? Number.NaN;
    expect(after["average/params"]?.[i]).toBeCloseTo(old + 0.01 * (now - old), 6);
  });
  unwrap(learner.observe(step));
  learner.update();
  unwrap(learner.observe(step));
  learner.update();
  expect(choose(true)).toBe(1 - first);
  expect(choose(false)).toBe(first);
});

test("exploration follows its schedule: all random first, none at the end", () => {
  const config = { ...dqnDefaults, hidden: [4], epsilon: { from: 1, to: 0, fraction: 0.5 }, lr: flat(1e-3) };
  const learner = new Dqn({ kernels: referenceKernels(), shape, config, seed: 5 });
  const best = unwrap(learner.act([1], { explore: false, actorContext: [1] })).action[0];
  const others = () => {
    let count = 0;
    for (let i = 0; i < 400; i++) {
      if (unwrap(learner.act([1], { explore: true, actorContext: [1] })).action[0] !== best) count += 1;
    }
    return count;
  };
  expect(Math.abs(others() - 200)).toBeLessThan(60);
  learner.setProgress(0.25);
  expect(Math.abs(others() - 100)).toBeLessThan(50);
  learner.setProgress(0.5);
  expect(others()).toBe(0);
});

test("continuous actions, and a choice that does not exist, are refused", () => {
  const action = { kind: "continuous", low: [0], high: [1] } as const;
  const build = () =>
    new Dqn({ kernels: referenceKernels(), shape: { ...shape, action }, config: dqnDefaults, seed: 1 });
  expect(build).toThrow(/use PPO or DDPG/);
  const learner = new Dqn({ kernels: referenceKernels(), shape, config: dqnDefaults, seed: 1 });
  const step: Transition = { obs: [0.5], actorContext: [2], action: [2], reward: 1, nextObs: [-1], end: "no" };
  expect(learner.observe(step)).toMatchObject({ ok: false, failure: { code: "rl.shape" } });
});
