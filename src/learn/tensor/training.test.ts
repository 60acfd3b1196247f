/** Whole updates: they learn, repeat to the byte, stay within their memory and allocate nothing. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { randomBlock, sets } from "../../../test/oracle/harness.ts";
import { seededRng } from "../../base/index.ts";
import { buildAttention } from "./attention.ts";
import { copyColumns } from "./glue.ts";
import type { Kernels } from "./kernels.ts";
import { activation, dense, layerNorm } from "./layers.ts";
import { mseLoss } from "./losses.ts";
import { NULL } from "./memory.ts";
import { buildNetwork, INPUT_ONLY, PARAMS_AND_INPUT } from "./network.ts";
import { adam, clipGradNorm, softUpdate } from "./optimiser.ts";
import { buildRecurrent } from "./recurrent.ts";

const OBS = 8;
const ACTIONS = 5;

/** The update of deterministic policy gradients on random data: all that an off-policy learner asks of the engine. */
function ddpg(kernels: Kernels, { seed, batch = 64 }: { seed: number; batch?: number }) {
  const { memory } = kernels;
  const rng = seededRng(seed);
  const actorLayers = [dense(OBS, 64, "relu"), dense(64, 64, "relu"), dense(64, ACTIONS, "tanh")];
  const criticLayers = [dense(OBS + ACTIONS, 64, "relu"), dense(64, 64, "relu"), dense(64, 1)];
  const actor = buildNetwork(kernels, { layers: actorLayers, batch, rng: rng.fork("actor") });
  const critic = buildNetwork(kernels, { layers: criticLayers, batch, rng: rng.fork("critic") });
  const actorAdam = adam(kernels, { params: actor.params, count: actor.paramCount, lr: 1e-3 });
  const criticAdam = adam(kernels, { params: critic.params, count: critic.paramCount, lr: 1e-3 });
  const used = memory.used;
  const target = buildNetwork(kernels, {
    layers: criticLayers,
    batch,
    rng: rng.fork("critic"),
    trainable: false,
  });
  const wanted = memory.alloc(batch);
  const dValue = memory.alloc(batch);
  const dAction = memory.alloc(batch * ACTIONS);
  const data = rng.fork("data");
  const joint = { ptr: critic.input, width: OBS + ACTIONS };
  const actionColumns = { ptr: critic.input, width: OBS + ACTIONS, at: OBS };
  const loss = { prediction: critic.output, target: wanted, gradient: dValue, rows: batch, cols: 1 };

  const update = () => {
    const f32 = memory.f32;
    for (let i = 0; i < batch * (OBS + ACTIONS); i++) f32[(critic.input >> 2) + i] = 2 * data.next() - 1;
    const next = target.forward(batch, critic.input);
    for (let row = 0; row < batch; row++) {
      // A reward for acting like the first observations: something a critic and an actor can learn.
      const at = (critic.input >> 2) + row * (OBS + ACTIONS);
      let reward = 0;
      for (let a = 0; a < ACTIONS; a++) reward -= (f32[at + OBS + a]! - f32[at + a]!) ** 2;
      f32[(wanted >> 2) + row] = reward + 0.1 * f32[(next >> 2) + row]!;
    }
    critic.forward(batch);
    const value = mseLoss(memory, loss);
    critic.zeroGrads();
    critic.backward(batch, dValue);
    clipGradNorm(kernels, { grads: critic.grads, count: critic.paramCount, max: 10 });
    criticAdam.step(critic.grads);

    copyColumns(memory, { from: joint, into: { ptr: actor.input, width: OBS }, rows: batch, cols: OBS });
    const actions = actor.forward(batch);
    copyColumns(memory, { from: { ptr: actions, width: ACTIONS }, into: actionColumns, rows: batch, cols: ACTIONS });
    critic.forward(batch);
    f32.fill(-1 / batch, dValue >> 2, (dValue >> 2) + batch);
    const dInput = critic.backward(batch, dValue, INPUT_ONLY);
    const back = { ptr: dInput, width: OBS + ACTIONS, at: OBS };
    copyColumns(memory, { from: back, into: { ptr: dAction, width: ACTIONS }, rows: batch, cols: ACTIONS });
    actor.zeroGrads();
    actor.backward(batch, dAction);
    actorAdam.step(actor.grads);
    softUpdate(kernels, { target: target.params, source: critic.params, count: critic.paramCount, tau: 0.005 });
    return value;
  };
  return { update, actor, critic, bytesOfTwoNetworks: used };
}

describe.each(sets)("training on the $name kernels", ({ name, make }) => {
  test("same seed same bytes after 200 updates, another seed others", () => {
    const trained = (seed: number, updates: number) => {
      const agent = ddpg(make(), { seed, batch: 16 });
      for (let i = 0; i < updates; i++) agent.update();
      return [agent.actor.snapshot(), agent.critic.snapshot()];
    };
    const first = trained(1, 200);
    expect(trained(1, 200)).toEqual(first);
    expect(trained(2, 5)).not.toEqual(trained(1, 5));
  });

  test("the critic's loss falls and the actor follows the critic", () => {
    const kernels = make();
    const batch = 32;
    const agent = ddpg(kernels, { seed: 3, batch });
    const losses = Array.from({ length: 300 }, () => agent.update());
    const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
    expect(mean(losses.slice(-30))).toBeLessThan(0.5 * mean(losses.slice(0, 10)));
    // The best action copies the first observations; a constant 0 would be wrong by 1/3 on average.
    const { memory } = kernels;
    const probe = randomBlock(batch * OBS, seededRng(4)).map((x) => Math.max(-1, Math.min(1, x / 2)));
    memory.view(agent.actor.input, probe.length).set(probe);
    const y = agent.actor.forward(batch) >> 2;
    let acting = 0;
    let idle = 0;
    for (let row = 0; row < batch; row++) {
      for (let a = 0; a < ACTIONS; a++) {
        acting += (memory.f32[y + row * ACTIONS + a]! - probe[row * OBS + a]!) ** 2;
        idle += probe[row * OBS + a]! ** 2;
      }
    }
    expect(acting).toBeLessThan(0.8 * idle);
  });

  test("an agent of two 64×64 networks with optimiser state takes at most 256 KiB", () => {
    const kernels = make();
    expect(kernels.memory.used).toBe(0);
    expect(ddpg(kernels, { seed: 1 }).bytesOfTwoNetworks).toBeLessThanOrEqual(256 * 1024);
  });

  test("updates allocate nothing from the tensor memory", () => {
    const kernels = make();
    const agent = ddpg(kernels, { seed: 1, batch: 8 });
    agent.update();
    const { memory } = kernels;
    const used = memory.used;
    let allocations = 0;
    const alloc = memory.alloc.bind(memory);
    memory.alloc = (floats) => {
      allocations += 1;
      return alloc(floats);
    };
    for (let i = 0; i < 50; i++) agent.update();
    expect(allocations).toBe(0);
    expect(memory.used).toBe(used);
  });

  test("a network fits a sine ten times better than the mean does", () => {
    const kernels = make();
    const { memory } = kernels;
    const layers = [dense(1, 32, "tanh"), dense(32, 32), layerNorm(), activation("relu"), dense(32, 1)];
    const net = buildNetwork(kernels, { layers, batch: 64, rng: seededRng(9) });
    const optimiser = adam(kernels, { params: net.params, count: net.paramCount, lr: 5e-3 });
    const target = memory.alloc(64);
    const gradient = memory.alloc(64);
    const rng = seededRng(10);
    const loss = { prediction: net.output, target, gradient, rows: 64, cols: 1 };
    const batch = () => {
      for (let i = 0; i < 64; i++) {
        const x = (2 * rng.next() - 1) * Math.PI;
        memory.f32[(net.input >> 2) + i] = x;
        memory.f32[(target >> 2) + i] = Math.sin(x);
      }
      net.forward(64);
    };
    for (let i = 0; i < 500; i++) {
      batch();
      mseLoss(memory, loss);
      net.zeroGrads();
      net.backward(64, gradient);
      optimiser.step(net.grads);
    }
    batch();
    // The mean of sin over a period is 0 and its variance ½.
    expect(mseLoss(memory, { ...loss, gradient: NULL })).toBeLessThan(0.05);
    expect(name).toBe(kernels.name);
  });
});

describe("all compiled kernel sets of this machine", () => {
  const compiled = sets.filter(({ name }) => name !== "reference");

  test("include wasm, which is everywhere", () => {
    expect(compiled.map(({ name }) => name)).toContain("wasm");
  });

  test("give the same bytes after 200 updates", () => {
    const results = compiled.map(({ make }) => {
      const agent = ddpg(make(), { seed: 1 });
      for (let i = 0; i < 200; i++) agent.update();
      return [agent.actor.snapshot(), agent.critic.snapshot()];
    });
    for (const result of results) expect(result).toEqual(results[0]);
  });

  test.each(["gru", "lstm"] as const)(
    "give the same bytes of a masked bidirectional %s's outputs and gradients",
    (cell) => {
      const results = compiled.map(({ make }) => {
        const kernels = make();
        const { memory } = kernels;
        const [steps, rows, inputs, hidden] = [9, 5, 7, 13];
        const shape = { cell, inputs, hidden, layers: 2, bidirectional: true, steps, batch: rows };
        const net = buildRecurrent(kernels, { ...shape, rng: seededRng(5) });
        const dOutput = memory.alloc(steps * rows * net.outputs);
        memory.view(net.input, steps * rows * inputs).set(randomBlock(steps * rows * inputs, seededRng(6)));
        memory.view(net.mask, steps * rows).set(randomBlock(steps * rows, seededRng(7)).map((x) => (x > -1 ? 1 : 0)));
        memory.view(dOutput, steps * rows * net.outputs).set(randomBlock(steps * rows * net.outputs, seededRng(8)));
        const y = memory.view(net.forward(steps, rows, { mask: net.mask }), steps * rows * net.outputs).slice();
        const dx = memory.view(net.backward(dOutput, PARAMS_AND_INPUT), steps * rows * inputs).slice();
        return [y, dx, memory.view(net.grads, net.paramCount).slice()];
      });
      for (const result of results) expect(result).toEqual(results[0]);
    },
  );

  test("give the same bytes of an attention block's outputs and gradients", () => {
    const results = compiled.map(({ make }) => {
      const kernels = make();
      const { memory } = kernels;
      const [rows, steps, width] = [3, 7, 12];
      const net = buildAttention(kernels, { width, heads: 3, steps, batch: rows, rng: seededRng(9), causal: true });
      memory.view(net.input, rows * steps * width).set(randomBlock(rows * steps * width, seededRng(10)));
      const y = net.forward(rows, steps);
      const out = memory.view(y, rows * steps * width).slice();
      const dx = memory.view(net.backward(y, PARAMS_AND_INPUT), rows * steps * width).slice();
      return [out, dx, memory.view(net.grads, net.paramCount).slice()];
    });
    for (const result of results) expect(result).toEqual(results[0]);
  });
});

test("ten thousand updates leave the JavaScript heap as it was", () => {
  const kernels = sets[0]!.make();
  const { memory } = kernels;
  const net = buildNetwork(kernels, { layers: [dense(4, 8, "relu"), dense(8, 1)], batch: 4, rng: seededRng(1) });
  const optimiser = adam(kernels, { params: net.params, count: net.paramCount, lr: 1e-3 });
  const target = memory.alloc(4);
  const gradient = memory.alloc(4);
  const loss = { prediction: net.output, target, gradient, rows: 4, cols: 1 };
  const updates = (count: number) => {
    for (let i = 0; i < count; i++) {
      net.forward(4);
      mseLoss(memory, loss);
      net.zeroGrads();
      net.backward(4, gradient);
      optimiser.step(net.grads);
    }
  };
  updates(1_000);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const before = process.memoryUsage();
  updates(10_000);
  collect();
  const after = process.memoryUsage();
  // Ten bytes kept per update would be 100 kB; compiled code moves the figure by less.
  expect(after.heapUsed - before.heapUsed).toBeLessThan(100_000);
  expect(after.arrayBuffers).toBeLessThanOrEqual(before.arrayBuffers);
});
