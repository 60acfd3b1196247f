/**
 * The PPO minibatch update on our engine: the arithmetic of peers/torch_ppo.py, written as a user of learn/tensor.
 * Minibatches are gathered from a rollout of 2048 transitions, as the peer gathers its own.
 */

import { seededRng } from "../../src/base/index.ts";
import {
  adam,
  buildNetwork,
  categoricalBackward,
  categoricalLogProb,
  clipGradNorms,
  dense,
  type Kernels,
  PARAMS_ONLY,
} from "../../src/learn/tensor/index.ts";
import { BlockReader, denseSize, PPO, PPO_ACTOR, PPO_CRITIC } from "./fixtures.ts";
import type { Task } from "./line-server.ts";

const layers = (outputs: number) => [dense(4, 64, "tanh"), dense(64, 64, "tanh"), dense(64, outputs)];

export function ppoTask(kernels: Kernels, fixture: Float32Array): Task {
  const { rollout, minibatch, state } = PPO;
  const { memory } = kernels;
  const rng = seededRng(0);
  const blocks = new BlockReader(fixture);
  const actor = buildNetwork(kernels, { layers: layers(PPO.actions), batch: minibatch, rng });
  const critic = buildNetwork(kernels, { layers: layers(1), batch: minibatch, rng });
  actor.load(blocks.take(denseSize(PPO_ACTOR)));
  critic.load(blocks.take(denseSize(PPO_CRITIC)));
  const optimisers = [actor, critic].map((net) =>
    adam(kernels, { params: net.params, count: net.paramCount, lr: PPO.lr, epsilon: PPO.eps }),
  );
  const states = blocks.take(rollout * state).slice();
  const [chosen, oldLogProbs, advantages, returns, oldValues] = Array.from({ length: 5 }, () =>
    blocks.take(rollout).slice(),
  ) as [Float32Array, Float32Array, Float32Array, Float32Array, Float32Array];
  const order = Int32Array.from({ length: rollout }, (_, i) => i);

  const owned = [minibatch, minibatch, minibatch, minibatch, minibatch, minibatch * PPO.actions].map((count) =>
    memory.alloc(count),
  );
  const [actions, logProb, dLogProb, dEntropy, dValue, dLogits] = owned as [
    (typeof owned)[0],
    (typeof owned)[0],
    (typeof owned)[0],
    (typeof owned)[0],
    (typeof owned)[0],
    (typeof owned)[0],
  ];
  const head = { logits: actor.output, rows: minibatch, sizes: [PPO.actions], actions };
  const scored = { ...head, logProb };
  const pulled = { ...head, dLogProb, dEntropy, dLogits };
  const gradients = [actor, critic].map((net) => ({ grads: net.grads, count: net.paramCount }));
  memory.view(dEntropy, minibatch).fill(-PPO.entropy / minibatch);
  let count = 0;

  const gather = (start: number) => {
    const f32 = memory.f32;
    const into = actor.input >> 2;
    for (let i = 0; i < minibatch; i++) {
      const row = order[start + i]!;
      for (let j = 0; j < state; j++) f32[into + i * state + j] = states[row * state + j]!;
      f32[(actions >> 2) + i] = chosen[row]!;
    }
  };

  /** Mean and unbiased deviation of the minibatch's advantages. */
  const spread = (start: number) => {
    let mean = 0;
    for (let i = 0; i < minibatch; i++) mean += advantages[order[start + i]!]!;
    mean /= minibatch;
    let squares = 0;
    for (let i = 0; i < minibatch; i++) squares += (advantages[order[start + i]!]! - mean) ** 2;
    return { mean, scale: 1 / (Math.sqrt(squares / (minibatch - 1)) + 1e-8) };
  };

  const update = () => {
    const start = (count % (rollout / minibatch)) * minibatch;
    count += 1;
    gather(start);
    const { mean, scale } = spread(start);
    actor.forward(minibatch);
    critic.forward(minibatch, actor.input);
    categoricalLogProb(memory, scored);
    const f32 = memory.f32;
    const share = 1 / minibatch;
    for (let i = 0; i < minibatch; i++) {
      const row = order[start + i]!;
      const advantage = (advantages[row]! - mean) * scale;
      const ratio = Math.exp(f32[(logProb >> 2) + i]! - oldLogProbs[row]!);
      const bounded = Math.min(Math.max(ratio, 1 - PPO.clip), 1 + PPO.clip);
      // The loss is the larger of both branches; the clipped one has no slope outside the interval.
      const isFree = -advantage * ratio >= -advantage * bounded;
      f32[(dLogProb >> 2) + i] = isFree ? -advantage * ratio * share : 0;
      const value = f32[(critic.output >> 2) + i]!;
      const moved = value - oldValues[row]!;
      const held = Math.min(Math.max(moved, -PPO.clip), PPO.clip);
      const [plain, clipped] = [value - returns[row]!, oldValues[row]! + held - returns[row]!];
      const slope = plain * plain >= clipped * clipped ? plain : moved === held ? clipped : 0;
      f32[(dValue >> 2) + i] = PPO.value * slope * share;
    }
    categoricalBackward(memory, pulled);
    actor.zeroGrads();
    critic.zeroGrads();
    actor.backward(minibatch, dLogits, PARAMS_ONLY);
    critic.backward(minibatch, dValue, PARAMS_ONLY);
    clipGradNorms(kernels, gradients, PPO.maxNorm);
    optimisers[0]!.step(actor.grads);
    optimisers[1]!.step(critic.grads);
  };

  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) update();
    },
    answer: () => Float32Array.from([...actor.snapshot(), ...critic.snapshot()]),
    close() {
      for (const part of [actor, critic, ...optimisers]) part.dispose();
      for (const ptr of owned) memory.free(ptr);
    },
  };
}
