/** The DDPG update and batch-1 inference on our engine: the arithmetic of native/ddpg.c, written as a user of learn/tensor. */

import { seededRng } from "../../src/base/index.ts";
import {
  adam,
  buildNetwork,
  copyColumns,
  dense,
  INPUT_ONLY,
  type Kernels,
  mseLoss,
  PARAMS_ONLY,
  softUpdate,
} from "../../src/learn/tensor/index.ts";
import { ACTOR, BlockReader, CRITIC, DDPG, denseSize } from "./fixtures.ts";
import type { Task } from "./line-server.ts";

const actorLayers = () => [dense(8, 64, "relu"), dense(64, 64, "relu"), dense(64, 5, "tanh")];
const criticLayers = () => [dense(13, 64, "relu"), dense(64, 64, "relu"), dense(64, 1)];

export function ddpgTask(kernels: Kernels, fixture: Float32Array): Task {
  const { state, action, batch, gamma, tau, lr } = DDPG;
  const { memory } = kernels;
  const rng = seededRng(0);
  const blocks = new BlockReader(fixture);
  const actorStart = blocks.take(denseSize(ACTOR));
  const criticStart = blocks.take(denseSize(CRITIC));

  const actor = buildNetwork(kernels, { layers: actorLayers(), batch, rng });
  const critic = buildNetwork(kernels, { layers: criticLayers(), batch, rng });
  const actorTarget = buildNetwork(kernels, { layers: actorLayers(), batch, rng, trainable: false });
  const criticTarget = buildNetwork(kernels, { layers: criticLayers(), batch, rng, trainable: false });
  for (const net of [actor, actorTarget]) net.load(actorStart);
  for (const net of [critic, criticTarget]) net.load(criticStart);
  const actorAdam = adam(kernels, { params: actor.params, count: actor.paramCount, lr });
  const criticAdam = adam(kernels, { params: critic.params, count: critic.paramCount, lr });

  const held = (count: number) => {
    const ptr = memory.alloc(count);
    memory.view(ptr, count).set(blocks.take(count));
    return ptr;
  };
  const states = held(batch * state);
  const actions = held(batch * action);
  const rewards = held(batch);
  const nextStates = held(batch * state);
  const ended = held(batch);
  const wanted = memory.alloc(batch);
  const dq = memory.alloc(batch);
  const dAction = memory.alloc(batch * action);

  const width = state + action;
  const stateInto = { ptr: critic.input, width };
  const actionInto = { ptr: critic.input, width, at: state };
  const joinState = { from: { ptr: states, width: state }, into: stateInto, rows: batch, cols: state };
  const joinAction = { from: { ptr: actions, width: action }, into: actionInto, rows: batch, cols: action };
  const joinPolicy = { from: { ptr: actor.output, width: action }, into: actionInto, rows: batch, cols: action };
  const nextInto = { ptr: criticTarget.input, width };
  const joinNext = { from: { ptr: nextStates, width: state }, into: nextInto, rows: batch, cols: state };
  const joinTarget = {
    from: { ptr: actorTarget.output, width: action },
    into: { ptr: criticTarget.input, width, at: state },
    rows: batch,
    cols: action,
  };
  const loss = { prediction: critic.output, target: wanted, gradient: dq, rows: batch, cols: 1 };
  const moveActor = { target: actorTarget.params, source: actor.params, count: actor.paramCount, tau };
  const moveCritic = { target: criticTarget.params, source: critic.params, count: critic.paramCount, tau };
  copyColumns(memory, joinNext);

  const update = () => {
    actorTarget.forward(batch, nextStates);
    copyColumns(memory, joinTarget);
    const future = criticTarget.forward(batch) >> 2;
    const f32 = memory.f32;
    for (let i = 0; i < batch; i++) {
      f32[(wanted >> 2) + i] = f32[(rewards >> 2) + i]! + gamma * (1 - f32[(ended >> 2) + i]!) * f32[future + i]!;
    }

    copyColumns(memory, joinState);
    copyColumns(memory, joinAction);
    critic.forward(batch);
    mseLoss(memory, loss);
    critic.zeroGrads();
    critic.backward(batch, dq, PARAMS_ONLY);
    criticAdam.step(critic.grads);

    actor.forward(batch, states);
    copyColumns(memory, joinPolicy);
    critic.forward(batch);
    f32.fill(-1 / batch, dq >> 2, (dq >> 2) + batch);
    const dInput = critic.backward(batch, dq, INPUT_ONLY);
    copyColumns(memory, {
      from: { ptr: dInput, width, at: state },
      into: { ptr: dAction, width: action },
      rows: batch,
      cols: action,
    });
    actor.zeroGrads();
    actor.backward(batch, dAction, PARAMS_ONLY);
    actorAdam.step(actor.grads);

    softUpdate(kernels, moveActor);
    softUpdate(kernels, moveCritic);
  };

  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) update();
    },
    answer() {
      const parts = [actor, critic, actorTarget, criticTarget].map((net) => net.snapshot());
      const all = new Float32Array(2 * (actor.paramCount + critic.paramCount));
      let at = 0;
      for (const part of parts) {
        all.set(part, at);
        at += part.length;
      }
      return all;
    },
    close() {
      for (const net of [actor, critic, actorTarget, criticTarget]) net.dispose();
      for (const optimiser of [actorAdam, criticAdam]) optimiser.dispose();
      for (const ptr of [states, actions, rewards, nextStates, ended, wanted, dq, dAction]) memory.free(ptr);
    },
  };
}

/** A new observation is written each time, as a control loop does, and one action is read. */
export function inferenceTask(kernels: Kernels, fixture: Float32Array): Task {
  const { state, action, batch } = DDPG;
  const blocks = new BlockReader(fixture);
  const actor = buildNetwork(kernels, { layers: actorLayers(), batch: 1, rng: seededRng(0), trainable: false });
  actor.load(blocks.take(denseSize(ACTOR)));
  blocks.take(denseSize(CRITIC));
  const states = blocks.take(batch * state).slice();
  let sink = 0;
  const act = (row: number) => {
    const f32 = kernels.memory.f32;
    const into = actor.input >> 2;
    for (let i = 0; i < state; i++) f32[into + i] = states[row * state + i]!;
    return actor.forward(1) >> 2;
  };
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) sink += kernels.memory.f32[act(i % batch)]!;
    },
    answer() {
      const actions = new Float32Array(batch * action);
      for (let row = 0; row < batch; row++) {
        const at = act(row);
        actions.set(kernels.memory.f32.subarray(at, at + action), row * action);
      }
      return actions;
    },
    value: () => sink,
    close: () => actor.dispose(),
  };
}

/** Bytes that one agent takes: two trainable networks with their optimisers' state, acting one row at a time. */
export function agentMemoryTask(kernels: Kernels, { batch }: { batch: number }): Task {
  const before = kernels.memory.used;
  const rng = seededRng(0);
  const actor = buildNetwork(kernels, { layers: actorLayers(), batch, rng });
  const critic = buildNetwork(kernels, { layers: criticLayers(), batch, rng });
  const optimisers = [actor, critic].map((net) =>
    adam(kernels, { params: net.params, count: net.paramCount, lr: DDPG.lr }),
  );
  const used = kernels.memory.used - before;
  return {
    run() {},
    value: () => used,
    close() {
      for (const part of [actor, critic, ...optimisers]) part.dispose();
    },
  };
}
