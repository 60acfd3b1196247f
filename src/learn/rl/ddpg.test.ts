import { expect, test } from "vitest";
import { seededRng, unwrap } from "../../base/index.ts";
import { END_CODE } from "../env/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import { criticTarget, Ddpg, smoothedAction } from "./ddpg.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import type { Transition } from "./learner.ts";
import { createNoise } from "./noise.ts";

test("the critic's target by hand: a terminated step has no future, a truncated one keeps it", () => {
  const at = (end: keyof typeof END_CODE) => criticTarget({ reward: 1, end: END_CODE[end], next: 10 }, 0.9);
  expect(at("no")).toBe(10);
  expect(at("truncated")).toBe(10);
  expect(at("terminated")).toBe(1);
});

test("target smoothing by hand: the noise is clipped first, the action afterwards", () => {
  const noise = { sigma: 0.2, clip: 0.5 };
  expect(smoothedAction(0.1, 1, noise)).toBeCloseTo(0.3, 12);
  expect(smoothedAction(0.1, 4, noise)).toBeCloseTo(0.6, 12);
  expect(smoothedAction(0.8, 4, noise)).toBe(1);
  expect(smoothedAction(-0.9, -1, noise)).toBe(-1);
});

// ── One update against a double-precision oracle ─────────────────────────────────────────────────────────────────────

const hidden = [6, 5];
const shape = {
  obs: 2,
  action: { kind: "continuous", low: [-2, 0], high: [2, 1] },
  actorContext: 1,
  criticContext: 1,
} as const;

/** A ReLU perceptron in double precision over flat parameters: weights [inputs, outputs], then the bias, per layer. */
function mlp(params: ArrayLike<number>, x: readonly number[], widths: readonly number[]): number[] {
  let at = 0;
  let y = [...x];
  widths.forEach((outputs, layer) => {
    const inputs = y;
    y = Array.from({ length: outputs }, (_, o) => {
      let sum = params[at + inputs.length * outputs + o] ?? Number.NaN;
      inputs.forEach((value, i) => {
        sum += value * (params[at + i * outputs + o] ?? Number.NaN);
      });
      return layer < widths.length - 1 ? Math.max(sum, 0) : sum;
    });
    at += inputs.length * outputs + outputs;
  });
  return y;
}

const policy = (params: ArrayLike<number>, x: readonly number[]) => mlp(params, x, [...hidden, 2]).map(Math.tanh);
const judge = (params: ArrayLike<number>, x: readonly number[]) => mlp(params, x, [...hidden, 1])[0] ?? Number.NaN;

function numericalGradient(loss: (params: Float64Array) => number, from: ArrayLike<number>): number[] {
  const params = Float64Array.from(from);
  return Array.from(params, (value, i) => {
    const step = 1e-6;
    params[i] = value + step;
    const above = loss(params);
    params[i] = value - step;
    const below = loss(params);
    params[i] = value;
    return (above - below) / (2 * step);
  });
}

const blocksOf = (learner: Ddpg) => unwrap(decodeCheckpoint(learner.save())).blocks;

for (const [name, options] of [
  ["DDPG", { policyDelay: 1 }],
  ["TD3 without smoothing", { ...td3Options, policyDelay: 1, targetNoise: { sigma: 0, clip: 0 } }],
] as const) {
  test(`the gradients and the soft update of ${name} agree with a double-precision oracle`, () => {
    const config = {
      ...ddpgDefaults,
      ...options,
      hidden,
      batch: 4,
      bufferSize: 1,
      learningStarts: 0,
      gamma: 0.9,
      tau: 0.1,
    };
    const learner = new Ddpg({ kernels: referenceKernels(), shape, config, seed: 3 });
    const step: Transition = {
      obs: [0.5, -0.25],
      action: [1, 0.25],
      reward: 1.5,
      nextObs: [-0.75, 0.125],
      end: "truncated",
      actorContext: [0.5],
      nextActorContext: [0.25],
      criticContext: [-1],
      nextCriticContext: [2],
    };
    const before = blocksOf(learner);
    for (let i = 0; i < 4; i++) unwrap(learner.observe(step));
    const stats = learner.update();
    const after = blocksOf(learner);
    const critics = options.policyDelay === 1 && "twinCritics" in options ? 2 : 1;
    const network = (blocks: typeof before, i: number) => blocks[`network ${i}/params`] ?? new Float32Array(0);

    // Actions in the policy's scale: 1 of [−2, 2] is 0.5, 0.25 of [0, 1] is −0.5.
    const input = [0.5, -0.25, 0.5, -1, 0.5, -0.5];
    const nextAction = policy(network(before, 1), [-0.75, 0.125, 0.25]);
    const targets = Array.from({ length: critics }, (_, i) => network(before, 2 + critics + i));
    const y = 1.5 + 0.9 * Math.min(...targets.map((t) => judge(t, [-0.75, 0.125, 0.25, 2, ...nextAction])));
    let loss = 0;
    for (let c = 0; c < critics; c++) {
      const want = numericalGradient((p) => (judge(p, input) - y) ** 2, network(before, 2 + c));
      const got = after[`optimiser ${1 + c}/moments`] ?? new Float32Array(0);
      want.forEach((g, i) => {
        expect((got[i] ?? Number.NaN) / 0.1, `critic ${c}, parameter ${i}`).toBeCloseTo(g, 4);
      });
      loss += (judge(network(before, 2 + c), input) - y) ** 2;
    }
    expect(stats?.criticLoss).toBeCloseTo(loss, 5);

    // The actor climbs the first critic as it is after its step.
    const critic = network(after, 2);
    const climb = (p: ArrayLike<number>) => -judge(critic, [0.5, -0.25, 0.5, -1, ...policy(p, [0.5, -0.25, 0.5])]);
    const want = numericalGradient(climb, network(before, 0));
    const got = after["optimiser 0/moments"] ?? new Float32Array(0);
    expect(Math.max(...want.map(Math.abs))).toBeGreaterThan(1e-3);
    want.forEach((g, i) => {
      expect((got[i] ?? Number.NaN) / 0.1, `actor, parameter ${i}`).toBeCloseTo(g, 5);
    });
    expect(stats?.actorLoss).toBeCloseTo(climb(network(before, 0)), 5);

    // Targets move a tenth of the way to the networks as they are after their steps.
    for (const [target, source] of [
      [1, 0],
      [2 + critics, 2],
    ] as const) {
      const old = network(before, target);
      const now = network(after, source);
      network(after, target).forEach((value, i) => {
        expect(value).toBeCloseTo((old[i] ?? 0) + 0.1 * ((now[i] ?? 0) - (old[i] ?? 0)), 6);
      });
    }
  });
}

test("the policy and the targets wait for their turn when delayed", () => {
  const config = { ...ddpgDefaults, ...td3Options, hidden, batch: 2, learningStarts: 0, policyDelay: 3 };
  const learner = new Ddpg({ kernels: referenceKernels(), shape, config, seed: 3 });
  const step: Transition = {
    obs: [1, 1],
    action: [0, 0],
    reward: 1,
    nextObs: [1, 0],
    end: "no",
    actorContext: [0],
    criticContext: [0],
  };
  const start = blocksOf(learner);
  const textOf = (block: ArrayLike<number> | undefined) => Array.from(block ?? []).join();
  const sameAsStart = (name: string) => textOf(start[name]) === textOf(blocksOf(learner)[name]);
  unwrap(learner.observe(step));
  const moved: boolean[] = [];
  for (let i = 0; i < 3; i++) {
    unwrap(learner.observe(step));
    learner.update();
    moved.push(
      !sameAsStart("network 0/params") || !sameAsStart("network 1/params") || !sameAsStart("network 4/params"),
    );
    expect(sameAsStart("network 2/params")).toBe(false);
  }
  expect(moved).toEqual([false, false, true]);
});

test("actions stay within the environment's bounds, and the first ones are drawn uniformly", () => {
  const config = { ...ddpgDefaults, hidden, learningStarts: 500, noise: { kind: "gaussian", sigma: 5 } } as const;
  const learner = new Ddpg({ kernels: referenceKernels(), shape, config, seed: 3 });
  const draws: number[] = [];
  for (let i = 0; i < 1000; i++) {
    const { action } = unwrap(learner.act([1, 2], { explore: true, actorContext: [0] }));
    expect(Math.abs(action[0] ?? 9)).toBeLessThanOrEqual(2);
    expect(Math.abs((action[1] ?? 9) - 0.5)).toBeLessThanOrEqual(0.5);
    if (i < 500) draws.push(action[0] ?? Number.NaN);
    const step: Transition = {
      obs: [1, 2],
      action,
      reward: 0,
      nextObs: [1, 2],
      end: "no",
      actorContext: [0],
      criticContext: [0],
    };
    unwrap(learner.observe(step));
  }
  // Uniform on [−2, 2]: mean 0 ± 0.05, variance 4/3.
  const mean = draws.reduce((a, b) => a + b, 0) / draws.length;
  const variance = draws.reduce((a, b) => a + (b - mean) ** 2, 0) / draws.length;
  expect(Math.abs(mean)).toBeLessThan(0.25);
  expect(Math.abs(variance - 4 / 3)).toBeLessThan(0.25);
});

test("a warm-up by noise acts by the noise alone, within the bounds, and learns nothing yet", () => {
  const noise = { kind: "ornstein-uhlenbeck", sigma: 0.5, theta: 0.15, dt: 0.2 } as const;
  const config = { ...ddpgDefaults, hidden, learningStarts: 200, warmup: "noise", noise } as const;
  const learner = new Ddpg({ kernels: referenceKernels(), shape, config, seed: 3 });
  const alone = createNoise(noise, 2);
  const rng = seededRng(3).fork("ddpg").fork("explore");
  const before = blocksOf(learner)["network 0/params"];
  for (let i = 0; i < 200; i++) {
    const obs = [Math.sin(i), Math.cos(i)];
    const { action } = unwrap(learner.act(obs, { explore: true, actorContext: [0] }));
    const want = new Float32Array(2);
    alone.addTo(want, rng);
    const [first = Number.NaN, second = Number.NaN] = want.map((x) => Math.min(Math.max(x, -1), 1));
    // The first component's range is [−2, 2], the second's [0, 1].
    expect(action[0]).toBeCloseTo(2 * first, 6);
    expect(action[1]).toBeCloseTo((second + 1) / 2, 6);
    const end = i % 50 === 49 ? "truncated" : "no";
    if (end !== "no") alone.reset();
    const step: Transition = { obs, action, reward: 1, nextObs: obs, end, actorContext: [0], criticContext: [0] };
    unwrap(learner.observe(step));
    if (i < 199) expect(learner.update()).toBeUndefined();
  }
  expect(blocksOf(learner)["network 0/params"]).toEqual(before);
  // From here on the policy is in it: the same noise, another action.
  const { action } = unwrap(learner.act([3, -3], { explore: true, actorContext: [2] }));
  const want = new Float32Array(2);
  alone.addTo(want, rng);
  expect(Math.abs((action[0] ?? 0) - 2 * (want[0] ?? 0))).toBeGreaterThan(1e-3);
});

test("without exploration the warm-up does not concern the policy", () => {
  const build = (learningStarts: number) => {
    const config = { ...ddpgDefaults, hidden, learningStarts, warmup: "noise" } as const;
    return new Ddpg({ kernels: referenceKernels(), shape, config, seed: 3 });
  };
  const asked = (learner: Ddpg) => unwrap(learner.act([1, 2], { explore: false, actorContext: [0] })).action;
  expect(asked(build(500))).toEqual(asked(build(0)));
});

test("discrete or unbounded actions are refused with the way out", () => {
  const build = (action: ConstructorParameters<typeof Ddpg>[0]["shape"]["action"]) => () =>
    new Ddpg({ kernels: referenceKernels(), shape: { ...shape, action }, config: ddpgDefaults, seed: 1 });
  expect(build({ kind: "discrete", n: 2 })).toThrow(/use PPO or DQN/);
  expect(build({ kind: "continuous", low: [0], high: [Number.POSITIVE_INFINITY] })).toThrow(/finite bounds/);
  expect(build({ kind: "continuous", low: [1], high: [1] })).toThrow(/the lower below the upper/);
});

test("a diverged critic is a coded failure and the parameters stay finite", () => {
  const config = { ...ddpgDefaults, hidden, batch: 2, learningStarts: 0, criticLr: 1e30 };
  const learner = new Ddpg({ kernels: referenceKernels(), shape, config, seed: 3 });
  const step: Transition = {
    obs: [1, 1],
    action: [0, 0],
    reward: 1e30,
    nextObs: [1, 0],
    end: "no",
    actorContext: [0],
    criticContext: [0],
  };
  const run = () => {
    for (let i = 0; i < 50; i++) {
      unwrap(learner.observe(step));
      learner.update();
    }
  };
  expect(run).toThrow(expect.objectContaining({ code: "rl.diverged" }));
});
