import { expect, test } from "vitest";
import { seededRng, unwrap } from "../../base/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import type { ActionShape, Transition } from "./learner.ts";
import type { PpoConfig, Slope } from "./ppo.ts";
import { Ppo, policyLoss, ppoDefaults, valueLoss } from "./ppo.ts";

const flat = (value: number) => ({ from: value, to: value, fraction: 1 });

function slopeOf(run: (out: Slope) => void): Slope {
  const out = { loss: 0, slope: 0 };
  run(out);
  return out;
}

test("the clipped objective by hand: inside, outside where it pays, outside where it hurts", () => {
  const at = (ratio: number, advantage: number) =>
    slopeOf((out) => policyLoss({ logProb: Math.log(ratio), oldLogProb: 0, advantage }, 0.2, out));
  // Inside the range the loss is −ρA and its slope by log ρ is the same.
  expect(at(1.1, 2).loss).toBeCloseTo(-2.2, 12);
  expect(at(1.1, 2).slope).toBeCloseTo(-2.2, 12);
  // A good action that became much likelier: no further gain.
  expect(at(1.5, 2)).toEqual({ loss: -2.4, slope: 0 });
  // A bad action that became much likelier: the full loss, and the full push back.
  expect(at(1.5, -2).loss).toBeCloseTo(3, 12);
  expect(at(1.5, -2).slope).toBeCloseTo(3, 12);
  // A bad action that became unlikely: done with it.
  expect(at(0.5, -2)).toEqual({ loss: 1.6, slope: 0 });
  // A good action that became unlikely: pull it back.
  expect(at(0.5, 2).slope).toBeCloseTo(-1, 12);
});

test("the value loss by hand, with and without clipping", () => {
  const at = (value: number, clip: number) => slopeOf((out) => valueLoss({ value, oldValue: 1, target: 2 }, clip, out));
  expect(at(1.5, 0)).toEqual({ loss: 0.25, slope: -1 });
  // Moved from 1 to 1.5 but counted as 1.2: the bounded error 0.64 is the larger one, and is flat.
  expect(at(1.5, 0.2).loss).toBeCloseTo(0.64, 12);
  expect(at(1.5, 0.2).slope).toBe(0);
  // Overshot to 4: the plain error 4 is larger than the bounded 0.64.
  expect(at(4, 0.2)).toEqual({ loss: 4, slope: 4 });
  // A small move is not clipped.
  expect(at(1.1, 0.2).loss).toBeCloseTo(0.81, 12);
  expect(at(1.1, 0.2).slope).toBeCloseTo(-1.8, 12);
});

// ── The gradient of the whole loss, against a double-precision oracle written from the papers ────────────────────────

const hidden = [5, 4];

/** A tanh perceptron in double precision over the flat parameters: weights [inputs, outputs], then the bias, per layer. */
function mlp(params: Float64Array, x: readonly number[], widths: readonly number[]): number[] {
  let at = 0;
  let y = [...x];
  widths.forEach((outputs, layer) => {
    const inputs = y;
    y = Array.from({ length: outputs }, (_, o) => {
      let sum = params[at + inputs.length * outputs + o] ?? Number.NaN;
      inputs.forEach((value, i) => {
        sum += value * (params[at + i * outputs + o] ?? Number.NaN);
      });
      return layer < widths.length - 1 ? Math.tanh(sum) : sum;
    });
    at += inputs.length * outputs + outputs;
  });
  return y;
}

interface Row extends Transition {
  readonly logProb: number;
  readonly criticContext: readonly number[];
}

interface Oracle {
  readonly rows: readonly Row[];
  readonly config: PpoConfig;
  readonly action: ActionShape;
  readonly values: readonly number[];
  readonly advantages: readonly number[];
}

function distribution(
  { action }: Oracle,
  outputs: readonly number[],
  logStd: ArrayLike<number>,
  chosen: ArrayLike<number>,
) {
  if (action.kind === "continuous") {
    let logProb = 0;
    let entropy = 0;
    outputs.forEach((mean, i) => {
      const log = logStd[i] ?? Number.NaN;
      const z = ((chosen[i] ?? Number.NaN) - mean) / Math.exp(log);
      logProb += -0.5 * z * z - log - 0.5 * Math.log(2 * Math.PI);
      entropy += log + 0.5 * Math.log(2 * Math.PI * Math.E);
    });
    return { logProb, entropy };
  }
  const sizes = action.kind === "discrete" ? [action.n] : action.nvec;
  let at = 0;
  let logProb = 0;
  let entropy = 0;
  sizes.forEach((size, group) => {
    const logits = outputs.slice(at, at + size);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const p = logits.map((logit) => Math.exp(logit) / total);
    logProb += Math.log(p[chosen[group] ?? 0] ?? Number.NaN);
    entropy -= p.reduce((sum, x) => sum + x * Math.log(x), 0);
    at += size;
  });
  return { logProb, entropy };
}

function actorLoss(oracle: Oracle, params: Float64Array, outputs: number): number {
  const { rows, config, advantages } = oracle;
  const n = rows.length;
  const mean = advantages.reduce((a, b) => a + b, 0) / n;
  const deviation = Math.sqrt(advantages.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1));
  let loss = 0;
  rows.forEach((row, i) => {
    const out = mlp(params, [...Array.from(row.obs), ...Array.from(row.actorContext ?? [])], [...hidden, outputs]);
    const { logProb, entropy } = distribution(oracle, out, params.subarray(params.length - outputs), row.action);
    const advantage = ((advantages[i] ?? Number.NaN) - mean) / (deviation + 1e-8);
    const ratio = Math.exp(logProb - row.logProb);
    const clipped = Math.min(Math.max(ratio, 1 - config.clip.from), 1 + config.clip.from);
    loss += (-Math.min(ratio * advantage, clipped * advantage) - config.entropyCoef * entropy) / n;
  });
  return loss;
}

function criticLoss({ rows, config, values, advantages }: Oracle, params: Float64Array): number {
  let loss = 0;
  rows.forEach((row, i) => {
    const [value = Number.NaN] = mlp(params, inputOf(row), [...hidden, 1]);
    const old = values[i] ?? Number.NaN;
    const target = (advantages[i] ?? Number.NaN) + old;
    const bounded = old + Math.min(Math.max(value - old, -config.valueClip), config.valueClip);
    loss += (config.valueCoef * Math.max((value - target) ** 2, (bounded - target) ** 2)) / rows.length;
  });
  return loss;
}

const inputOf = (row: Row) => [...Array.from(row.obs), ...Array.from(row.actorContext ?? []), ...row.criticContext];
const nextInputOf = (row: Row) => [
  ...Array.from(row.nextObs),
  ...Array.from(row.actorContext ?? []),
  ...row.criticContext,
];

function numericalGradient(loss: (params: Float64Array) => number, params: Float64Array): Float64Array {
  const step = 1e-5;
  return params.map((_, i) => {
    const moved = params.slice();
    moved[i] = (params[i] ?? 0) + step;
    const above = loss(moved);
    moved[i] = (params[i] ?? 0) - step;
    return (above - loss(moved)) / (2 * step);
  });
}

function blocksOf(learner: Ppo) {
  return unwrap(decodeCheckpoint(learner.save())).blocks;
}

const shapes: readonly { readonly action: ActionShape; readonly outputs: number }[] = [
  { action: { kind: "discrete", n: 3 }, outputs: 3 },
  { action: { kind: "multi-discrete", nvec: [2, 3] }, outputs: 5 },
  { action: { kind: "continuous", low: [-1, -1], high: [1, 1] }, outputs: 2 },
];

for (const { action, outputs } of shapes) {
  test(`the gradient of the full loss agrees with a double-precision oracle: ${action.kind}`, () => {
    const config: PpoConfig = {
      ...ppoDefaults,
      hidden,
      streams: 2,
      rolloutSteps: 8,
      minibatch: 16,
      epochs: 1,
      lr: flat(1e-3),
      clip: flat(0.2),
      entropyCoef: 0.05,
      valueCoef: 0.5,
      maxGradNorm: 0,
      logStdInit: -0.3,
    };
    const shape = { obs: 2, action, actorContext: 1, criticContext: 2 };
    const learner = new Ppo({ kernels: referenceKernels(), shape, config, seed: 4 });
    const before = blocksOf(learner);
    const rng = seededRng(2);
    const rows: Row[] = [];
    for (let i = 0; i < 16; i++) {
      const actorContext = [rng.normal()];
      const obs = [rng.normal(), rng.normal()];
      const { action: chosen, logProb } = unwrap(learner.act(obs, { explore: true, actorContext }));
      // As if drawn by another policy: ratios on both sides of the clipping range, and no kink within 1e-5 of one.
      const offset = [-0.5, -0.1, 0.1, 0.5][i % 4] ?? 0;
      const end = i === 9 ? "terminated" : i === 6 ? "truncated" : "no";
      const rest = { actorContext, criticContext: [rng.normal(), rng.normal()], stream: i % 2 };
      rows.push({
        obs,
        action: Float32Array.from(chosen),
        logProb: Math.fround(logProb + offset),
        reward: Math.fround(rng.normal()),
        nextObs: [rng.normal(), rng.normal()],
        end,
        ...rest,
      });
    }
    const float = (xs: ArrayLike<number>) => Array.from(xs, Math.fround);
    const exact = rows.map((r) => ({
      ...r,
      obs: float(r.obs),
      nextObs: float(r.nextObs),
      actorContext: float(r.actorContext ?? []),
      criticContext: float(r.criticContext),
    }));
    for (const row of exact) unwrap(learner.observe(row));

    // Advantages straight from the definition: a forward sum of discounted errors per stream.
    const actorParams = Float64Array.from(before["actor/params"] ?? []);
    const criticParams = Float64Array.from(before["critic/params"] ?? []);
    const judge = (x: number[]) => mlp(criticParams, x, [...hidden, 1])[0] ?? Number.NaN;
    const values = exact.map((row) => judge(inputOf(row)));
    const delta = exact.map(
      (row, i) =>
        row.reward + (row.end === "terminated" ? 0 : config.gamma * judge(nextInputOf(row))) - (values[i] ?? 0),
    );
    const advantages = exact.map((_, i) => {
      let sum = 0;
      let weight = 1;
      for (let k = i; k < exact.length; k += 2) {
        sum += weight * (delta[k] ?? 0);
        if (exact[k]?.end !== "no") break;
        weight *= config.gamma * config.lambda;
      }
      return sum;
    });
    const oracle: Oracle = { rows: exact, config, action, values, advantages };

    expect(learner.update()?.gradientSteps).toBe(1);
    const after = blocksOf(learner);
    // After one step Adam's first moment is a tenth of the gradient.
    const gradientOf = (name: string, count: number) =>
      Float64Array.from(after[`${name} optimiser/moments`]?.slice(0, count) ?? [], (m) => m / 0.1);
    const wantActor = numericalGradient((p) => actorLoss(oracle, p, outputs), actorParams);
    const wantCritic = numericalGradient((p) => criticLoss(oracle, p), criticParams);
    const gotActor = gradientOf("actor", actorParams.length);
    const gotCritic = gradientOf("critic", criticParams.length);
    expect(Math.max(...wantActor.map(Math.abs))).toBeGreaterThan(0.01);
    for (const [got, want] of [
      [gotActor, wantActor],
      [gotCritic, wantCritic],
    ] as const) {
      const scale = Math.max(...want.map(Math.abs));
      for (let i = 0; i < want.length; i++) {
        expect(Math.abs((got[i] ?? Number.NaN) - (want[i] ?? 0)) / scale, `parameter ${i}`).toBeLessThan(2e-5);
      }
    }
  });
}

test("the first epoch starts at a ratio of exactly one, also with moving observation statistics", () => {
  const config = {
    ...ppoDefaults,
    hidden: [8],
    streams: 1,
    rolloutSteps: 16,
    minibatch: 16,
    epochs: 1,
    normaliseObs: true,
  };
  const shape = { obs: 1, action: { kind: "discrete", n: 2 } as const, actorContext: 0, criticContext: 0 };
  const learner = new Ppo({ kernels: referenceKernels(), shape, config, seed: 1 });
  const rng = seededRng(3);
  for (let i = 0; i < 48; i++) {
    const obs = [100 + 50 * rng.normal()];
    const { action, logProb } = unwrap(learner.act(obs, { explore: true }));
    unwrap(learner.observe({ obs, action, logProb, reward: rng.normal(), nextObs: obs, end: "no" }));
    const stats = learner.update();
    if (stats) expect(stats.more.approxKl).toBe(0);
  }
});

test("a target KL stops the epochs early", () => {
  const updatesWith = (targetKl: number) => {
    const config = {
      ...ppoDefaults,
      hidden: [8],
      streams: 1,
      rolloutSteps: 32,
      minibatch: 16,
      epochs: 20,
      lr: flat(0.05),
      targetKl,
    };
    const shape = { obs: 1, action: { kind: "discrete", n: 2 } as const, actorContext: 0, criticContext: 0 };
    const learner = new Ppo({ kernels: referenceKernels(), shape, config, seed: 1 });
    for (let i = 0; i < 32; i++) {
      const { action, logProb } = unwrap(learner.act([1], { explore: true }));
      unwrap(learner.observe({ obs: [1], action, logProb, reward: action[0] ?? 0, nextObs: [1], end: "terminated" }));
    }
    return learner.update()?.gradientSteps ?? 0;
  };
  expect(updatesWith(0)).toBe(40);
  const early = updatesWith(0.01);
  expect(early).toBeGreaterThan(0);
  expect(early).toBeLessThan(20);
});

test("a full rollout asks for its update, and a step without its log-probability is refused", () => {
  const config = { ...ppoDefaults, hidden: [4], streams: 1, rolloutSteps: 2, minibatch: 2 };
  const shape = { obs: 1, action: { kind: "discrete", n: 2 } as const, actorContext: 0, criticContext: 0 };
  const learner = new Ppo({ kernels: referenceKernels(), shape, config, seed: 1 });
  const step: Transition = { obs: [1], action: [0], reward: 1, nextObs: [1], end: "no" };
  expect(learner.observe(step)).toMatchObject({ ok: false, failure: { code: "rl.shape" } });
  expect(learner.observe({ ...step, logProb: -0.7, stream: 1 })).toMatchObject({
    ok: false,
    failure: { code: "rl.shape" },
  });
  expect(learner.update()).toBeUndefined();
  for (let i = 0; i < 2; i++) unwrap(learner.observe({ ...step, logProb: -0.7 }));
  expect(learner.observe({ ...step, logProb: -0.7 })).toMatchObject({
    ok: false,
    failure: { code: "rl.rollout-full" },
  });
  expect(learner.update()?.gradientSteps).toBe(4);
  expect(learner.observe({ ...step, logProb: -0.7 }).ok).toBe(true);
});

test("the proposal is learned from, not what a guard made of it", () => {
  const momentsWith = (executed: number) => {
    const config = { ...ppoDefaults, hidden: [4], streams: 1, rolloutSteps: 4, minibatch: 4, epochs: 1 };
    const shape = {
      obs: 1,
      action: { kind: "continuous", low: [-1], high: [1] } as const,
      actorContext: 0,
      criticContext: 0,
    };
    const learner = new Ppo({ kernels: referenceKernels(), shape, config, seed: 1 });
    for (let i = 0; i < 4; i++) {
      const { action: proposed, logProb } = unwrap(learner.act([i], { explore: true }));
      unwrap(learner.observe({ obs: [i], action: [executed], proposed, logProb, reward: i, nextObs: [i], end: "no" }));
    }
    learner.update();
    return blocksOf(learner)["actor optimiser/moments"];
  };
  expect(momentsWith(0)).toEqual(momentsWith(0.5));
});

// ── Masks ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const maskedConfig: PpoConfig = {
  ...ppoDefaults,
  hidden: [4],
  streams: 1,
  rolloutSteps: 8,
  minibatch: 8,
  epochs: 1,
  lr: flat(0.01),
  entropyCoef: 0,
  maskedChoices: true,
};
const maskedShape = { obs: 4, action: { kind: "discrete", n: 3 } as const, actorContext: 0, criticContext: 0 };

test("a masked choice is never drawn, and the others share its probability by their own", () => {
  const free = new Ppo({ kernels: referenceKernels(), shape: maskedShape, config: maskedConfig, seed: 5 });
  const logProbOf = (obs: readonly number[], choice: number): number => {
    for (let i = 0; i < 1_000; i++) {
      const { action, logProb } = unwrap(free.act(obs, { explore: true }));
      if (action[0] === choice) return logProb;
    }
    return Number.NEGATIVE_INFINITY;
  };
  // The networks see the mask too; weights of those inputs are small at first, but not nothing, so the logits are asked for
  // with the same mask: p0 and p2 of the pair are e^l0 / (e^l0 + e^l2) and the rest.
  const pair = [0.5, 1, 0, 1];
  const [first, never, last] = [0, 1, 2].map((choice) => logProbOf(pair, choice));
  expect(never).toBe(Number.NEGATIVE_INFINITY);
  expect(Math.exp(first as number) + Math.exp(last as number)).toBeCloseTo(1, 6);
  // With one left there is nothing to choose.
  expect(unwrap(free.act([0.5, 0, 1, 0], { explore: true }))).toEqual({ action: Float32Array.of(1), logProb: 0 });
  expect(unwrap(free.act([0.5, 0, 0, 1], { explore: false })).action[0]).toBe(2);
  expect(free.act([0.5, 0, 0, 0], { explore: true })).toMatchObject({ ok: false, failure: { code: "rl.no-choice" } });
});

test("a forced choice teaches the policy nothing: its ratio is one and its gradient zero, by hand", () => {
  const learner = new Ppo({ kernels: referenceKernels(), shape: maskedShape, config: maskedConfig, seed: 6 });
  const before = Float64Array.from(blocksOf(learner)["actor/params"] ?? []);
  for (let i = 0; i < 8; i++) {
    const obs = [i / 8, 0, 1, 0];
    const { action, logProb } = unwrap(learner.act(obs, { explore: true }));
    unwrap(learner.observe({ obs, action, logProb, reward: i, nextObs: obs, end: "terminated" }));
  }
  // d log p / d logit = 1 − p for the choice and −p for the others: with p = 1 and 0, nothing.
  expect(learner.update()?.gradientSteps).toBe(1);
  expect(Float64Array.from(blocksOf(learner)["actor/params"] ?? [])).toEqual(before);
});

test("what a mask rules out gets no gradient through its own logit", () => {
  // Rewards for choice 0 over choice 2, with 1 ruled out: the bias of the last layer moves up for 0, down for 2, not for 1.
  const learner = new Ppo({ kernels: referenceKernels(), shape: maskedShape, config: maskedConfig, seed: 7 });
  for (let i = 0; i < 8; i++) {
    const obs = [0.5, 1, 0, 1];
    const { action, logProb } = unwrap(learner.act(obs, { explore: true }));
    const reward = action[0] === 0 ? 1 : -1;
    unwrap(learner.observe({ obs, action, logProb, reward, nextObs: obs, end: "terminated" }));
  }
  const biases = () => Array.from(blocksOf(learner)["actor/params"]?.slice(-3) ?? []);
  const before = biases();
  learner.update();
  const moved = biases().map((bias, i) => bias - (before[i] ?? 0));
  expect(moved[0]).toBeGreaterThan(0.001);
  expect(moved[1]).toBe(0);
  expect(moved[2]).toBeLessThan(-0.001);
});

test("masks need one choice and observations that hold them", () => {
  const make = (obs: number, action: ActionShape) => () =>
    new Ppo({
      kernels: referenceKernels(),
      shape: { obs, action, actorContext: 0, criticContext: 0 },
      config: maskedConfig,
      seed: 1,
    });
  expect(make(2, { kind: "discrete", n: 3 })).toThrow("maskedChoices");
  expect(make(9, { kind: "continuous", low: [0], high: [1] })).toThrow("maskedChoices");
});
