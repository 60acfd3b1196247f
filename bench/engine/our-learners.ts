/**
 * Whole learners of learn/rl, as a control loop calls them: what a user pays beside the networks' arithmetic
 * (checks, replay, advantages, shuffling) shows as the difference to the `ddpg` and `ppo` tasks.
 */

import { seededRng } from "../../src/base/index.ts";
import { Ddpg, ddpgDefaults, Ppo, ppoDefaults } from "../../src/learn/rl/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import { DDPG, PPO } from "./fixtures.ts";
import type { Task } from "./line-server.ts";

const draw = (count: number, label: string) => {
  const rng = seededRng(3).fork(label);
  return Array.from({ length: 256 }, () => Float32Array.from({ length: count }, () => 2 * rng.next() - 1));
};

/** One `observe` and one `update` per call, from a replay buffer of 10,000 transitions. */
export function ddpgLearnerTask(kernels: Kernels): Task {
  const wide = (value: number) => new Array<number>(DDPG.action).fill(value);
  const learner = new Ddpg({
    kernels,
    shape: {
      obs: DDPG.state,
      action: { kind: "continuous", low: wide(-1), high: wide(1) },
      actorContext: 0,
      criticContext: 0,
    },
    config: { ...ddpgDefaults, batch: DDPG.batch, bufferSize: 10_000, learningStarts: 1_000 },
    seed: 1,
  });
  const [states, actions] = [draw(DDPG.state, "states"), draw(DDPG.action, "actions")];
  let at = 0;
  const observe = () => {
    const obs = states[at % 256]!;
    at += 1;
    const result = learner.observe({
      obs,
      action: actions[at % 256]!,
      reward: obs[0]!,
      nextObs: states[at % 256]!,
      end: at % 100 === 0 ? "terminated" : "no",
    });
    if (!result.ok) throw new Error(result.failure.message);
  };
  for (let i = 0; i < 10_000; i++) observe();
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        observe();
        if (!learner.update()) throw new Error("the learner did not learn");
      }
    },
    close: () => learner.dispose(),
  };
}

/** One decision of the policy per call, as a control loop asks for it: checks, forward pass, a fresh action. */
export function ddpgActTask(kernels: Kernels): Task {
  const wide = (value: number) => new Array<number>(DDPG.action).fill(value);
  const learner = new Ddpg({
    kernels,
    shape: {
      obs: DDPG.state,
      action: { kind: "continuous", low: wide(-1), high: wide(1) },
      actorContext: 0,
      criticContext: 0,
    },
    config: { ...ddpgDefaults, bufferSize: 1_000 },
    seed: 1,
  });
  const states = draw(DDPG.state, "states");
  const options = { explore: false };
  let sink = 0;
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        const decision = learner.act(states[i % 256]!, options);
        if (!decision.ok) throw new Error(decision.failure.message);
        sink += decision.value.action[0]!;
      }
    },
    value: () => sink,
    close: () => learner.dispose(),
  };
}

/** A whole PPO update per call: 2048 observed steps, values, advantages, 10 epochs of minibatches of 64. */
export function ppoLearnerTask(kernels: Kernels): Task {
  const learner = new Ppo({
    kernels,
    shape: { obs: PPO.state, action: { kind: "discrete", n: PPO.actions }, actorContext: 0, criticContext: 0 },
    config: {
      ...ppoDefaults,
      streams: 1,
      rolloutSteps: PPO.rollout,
      epochs: PPO.epochs,
      minibatch: PPO.minibatch,
      maxGradNorm: PPO.maxNorm,
    },
    seed: 1,
  });
  const states = draw(PPO.state, "states");
  let at = 0;
  const fill = () => {
    for (let i = 0; i < PPO.rollout; i++) {
      const obs = states[at % 256]!;
      at += 1;
      const result = learner.observe({
        obs,
        action: [at % 2],
        logProb: Math.log(0.5),
        reward: obs[0]!,
        nextObs: states[at % 256]!,
        end: at % 100 === 0 ? "terminated" : "no",
      });
      if (!result.ok) throw new Error(result.failure.message);
    }
  };
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        fill();
        if (!learner.update()) throw new Error("the learner did not learn");
      }
    },
    close: () => learner.dispose(),
  };
}
