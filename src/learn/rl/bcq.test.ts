import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { playQueue, queueShape, returnOf, targetUtilisation, trueReturn } from "../../../test/oracle/queue-toy.ts";
import { restoreRng, seededRng, unwrap } from "../../base/index.ts";
import { referenceKernels, wasmKernels } from "../tensor/index.ts";
import { Bcq, bcqDefaults } from "./bcq.ts";
import type { NumberBlock } from "./checkpoint.ts";
import { decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
import { softMinimum } from "./clipped-critics.ts";
import { reachOf, shiftedAction } from "./constrained-policy.ts";
import { Ddpg } from "./ddpg.ts";
import { ddpgDefaults } from "./ddpg-config.ts";
import type { Learner, Transition } from "./learner.ts";
import { unpackRng } from "./saved-state.ts";
import { constant } from "./schedule.ts";
import { clippedLatent } from "./vae.ts";

test("the reach by hand: φ under the full constraint, the whole range without, a straight line between", () => {
  expect(reachOf(1, 0.05)).toBeCloseTo(0.05, 12);
  expect(reachOf(0, 0.05)).toBe(1);
  expect(reachOf(0.5, 0.1)).toBeCloseTo(0.55, 12);
});

test("the shifted action by hand: base plus reach times shift, within the range", () => {
  expect(shiftedAction(0.4, -1, 0.05)).toBeCloseTo(0.35, 12);
  expect(shiftedAction(0.98, 1, 0.05)).toBe(1);
  expect(shiftedAction(-0.98, -1, 0.05)).toBe(-1);
  // Without the constraint the base is 0 and the reach 1: the action is the actor's output.
  expect(shiftedAction(0, 0.37, reachOf(0, 0.05))).toBeCloseTo(0.37, 12);
});

test("the soft minimum by hand: three parts of the smaller and one of the larger", () => {
  expect(softMinimum(4, 8, 0.75)).toBe(5);
  expect(softMinimum(8, 4, 0.75)).toBe(5);
  expect(softMinimum(8, 4, 1)).toBe(4);
});

// ── One update against a double-precision oracle ─────────────────────────────────────────────────────────────────────

const hidden = [6, 5];
const shape = {
  obs: 2,
  action: { kind: "continuous", low: [-2, 0], high: [2, 1] },
  actorContext: 1,
  criticContext: 0,
} as const;
const step: Transition = {
  obs: [0.5, -0.25],
  action: [1, 0.25],
  reward: 1.5,
  nextObs: [-0.75, 0.125],
  end: "truncated",
  actorContext: [0.5],
  nextActorContext: [0.25],
};
const small = { ...bcqDefaults, hidden, bufferSize: 1, gamma: 0.9, tau: 0.1, batch: 1, candidates: 3 };

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

const tanhs = (params: ArrayLike<number>, x: readonly number[]) => mlp(params, x, [...hidden, 2]).map(Math.tanh);
const judge = (params: ArrayLike<number>, x: readonly number[]) => mlp(params, x, [...hidden, 1])[0] ?? Number.NaN;

function numericalGradient(loss: (params: Float64Array) => number, from: ArrayLike<number>): number[] {
  const params = Float64Array.from(from);
  return Array.from(params, (value, i) => {
    const h = 1e-6;
    params[i] = value + h;
    const above = loss(params);
    params[i] = value - h;
    const below = loss(params);
    params[i] = value;
    return (above - below) / (2 * h);
  });
}

const blocksOf = (learner: Learner) => unwrap(decodeCheckpoint(learner.save())).blocks;
type Blocks = { readonly [name: string]: NumberBlock };
const numbers = (blocks: Blocks, name: string) => Float64Array.from(blocks[name] ?? []);

for (const c of [1, 0.6]) {
  test(`targets and gradients agree with a double-precision oracle under a constraint of ${c}`, () => {
    const config = { ...small, constraint: constant(c), targetNoise: { sigma: 0, clip: 0 } };
    const learner = new Bcq({ kernels: referenceKernels(), shape, config, seed: 3 });
    unwrap(learner.observe(step));
    const before = blocksOf(learner);
    const latents = restoreRng(unpackRng(numbers(before, "rng.latent/values")));
    const stats = learner.update();
    const after = blocksOf(learner);

    // The draws in their order: the generative model's own, one latent of four per candidate, one for the actor.
    const draw = () => Array.from({ length: 4 }, () => latents.normal());
    draw();
    const candidates = [draw(), draw(), draw()].map((z) => z.map((x) => clippedLatent(x, 0.5)));
    const climbed = draw().map((x) => clippedLatent(x, 0.5));
    // The generative model has taken its step before it is asked.
    const decoder = numbers(after, "vae decoder/params");
    const reach = reachOf(c, config.perturbation);
    const act = (actor: ArrayLike<number>, seen: readonly number[], z: readonly number[]) => {
      const base = tanhs(decoder, [...seen, ...z]).map((x) => c * x);
      return tanhs(actor, [...seen, ...base]).map((shift, k) => shiftedAction(base[k] ?? 0, shift, reach));
    };
    const next = [-0.75, 0.125, 0.25];
    const values = candidates.map((z) => {
      const action = act(numbers(before, "slow actor/params"), next, z);
      const [q1, q2] = [0, 1].map((i) => judge(numbers(before, `slow critic ${i}/params`), [...next, ...action]));
      return softMinimum(q1 ?? 0, q2 ?? 0, 1 - 0.25 * c);
    });
    const y = 1.5 + 0.9 * Math.max(...values);
    // Actions in the policy's scale: 1 of [−2, 2] is 0.5, 0.25 of [0, 1] is −0.5.
    const input = [0.5, -0.25, 0.5, 0.5, -0.5];
    let loss = 0;
    for (const i of [0, 1]) {
      const params = numbers(before, `critic ${i}/params`);
      const want = numericalGradient((p) => (judge(p, input) - y) ** 2, params);
      const got = numbers(after, `critic optimiser ${i}/moments`);
      want.forEach((g, k) => {
        expect((got[k] ?? Number.NaN) / 0.1, `critic ${i}, parameter ${k}`).toBeCloseTo(g, 4);
      });
      loss += (judge(params, input) - y) ** 2;
    }
    expect(stats?.criticLoss).toBeCloseTo(loss, 5);

    // The actor climbs the first critic as it is after its step, through the clip and the reach.
    const critic = numbers(after, "critic 0/params");
    const seen = [0.5, -0.25, 0.5];
    const climb = (p: ArrayLike<number>) => -judge(critic, [...seen, ...act(p, seen, climbed)]);
    const want = numericalGradient(climb, numbers(before, "actor/params"));
    const got = numbers(after, "actor optimiser/moments");
    expect(Math.max(...want.map(Math.abs))).toBeGreaterThan(1e-4);
    want.forEach((g, k) => {
      expect((got[k] ?? Number.NaN) / 0.1, `actor, parameter ${k}`).toBeCloseTo(g, 5);
    });
    expect(stats?.actorLoss).toBeCloseTo(climb(numbers(before, "actor/params")), 5);

    for (const name of ["actor", "critic 0", "critic 1"]) {
      const [old, now] = [numbers(before, `slow ${name}/params`), numbers(after, `${name}/params`)];
      numbers(after, `slow ${name}/params`).forEach((value, k) => {
        expect(value).toBeCloseTo((old[k] ?? 0) + 0.1 * ((now[k] ?? 0) - (old[k] ?? 0)), 6);
      });
    }
  });
}

test("without the constraint it acts and learns as TD3 does, step for step", () => {
  const config = { ...small, batch: 4, constraint: constant(0), policyDelay: 2, targetNoise: { sigma: 0, clip: 0 } };
  const bcq = new Bcq({ kernels: referenceKernels(), shape, config, seed: 3 });
  const td3 = new Ddpg({
    kernels: referenceKernels(),
    shape,
    seed: 8,
    config: { ...ddpgDefaults, ...config, twinCritics: true, learningStarts: 0 },
  });
  // BCQ's parameters in TD3's checkpoint: the actor without the rows that weigh the base, which is zero.
  const own = blocksOf(bcq);
  const withoutBase = (name: string) => {
    const params = own[`${name}/params`] as Float32Array;
    const first = 6;
    return Float32Array.from([...params.subarray(0, 3 * first), ...params.subarray(5 * first)]);
  };
  const given = unwrap(decodeCheckpoint(td3.save()));
  const names = ["critic 0", "critic 1", "slow critic 0", "slow critic 1"];
  const critics = names.map((name, i) => [`network ${2 + i}/params`, own[`${name}/params`] as NumberBlock]);
  const blocks = {
    ...given.blocks,
    "network 0/params": withoutBase("actor"),
    "network 1/params": withoutBase("slow actor"),
    ...Object.fromEntries(critics),
  };
  unwrap(td3.load(encodeCheckpoint({ ...given, blocks })));
  const choice = (learner: Learner) => unwrap(learner.act([0.3, 0.1], { explore: false, actorContext: [1] })).action;
  expect(choice(bcq)).toEqual(choice(td3));
  const start = choice(bcq);
  for (let i = 0; i < 40; i++) {
    unwrap(bcq.observe(step));
    unwrap(td3.observe(step));
    const [a, b] = [bcq.update(), td3.update()];
    expect(a?.criticLoss).toBe(b?.criticLoss);
    expect(a?.actorLoss).toBe(b?.actorLoss);
  }
  expect(choice(bcq)).toEqual(choice(td3));
  expect(choice(bcq)).not.toEqual(start);
});

test("without exploration it decides the same every time, and never leaves the bounds however it explores", () => {
  const config = { ...small, noise: { kind: "gaussian", sigma: 5 } } as const;
  const learner = new Bcq({ kernels: referenceKernels(), shape, config, seed: 3 });
  const decide = (explore: boolean) => unwrap(learner.act([1, 2], { explore, actorContext: [0] })).action;
  expect(decide(false)).toEqual(decide(false));
  for (let i = 0; i < 300; i++) {
    const [first = 9, second = 9] = decide(true);
    expect(Math.abs(first)).toBeLessThanOrEqual(2);
    expect(Math.abs(second - 0.5)).toBeLessThanOrEqual(0.5);
  }
});

test("the constraint follows its schedule, or whoever sets it, and travels with the checkpoint", () => {
  const config = { ...small, constraint: { from: 1, to: 0, fraction: 0.5 } };
  const build = () => new Bcq({ kernels: referenceKernels(), shape, config, seed: 3 });
  const learner = build();
  expect(learner.constraint).toBe(1);
  learner.setProgress(0.25);
  expect(learner.constraint).toBe(0.5);
  learner.setConstraint(0.2);
  const copy = build();
  unwrap(copy.load(learner.save()));
  expect(copy.constraint).toBe(0.2);
  for (const bad of [-0.1, 1.1, Number.NaN]) expect(() => learner.setConstraint(bad)).toThrow(/between 0/);
  expect(learner.constraint).toBe(0.2);
});

test("with centred rewards a constant added to all of them changes nothing that is learned", () => {
  const after = (added: number) => {
    const config = { ...small, batch: 4, bufferSize: 10, centreRewards: true };
    const learner = new Bcq({ kernels: referenceKernels(), shape, config, seed: 3 });
    for (let i = 0; i < 10; i++) unwrap(learner.observe({ ...step, reward: (i % 3) / 4 + added }));
    for (let i = 0; i < 5; i++) learner.update();
    return numbers(blocksOf(learner), "critic 0/params");
  };
  const plain = after(0);
  after(2).forEach((value, i) => {
    expect(value).toBeCloseTo(plain[i] ?? Number.NaN, 5);
  });
});

test("discrete actions are refused with the way out", () => {
  const build = () =>
    new Bcq({
      kernels: referenceKernels(),
      shape: { ...shape, action: { kind: "discrete", n: 2 } },
      config: small,
      seed: 1,
    });
  expect(build).toThrow(/BCQ chooses continuous actions.*use PPO or DQN/);
});

// ── Learning from another controller's records alone ─────────────────────────────────────────────────────────────────

test("from an autoscaler's records alone it does better than the autoscaler, where DDPG runs off into what was never tried", () => {
  const rng = seededRng(2000);
  const behaviour = targetUtilisation(0.6, 0.05);
  const episodes = Array.from({ length: 10 }, (_, e) => playQueue(behaviour, rng.fork(e)));
  const offline = (learner: Learner): number => {
    for (const transition of episodes.flat()) unwrap(learner.observe(transition));
    for (let i = 0; i < 3_000; i++) learner.update();
    return earnedBy(learner);
  };
  const earnedBy = (learner: Learner): number => {
    const policy = (obs: Float32Array) => unwrap(learner.act(obs, { explore: false })).action[0] ?? Number.NaN;
    return trueReturn(policy, seededRng(2001), 30);
  };
  const same = { hidden: [24, 24], batch: 32, gamma: 0.9, tau: 0.01, normaliseObs: true, learningStarts: 0 };
  const wasm = readFileSync(new URL("../../../kernels/kernels.wasm", import.meta.url));
  const common = { kernels: wasmKernels(new Uint8Array(wasm)), shape: queueShape, seed: 1 };
  const config = { ...bcqDefaults, ...same, candidates: 4, centreRewards: true };
  const learner = new Bcq({ ...common, config });
  const bcq = offline(learner);
  const ddpg = offline(new Ddpg({ ...common, config: { ...ddpgDefaults, ...same } }));
  const earned = episodes.reduce((sum, episode) => sum + returnOf(episode), 0) / episodes.length;
  // Measured: 159.4 for the autoscaler, 162.6 for BCQ, 125 for DDPG. Of ten other seeds BCQ beat it by 2 or more on nine
  // and tied on one; without the noise in the records it does not do so reliably (docs/adr/0014).
  expect(bcq).toBeGreaterThan(earned + 1);
  expect(ddpg).toBeLessThan(earned - 10);

  // Taking the constraint away does not by itself change what the policy does: only learning may. Without the refit
  // the shift that filled a reach of 0.05 fills one of 0.5, and actions are off by 0.54 in the mean.
  const observations = episodes.flat().map(({ obs }) => obs);
  const choices = () => observations.map((obs) => unwrap(learner.act(obs, { explore: false })).action[0] ?? Number.NaN);
  const before = choices();
  for (const constraint of [0.5, 0]) {
    learner.setConstraint(constraint);
    const now = choices();
    const off = now.reduce((sum, action, i) => sum + Math.abs(action - (before[i] ?? Number.NaN)), 0) / now.length;
    expect(off, `under a constraint of ${constraint}`).toBeLessThan(0.06);
    expect(earnedBy(learner)).toBeGreaterThan(earned - 3);
  }
});
