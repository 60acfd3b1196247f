import { expect, test } from "vitest";
import { unwrap } from "../../base/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import { createLearner, openLearner } from "./algorithms.ts";
import { Constant } from "./constant.ts";

const shape = {
  obs: 2,
  action: { kind: "continuous", low: [-1, -1], high: [1, 1] },
  actorContext: 0,
  criticContext: 0,
} as const;
const kernels = referenceKernels();
const transition = { obs: [0, 0], action: [0, 0], reward: 1, nextObs: [0, 0], end: "no" } as const;

test("it says the same whatever it sees, also where it is to explore", () => {
  const learner = new Constant({ shape, config: { action: [0.25, -0.5] } });
  for (const obs of [
    [0, 0],
    [1, -1],
  ])
    expect([...unwrap(learner.act(obs, { explore: true })).action]).toEqual([0.25, -0.5]);
});

test("nonsense is refused, and nothing is ever learned", () => {
  const learner = new Constant({ shape, config: { action: [0, 0] } });
  expect(learner.act([Number.NaN, 0], { explore: false }).ok).toBe(false);
  expect(learner.observe({ ...transition, reward: Number.NaN }).ok).toBe(false);
  unwrap(learner.observe(transition));
  expect(learner.steps).toBe(1);
  expect(learner.update()).toBeUndefined();
  expect(learner.learnsFrom).toBe("nothing");
});

test("it is found again by its bytes, with its action and its count of steps", () => {
  const learner = createLearner({ kind: "constant", config: { action: [0.5, 1] } }, { kernels, shape, seed: 1 });
  unwrap(learner.observe(transition));
  const again = unwrap(openLearner(learner.save(), kernels));
  expect(again.steps).toBe(1);
  expect([...unwrap(again.act([0, 0], { explore: false })).action]).toEqual([0.5, 1]);
});

test("an action of another size is refused in one sentence", () => {
  expect(() => new Constant({ shape, config: { action: [0] } })).toThrow(
    "a constant action needs 2 finite numbers and was given [0]",
  );
});
