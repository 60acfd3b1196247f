import { expect, test } from "vitest";
import { loadKernels } from "../../../adapters/runtime/index.ts";
import { unwrap } from "../../../base/index.ts";
import { registerLearner } from "../../../learn/rl/index.ts";
import { autoscaleBcq, autoscaleLearner, learnerAlgorithm } from "./learner.ts";

const kernels = loadKernels();
const task = { features: "extended", actions: "demand" } as const;
const kindOf = (kind: string, config = {}) =>
  autoscaleLearner({ kernels, task, seed: 1, algorithm: unwrap(learnerAlgorithm({ kind, config })) }).kind;

test("an agent has BCQ unless its owner names another learner", () => {
  expect(autoscaleLearner({ kernels, task, seed: 1 }).kind).toBe("bcq");
  expect([kindOf("bcq"), kindOf("td3"), kindOf("ddpg")]).toEqual(["bcq", "ddpg", "ddpg"]);
  expect(kindOf("ppo", { rolloutSteps: 16 })).toBe("ppo");
});

test("what its owner sets differs from an agent's usual settings, and nothing else does", () => {
  const td3 = unwrap(learnerAlgorithm({ kind: "td3", config: { batch: 32 } }));
  expect(td3).toMatchObject({
    kind: "ddpg",
    // No random actions before it learns, and no noise of its own: the agent's is held by the shield.
    config: { batch: 32, twinCritics: true, learningStarts: 0, noise: { kind: "none" }, tau: autoscaleBcq.tau },
  });
});

test("a registered learner is made with its own settings and an agent's shape", () => {
  const usual = autoscaleLearner({ kernels, task, seed: 1 });
  registerLearner({
    kind: "mine",
    create: (options, config) => Object.assign(Object.create(usual), { kind: "mine", shape: options.shape, config }),
  });
  const algorithm = unwrap(learnerAlgorithm({ kind: "mine", config: { any: "thing" } }));
  const made = autoscaleLearner({ kernels, task, seed: 1, algorithm });
  expect(made).toMatchObject({ kind: "mine", shape: usual.shape, config: { any: "thing" } });
});

test.each([
  ["dqn", {}, "there is no learner 'dqn' for an agent; known are bcq, td3, ddpg, ppo"],
  ["ppo", { rolloutSteps: 0 }, "the learner 'ppo' cannot have rolloutSteps 0"],
  ["td3", { bach: 3 }, "the learner 'td3' has no setting 'bach' of this kind"],
  ["td3", { batch: "many" }, "the learner 'td3' has no setting 'batch' of this kind"],
  ["bcq", { twinCritics: true }, "the learner 'bcq' has no setting 'twinCritics' of this kind"],
])("%s with %j is refused", (kind, config, says) => {
  expect(learnerAlgorithm({ kind, config })).toMatchObject({
    failure: { code: "agent.learner", message: expect.stringContaining(says) },
  });
});
