/** A learner that may learn only from its own rollout, in an agent, with its training beside the loop. */
import { expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { err, failure } from "../../src/base/index.ts";
import { trainBeside } from "../../src/control/lifecycle/training-task.ts";
import { loopAgent } from "../../src/control/loop/index.ts";
import { Ppo, ppoDefaults } from "../../src/learn/rl/index.ts";
import { profile, Rig } from "./rig.ts";

const kernels = loadKernels();
const ROLLOUT = 8;
const shape = {
  obs: 13,
  action: { kind: "continuous" as const, low: [-1, -1, -1], high: [1, 1, 1] },
  actorContext: 0,
  criticContext: 0,
};
const learner = () =>
  new Ppo({
    kernels,
    shape,
    seed: 1,
    config: { ...ppoDefaults, hidden: [8], streams: 1, rolloutSteps: ROLLOUT, minibatch: 4 },
  });
/** No bootstrapping: the learner acts from the first step on, and its rollout fills. */
const atOnce = {
  ...profile,
  bootstrap: false,
  serving: { kind: "absolute", value: 19 },
  deviation: { kind: "absolute", value: 0.1 },
  gates: { ...profile.gates, canary: null, rollback: null },
} as const;

test("it is shown its own steps only: while the fallback acts it learns nothing, and refuses nothing", () => {
  let made = learner();
  const rig = new Rig({ createLearner: () => (made = learner()) });
  rig.steps(2 * ROLLOUT);
  expect(rig.agent.state.stage).toBe("OFFLINE");
  expect([made.steps, rig.agent.refusedObservations]).toEqual([0, 0]);
});

test("trained beside the loop, it comes back with its rollout consumed, so that the next one can begin", () => {
  let made = learner();
  const rig = new Rig({ profile: atOnce, createLearner: () => (made = learner()) });
  const driven = loopAgent({ agent: rig.agent, estimate: { seed: 1 }, replaySize: 0, trainEvery: 1 });
  const round = () => {
    rig.steps(ROLLOUT + 1);
    driven.tick({ ...rig.world.input(), health: {} });
    const job = driven.training();
    const outcome = trainBeside(job?.config as never, { kernels, isCancelled: () => false });
    expect(driven.adopt(outcome).ok).toBe(true);
    return outcome.updates;
  };
  // One update eats the rollout; a second round has a rollout of its own, made by the new policy.
  expect(round()).toBe(1);
  expect(made.steps).toBeGreaterThanOrEqual(ROLLOUT);
  expect(made.update()).toBeUndefined();
  expect(round()).toBe(1);
});

test("steps that a full rollout refuses are counted, and told once", () => {
  const rig = new Rig({ profile: atOnce, createLearner: learner });
  rig.steps(ROLLOUT + 6);
  // The first step is completed by the second: five came after the eighth.
  expect(rig.agent.refusedObservations).toBe(5);
  const told = rig.events.filter(({ name }) => name === "observation-refused");
  expect(told.map(({ evidence }) => evidence)).toMatchObject([{ code: "rl.rollout-full" }]);
});

test("steps from long ago are not shown to it, whoever took them, and count as no refusal", () => {
  let made = learner();
  const rig = new Rig({ profile: atOnce, createLearner: () => (made = learner()) });
  const obs = new Float32Array(13);
  const own = { obs, action: [0, 0, 0], proposed: [0, 0, 0], logProb: -1, reward: 1, nextObs: obs, end: "no" as const };
  expect(rig.agent.recall([own, { ...own, logProb: undefined as never }])).toEqual([]);
  expect([made.steps, rig.agent.refusedObservations]).toEqual([0, 0]);
  const driven = loopAgent({ agent: rig.agent, estimate: { seed: 1 }, replaySize: 1_000 });
  expect(driven.recollection?.most).toBe(0);
});

test("while it serves it draws nothing at random, so that these steps are no rollout", () => {
  let made = learner();
  const settled = { ...atOnce, serving: { kind: "absolute", value: 0 }, deviation: { kind: "absolute", value: 100 } };
  const rig = new Rig({ profile: settled as typeof atOnce, createLearner: () => (made = learner()) });
  rig.until("SERVING");
  rig.step();
  const before = [made.steps, rig.agent.refusedObservations];
  rig.steps(2 * ROLLOUT);
  expect(rig.agent.state.stage).toBe("SERVING");
  expect([made.steps, rig.agent.refusedObservations]).toEqual(before);
});

test("a learner that takes anything is shown what anybody did", () => {
  const rig = new Rig();
  rig.steps(3);
  expect(rig.learner.seen).toHaveLength(2);
  rig.learner.observe = () => err(failure("rl.not-finite", "no"));
  rig.steps(2);
  expect(rig.agent.refusedObservations).toBe(2);
});
