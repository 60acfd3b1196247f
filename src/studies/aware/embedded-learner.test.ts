import { expect, test } from "vitest";
import { tinyModel } from "../../../test/fixtures/meta/tiny-model.ts";
import { loadKernels } from "../../adapters/runtime/index.ts";
import { seededRng, unwrap } from "../../base/index.ts";
import type { Transition } from "../../learn/rl/index.ts";
import { encodingWork } from "./adaptation-aware.ts";
import { EmbeddedLearner, fixedLearner } from "./embedded-learner.ts";

const model = await tinyModel();
const options = { kernels: loadKernels(), model, seed: 1 };
const obs = Float32Array.from({ length: model.shape.obs }, (_, i) => 0.1 * (i % 5));

/** Steps that follow one another, the last one an end. */
function episode(length: number, seed: number): Transition[] {
  const rng = seededRng(seed);
  const numbers = (size: number) => Float32Array.from({ length: size }, () => 2 * rng.next() - 1);
  const seen = Array.from({ length: length + 1 }, () => numbers(model.shape.obs));
  return Array.from({ length }, (_, t) => ({
    obs: seen[t] ?? [],
    action: numbers(3),
    reward: rng.next(),
    nextObs: seen[t + 1] ?? [],
    end: t === length - 1 ? "truncated" : "no",
  }));
}

function learnerAfter(episodes: readonly (readonly Transition[])[]): EmbeddedLearner {
  const learner = new EmbeddedLearner(options);
  for (const step of episodes.flat()) unwrap(learner.observe(step));
  return learner;
}

const actionOf = (learner: Pick<EmbeddedLearner, "act">) => [...unwrap(learner.act(obs, { explore: false })).action];

test("an embedding comes with the third episode, and changes what is done without any learning", () => {
  const two = [episode(20, 1), episode(20, 2)];
  const neutral = actionOf(new EmbeddedLearner(options));
  expect(actionOf(learnerAfter(two))).toEqual(neutral);
  expect(actionOf(learnerAfter([...two, episode(20, 3)]))).not.toEqual(neutral);
});

test("it learns from the first whole episode on", () => {
  const learner = learnerAfter([episode(20, 1).slice(0, -1)]);
  expect(learner.update()).toBeUndefined();
  expect(learner.steps).toBe(19);
  const whole = learnerAfter([episode(20, 1)]);
  const before = actionOf(whole);
  for (let i = 0; i < 20; i++) expect(whole.update()?.gradientSteps).toBe(1);
  expect(actionOf(whole)).not.toEqual(before);
});

test("an episode with a hole is counted from the hole on", () => {
  const holed = [1, 2, 3].map((seed) => episode(20, seed).filter((_, t) => t !== 9));
  const rest = [1, 2, 3].map((seed) => episode(20, seed).slice(10));
  const whole = [1, 2, 3].map((seed) => episode(20, seed));
  expect(actionOf(learnerAfter(holed))).toEqual(actionOf(learnerAfter(rest)));
  expect(actionOf(learnerAfter(holed))).not.toEqual(actionOf(learnerAfter(whole)));
});

test("callers may reuse their arrays", () => {
  const steps = episode(20, 1);
  const [kept, reused] = [learnerAfter([steps, episode(20, 2), episode(20, 3)]), new EmbeddedLearner(options)];
  const action = new Float32Array(3);
  for (const step of [steps, episode(20, 2), episode(20, 3)].flat()) {
    action.set(Array.from(step.action));
    unwrap(reused.observe({ ...step, action }));
    action.fill(0);
  }
  expect(actionOf(reused)).toEqual(actionOf(kept));
});

test("a saved policy acts under the embedding it was saved with, and stays as it is", () => {
  const learner = learnerAfter([episode(20, 1), episode(20, 2), episode(20, 3)]);
  for (let i = 0; i < 10; i++) learner.update();
  const fixed = unwrap(fixedLearner(options, learner.save()));
  expect([...unwrap(fixed.act(obs, { explore: false })).action]).toEqual(actionOf(learner));
  for (const step of episode(20, 4)) unwrap(fixed.observe(step));
  expect(fixed.update()).toBeUndefined();
  expect(fixed.save()).toEqual(learner.save());
  expect(fixedLearner(options, Uint8Array.of(1, 2, 3)).ok).toBe(false);
  expect(learner.load().ok).toBe(false);
});

test("reading a trajectory costs three gates of each direction and layer at every step", () => {
  // Width 4 over 17 numbers (13 seen, 3 done, 1 earned): 2·3·4·(17 + 4), and the second layer over both directions' 8.
  expect(encodingWork(model, 100)).toBe(100 * (2 * 3 * 4 * 21 + 2 * 3 * 4 * 12));
});
