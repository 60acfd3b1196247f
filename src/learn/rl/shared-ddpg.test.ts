/** One DDPG that several environments share: losses and gradients of contexts against a double-precision oracle. */

import { expect, test } from "vitest";
import { seededRng, unwrap } from "../../base/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import { Ddpg } from "./ddpg.ts";
import type { DdpgConfig } from "./ddpg-config.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import type { EnvironmentRows } from "./drawn-rows.ts";
import { Replay } from "./replay.ts";

const hidden = [7, 6];
const [obs, actions, width] = [2, 2, 3];
const shape = {
  obs,
  action: { kind: "continuous", low: [-1, -1], high: [1, 1] },
  actorContext: width,
  criticContext: 0,
} as const;
const noSmoothing = { targetNoise: { sigma: 0, clip: 0 }, policyDelay: 1 };
const GAMMA = 0.9;

/** A ReLU perceptron in double precision over flat parameters: weights [inputs, outputs], then the bias, per layer. */
function mlp(params: ArrayLike<number>, x: readonly number[], widths: readonly number[]): number[] {
  let at = 0;
  let y = [...x];
  for (const [layer, outputs] of widths.entries()) {
    const inputs = y;
    y = Array.from({ length: outputs }, (_, o) => {
      let sum = params[at + inputs.length * outputs + o] ?? Number.NaN;
      for (const [i, value] of inputs.entries()) sum += value * (params[at + i * outputs + o] ?? Number.NaN);
      return layer < widths.length - 1 ? Math.max(sum, 0) : sum;
    });
    at += inputs.length * outputs + outputs;
  }
  return y;
}

const policy = (params: ArrayLike<number>, x: readonly number[]) => mlp(params, x, [...hidden, actions]).map(Math.tanh);
const judge = (params: ArrayLike<number>, x: readonly number[]) => mlp(params, x, [...hidden, 1])[0] ?? Number.NaN;

interface Row {
  readonly obs: readonly number[];
  readonly action: readonly number[];
  readonly nextObs: readonly number[];
  readonly reward: number;
  readonly end: "no" | "terminated";
}

interface Group {
  readonly rows: readonly Row[];
  readonly context: readonly number[];
  readonly shift: number;
}

function drawGroups(sizes: readonly number[]): readonly Group[] {
  const rng = seededRng(11);
  const vector = (size: number) => Array.from({ length: size }, () => Math.fround(2 * rng.next() - 1));
  return sizes.map((size, group) => ({
    rows: Array.from({ length: size }, (_, i) => ({
      obs: vector(obs),
      action: vector(actions),
      nextObs: vector(obs),
      reward: Math.fround(rng.next()),
      end: i === 1 ? "terminated" : "no",
    })),
    context: vector(width),
    shift: 0.25 * group,
  }));
}

function asRows({ rows, context, shift }: Group): EnvironmentRows {
  const replay = new Replay({ capacity: 10, widths: { obs, action: actions, actorContext: 0, criticContext: 0 } });
  for (const row of rows) replay.add(row);
  // Backwards, so that the drawn row and its place in the batch are not the same number.
  return { replay, rows: Int32Array.from(rows, (_, i) => rows.length - 1 - i), context, rewardShift: shift };
}

function build(options: Partial<DdpgConfig>, batch: number): Ddpg {
  const config = { ...ddpgDefaults, ...noSmoothing, ...options, hidden, batch, bufferSize: 1, gamma: GAMMA };
  return new Ddpg({ kernels: referenceKernels(), shape, config, seed: 5 });
}

/** Both losses of one environment as functions of the context that its gradient goes through. */
function oracle(learner: Ddpg, { rows, context, shift }: Group) {
  const { blocks } = unwrap(decodeCheckpoint(learner.save()));
  const network = (i: number) => blocks[`network ${i}/params`] ?? new Float32Array(0);
  const critics = learner.config.twinCritics ? 2 : 1;
  const seenBy = (seen: readonly number[], c: readonly number[]) =>
    learner.config.criticsSeeContext === false ? seen : [...seen, ...c];
  const each = Array.from({ length: critics }, (_, c) => c);
  const targets = rows.map(({ nextObs, reward, end }) => {
    const next = policy(network(1), [...nextObs, ...context]);
    const values = each.map((c) => judge(network(2 + critics + c), [...seenBy(nextObs, context), ...next]));
    return reward - shift + (end === "terminated" ? 0 : GAMMA * Math.min(...values));
  });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    critic: (c: readonly number[]) =>
      mean(
        rows.map((row, i) =>
          each
            .map((k) => (judge(network(2 + k), [...seenBy(row.obs, c), ...row.action]) - (targets[i] ?? 0)) ** 2)
            .reduce((sum, value) => sum + value, 0),
        ),
      ),
    // The critic keeps the context it has: only the actor's input moves.
    actor: (c: readonly number[]) =>
      -mean(
        rows.map((row) => judge(network(2), [...seenBy(row.obs, context), ...policy(network(0), [...row.obs, ...c])])),
      ),
  };
}

function numericalGradient(loss: (at: readonly number[]) => number, from: readonly number[]): number[] {
  const step = 1e-6;
  const moved = (k: number, by: number) => from.map((value, i) => (i === k ? value + by : value));
  return from.map((_, k) => (loss(moved(k, step)) - loss(moved(k, -step))) / (2 * step));
}

for (const [name, options] of [
  ["DDPG", {}],
  ["DDPG whose critic does not see the context", { criticsSeeContext: false }],
  ["TD3", { ...td3Options, policyDelay: 1 }],
] as const) {
  for (const weights of [
    { actor: 1, critic: 0 },
    { actor: 0, critic: 1 },
    { actor: 2, critic: 0.5 },
  ]) {
    test(`${name}: an environment's losses and the gradient of its context, weights ${weights.actor} and ${weights.critic}`, () => {
      const groups = drawGroups([3, 5, 2]);
      const learner = build(options, 10);
      const before = learner.save();
      const found = learner.contextGradients(groups.map(asRows), weights);
      expect(learner.save()).toEqual(before);
      const lengths: number[] = [];
      for (const [i, group] of groups.entries()) {
        const { critic, actor } = oracle(learner, group);
        expect(found[i]?.criticLoss).toBeCloseTo(critic(group.context), 4);
        expect(found[i]?.actorLoss).toBeCloseTo(actor(group.context), 5);
        const [dCritic, dActor] = [numericalGradient(critic, group.context), numericalGradient(actor, group.context)];
        for (let k = 0; k < width; k++) {
          const want = weights.critic * (dCritic[k] ?? Number.NaN) + weights.actor * (dActor[k] ?? Number.NaN);
          expect(found[i]?.gradient[k], `environment ${i}, component ${k}`).toBeCloseTo(want, 5);
          lengths.push(Math.abs(want));
        }
      }
      const isBlind = "criticsSeeContext" in options && weights.actor === 0;
      // A gradient of nothing would agree with an oracle of nothing.
      if (isBlind) expect(Math.max(...lengths)).toBe(0);
      else expect(Math.max(...lengths)).toBeGreaterThan(1e-3);
    });
  }
}

test("a step on rows of environments is the step that a learner takes from its own replay", () => {
  const [group] = drawGroups([4]) as [Group];
  const shared = build({}, 4);
  const own = build({ learningStarts: 0 }, 4);
  const [row] = group.rows as [Row];
  const same: Group = { ...group, rows: [row, row, row, row], shift: 0 };
  for (const each of same.rows) unwrap(own.observe({ ...each, actorContext: group.context }));
  const mine = own.update();
  const theirs = shared.learnFrom([asRows({ ...same, rows: [row, row] }), asRows({ ...same, rows: [row, row] })]);
  expect(theirs).toEqual({ criticLoss: mine?.criticLoss, actorLoss: mine?.actorLoss });
  const networks = (learner: Ddpg) => {
    const { blocks } = unwrap(decodeCheckpoint(learner.save()));
    return Array.from({ length: 4 }, (_, i) => blocks[`network ${i}/params`]);
  };
  expect(networks(shared)).toEqual(networks(own));
});

test("one shared policy learns from the context which of two opposite things its environment rewards", () => {
  const learner = build({ gamma: 0, criticLr: 1e-2, actorLr: 1e-2 } as Partial<DdpgConfig>, 32);
  const rng = seededRng(3);
  const contexts = [
    [1, 0, 0],
    [0, 1, 0],
  ];
  const replays = contexts.map((_, which) => {
    const replay = new Replay({ capacity: 400, widths: { obs, action: actions, actorContext: 0, criticContext: 0 } });
    for (let i = 0; i < 400; i++) {
      const action = [2 * rng.next() - 1, 2 * rng.next() - 1];
      const wanted = which === 0 ? 0.6 : -0.6;
      const reward = -(((action[0] ?? 0) - wanted) ** 2);
      replay.add({ obs: [0, 0], action, nextObs: [0, 0], reward, end: "terminated" });
    }
    return replay;
  });
  for (let i = 0; i < 400; i++) {
    learner.learnFrom(
      replays.map((replay, which) => ({
        replay,
        rows: Int32Array.from({ length: 16 }, () => rng.int(400)),
        context: contexts[which] ?? [],
      })),
    );
  }
  const chosen = contexts.map(
    (actorContext) => unwrap(learner.act([0, 0], { explore: false, actorContext })).action[0],
  );
  expect(chosen[0]).toBeCloseTo(0.6, 0);
  expect(chosen[0]).toBeGreaterThan(0.3);
  expect(chosen[1]).toBeLessThan(-0.3);
});

test("rows that make no batch, contexts of another width and rows beyond a replay are refused", () => {
  const learner = build({}, 4);
  const [group] = drawGroups([4]) as [Group];
  const rows = asRows(group);
  const refused = (groups: readonly EnvironmentRows[]) => () => learner.learnFrom(groups);
  expect(refused([{ ...rows, rows: Int32Array.of(0, 1) }])).toThrow(/2 rows were given and a gradient step takes 4/);
  expect(refused([{ ...rows, context: [1] }])).toThrow(/a context has 1 numbers and the learner was built for 3/);
  expect(refused([{ ...rows, rows: Int32Array.of(0, 1, 2, 9) }])).toThrow(/rows beyond its replay/);
  expect(refused([rows, { ...rows, rows: new Int32Array(0) }])).toThrow(/an environment has no rows/);
});
