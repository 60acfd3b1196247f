/**
 * What every learner must do, whatever its algorithm: one suite that each configuration passes.
 * The toy is a one-step game whose best action is known, so "learned" is a number, not an impression.
 */

import { expect, test } from "vitest";
import type { Rng } from "../../base/index.ts";
import { seededRng, unwrap } from "../../base/index.ts";
import type { Kernels } from "../tensor/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import { createLearner, openLearner, streamsOf } from "./algorithms.ts";
import type { ActionShape, Learner, LearnerShape, Transition, UpdateStats } from "./learner.ts";
import { actionSize, clipAction } from "./learner.ts";

export interface ConformanceCase {
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly action: ActionShape;
  /** Steps of the toy within which the learner gets close to the best. */
  readonly toySteps: number;
}

/** Two whole numbers or two reals in [0, 1] are asked for; the reward is 1 less how far the answer is off. */
interface Question {
  readonly ask: readonly [number, number];
}

function draw(rng: Rng): Question {
  return { ask: [rng.int(2), rng.int(2)] };
}

function rewardOf({ ask }: Question, action: ArrayLike<number>, shape: ActionShape): number {
  if (shape.kind === "discrete") return action[0] === ask[0] * (shape.n - 1) ? 1 : 0;
  let off = 0;
  for (let i = 0; i < action.length; i++) off += Math.abs((action[i] ?? 0) - (ask[i] ?? 0)) / action.length;
  return 1 - off;
}

interface Play {
  readonly steps: number;
  readonly rng: Rng;
  /** Where the question is put: what the policy is to act on. */
  readonly where: "obs" | "actorContext";
  /** Whether the critic context says how the luck fell. Default true. */
  readonly tell?: boolean;
  onUpdate?(stats: UpdateStats): void;
}

/** Plays and learns; returns the mean reward of the deterministic policy over 200 questions afterwards. */
function play(learner: Learner, { steps, rng, where, tell = true, onUpdate }: Play): number {
  const { obs: obsWidth, actorContext: contextWidth, criticContext: criticWidth, action: shape } = learner.shape;
  const vectors = ({ ask }: Question) => ({
    obs: where === "obs" ? [...ask, ...new Array<number>(obsWidth - 2).fill(0)] : new Array<number>(obsWidth).fill(0),
    ...(contextWidth > 0
      ? { actorContext: where === "actorContext" ? ask : new Array<number>(contextWidth).fill(0) }
      : {}),
  });
  const withContext = (seen: { actorContext?: readonly number[] }) =>
    seen.actorContext ? { actorContext: seen.actorContext } : {};
  for (let i = 0; i < steps; i++) {
    learner.setProgress(i / steps);
    const question = draw(rng);
    const seen = vectors(question);
    const { action: proposed, logProb } = unwrap(learner.act(seen.obs, { explore: true, ...withContext(seen) }));
    const action = clipAction(shape, proposed);
    const luck = rng.int(2);
    const transition: Transition = {
      ...seen,
      ...(criticWidth > 0 ? { criticContext: new Array<number>(criticWidth).fill(tell ? luck : 0) } : {}),
      action,
      proposed,
      logProb,
      // With a critic context, half of the reward is luck that only the critic is told of.
      reward: rewardOf(question, action, shape) + (criticWidth > 0 ? 5 * luck : 0),
      nextObs: seen.obs,
      end: "terminated",
      stream: i % streams(learner),
    };
    unwrap(learner.observe(transition));
    const stats = learner.update();
    if (stats) onUpdate?.(stats);
  }
  const judge = seededRng(99);
  let sum = 0;
  for (let i = 0; i < 200; i++) {
    const question = draw(judge);
    const seen = vectors(question);
    const { action } = unwrap(learner.act(seen.obs, { explore: false, ...withContext(seen) }));
    sum += rewardOf(question, clipAction(shape, action), shape);
  }
  return sum / 200;
}

const algorithms = new WeakMap<Learner, Algorithm>();
const streams = (learner: Learner) => streamsOf(algorithms.get(learner) as Algorithm);

function build(
  { algorithm, action }: ConformanceCase,
  {
    seed = 1,
    widths = {},
    kernels = referenceKernels(),
  }: { seed?: number; widths?: Partial<LearnerShape>; kernels?: Kernels } = {},
): Learner {
  const shape: LearnerShape = { obs: 2, action, actorContext: 0, criticContext: 0, ...widths };
  const learner = createLearner(algorithm, { kernels, shape, seed });
  algorithms.set(learner, algorithm);
  return learner;
}

function transitionFor(learner: Learner): Transition {
  const size = actionSize(learner.shape.action);
  const action = new Array<number>(size).fill(0);
  return { obs: [0.1, 0.2], action, logProb: -1, reward: 0.5, nextObs: [0.3, 0.4], end: "no" };
}

const codeOf = (result: { ok: boolean; failure?: { code: string } }) => (result.ok ? "accepted" : result.failure?.code);

export function learnerConformance(subject: ConformanceCase): void {
  const { name } = subject;

  test(`${name} learns the toy, far beyond random play`, () => {
    const learner = build(subject);
    // Random play earns 0.5 where the answer is graded and less among several choices.
    expect(play(learner, { steps: subject.toySteps, rng: seededRng(5), where: "obs" })).toBeGreaterThan(0.9);
  });

  test(`${name} sees the actor context: it learns what only the context tells`, () => {
    const learner = build(subject, { widths: { actorContext: 2 } });
    expect(play(learner, { steps: subject.toySteps, rng: seededRng(6), where: "actorContext" })).toBeGreaterThan(0.9);
  });

  test(`${name} without a context cannot know what only the context tells`, () => {
    const learner = build(subject, { widths: { actorContext: 2 } });
    // The same game, but learner and judge are always told zeros instead: nothing to act on.
    const blind: Learner = Object.create(learner, {
      act: { value: (obs: number[], o: { explore: boolean }) => learner.act(obs, { ...o, actorContext: [0, 0] }) },
      observe: { value: (t: Transition) => learner.observe({ ...t, actorContext: [0, 0] }) },
      update: { value: () => learner.update() },
      setProgress: { value: (p: number) => learner.setProgress(p) },
      shape: { value: learner.shape },
    });
    algorithms.set(blind, subject.algorithm);
    expect(play(blind, { steps: subject.toySteps, rng: seededRng(6), where: "actorContext" })).toBeLessThan(0.75);
  });

  test(`${name} gives the same bytes for the same seed, and others for another`, () => {
    const after = (seed: number) => {
      const learner = build(subject, { seed });
      play(learner, { steps: 300, rng: seededRng(7), where: "obs" });
      return learner.save({ resumable: true });
    };
    expect(after(3)).toEqual(after(3));
    expect(after(3)).not.toEqual(after(4));
  });

  test(`${name} continues from a resumable checkpoint as if there had been no break`, () => {
    const rng = seededRng(8);
    const original = build(subject);
    play(original, { steps: 333, rng, where: "obs" });
    const copy = build(subject, { seed: 77 });
    unwrap(copy.load(original.save({ resumable: true })));
    expect(copy.steps).toBe(333);
    const rest = rng.fork("rest");
    play(original, { steps: 200, rng: rest, where: "obs" });
    play(copy, { steps: 200, rng: rng.fork("rest"), where: "obs" });
    expect(copy.save({ resumable: true })).toEqual(original.save({ resumable: true }));
  });

  test(`${name} acts the same after a plain checkpoint, opened from its bytes alone`, () => {
    const original = build(subject);
    play(original, { steps: 300, rng: seededRng(9), where: "obs" });
    const bytes = original.save();
    const opened = unwrap(openLearner(bytes, referenceKernels()));
    expect(bytes.length).toBeLessThan(original.save({ resumable: true }).length);
    for (const obs of [
      [0, 1],
      [0.5, -2],
    ]) {
      expect(opened.act(obs, { explore: false })).toEqual(original.act(obs, { explore: false }));
    }
  });

  test(`${name} that came without its replay learns nothing before it has seen enough again`, () => {
    const original = build(subject);
    play(original, { steps: 300, rng: seededRng(9), where: "obs" });
    const copy = build(subject, { seed: 77 });
    unwrap(copy.load(original.save()));
    expect(copy.update()).toBeUndefined();
    let updates = 0;
    play(copy, { steps: 300, rng: seededRng(10), where: "obs", onUpdate: () => (updates += 1) });
    expect(updates).toBeGreaterThan(0);
  });

  test(`${name} refuses a damaged or foreign checkpoint and stays as it was`, () => {
    const learner = build(subject);
    play(learner, { steps: 150, rng: seededRng(10), where: "obs" });
    const before = learner.save({ resumable: true });
    const flipped = before.slice();
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 4;
    expect(codeOf(learner.load(flipped))).toBe("checkpoint.corrupt");
    expect(codeOf(learner.load(before.subarray(0, -1)))).toBe("checkpoint.truncated");
    expect(codeOf(learner.load(build(subject, { widths: { obs: 3 } }).save()))).toBe("checkpoint.mismatch");
    expect(learner.save({ resumable: true })).toEqual(before);
  });

  test(`${name} refuses numbers that are none, and learns nothing from them`, () => {
    const learner = build(subject);
    const before = learner.save({ resumable: true });
    expect(codeOf(learner.act([Number.NaN, 0], { explore: false }))).toBe("rl.not-finite");
    const good = transitionFor(learner);
    for (const bad of [
      { obs: [0, Number.POSITIVE_INFINITY] },
      { nextObs: [Number.NaN, 0] },
      { reward: Number.NaN },
      { action: good.action && Array.from(good.action, () => Number.NaN) },
      { logProb: Number.NEGATIVE_INFINITY },
    ]) {
      expect(codeOf(learner.observe({ ...good, ...bad })), JSON.stringify(bad)).toBe("rl.not-finite");
    }
    expect(learner.steps).toBe(0);
    expect(learner.save({ resumable: true })).toEqual(before);
    expect(codeOf(learner.observe(good))).toBe("accepted");
  });

  test(`${name} refuses vectors of another size`, () => {
    const learner = build(subject, { widths: { actorContext: 1, criticContext: 2 } });
    const contexts = { actorContext: [1], criticContext: [1, 2] };
    const good = { ...transitionFor(learner), ...contexts };
    expect(codeOf(learner.act([1, 2, 3], { explore: false, actorContext: [1] }))).toBe("rl.shape");
    expect(codeOf(learner.act([1, 2], { explore: false }))).toBe("rl.shape");
    expect(codeOf(learner.observe({ ...good, criticContext: [1] }))).toBe("rl.shape");
    expect(codeOf(learner.observe({ ...good, nextActorContext: [1, 2] }))).toBe("rl.shape");
    expect(codeOf(learner.observe(good))).toBe("accepted");
  });

  test(`${name} gives its memory back`, () => {
    const kernels = referenceKernels();
    const before = kernels.memory.used;
    const learner = build(subject, { kernels });
    expect(kernels.memory.used).toBeGreaterThan(before);
    learner.dispose();
    expect(kernels.memory.used).toBe(before);
  });
}

/** For algorithms with a critic beside the policy: it explains rewards by a context that the policy never sees. */
export function criticContextConformance(subject: ConformanceCase): void {
  test(`${subject.name}'s critic sees the critic context, and the policy still learns`, () => {
    const outcome = (tell: boolean) => {
      const learner = build(subject, { widths: { criticContext: 1 } });
      let criticLoss = Number.NaN;
      const onUpdate = (stats: UpdateStats) => {
        criticLoss = stats.criticLoss;
      };
      const reward = play(learner, { steps: subject.toySteps, rng: seededRng(11), where: "obs", tell, onUpdate });
      return { criticLoss, reward };
    };
    const told = outcome(true);
    expect(told.reward).toBeGreaterThan(0.9);
    // Luck of 0 or 5 is most of the reward's variance: told, it is explained; untold, no prediction can remove it.
    expect(told.criticLoss).toBeLessThan(outcome(false).criticLoss / 5);
  });
}
