import { expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { seededRng } from "../../src/base/index.ts";
import { referenceKernels } from "../../src/learn/tensor/index.ts";
import { compareVectors } from "../statistics.ts";
import {
  ACTOR,
  BlockReader,
  ddpgFixture,
  denseSize,
  gruFixture,
  PPO_ACTOR,
  PPO_CRITIC,
  ppoFixture,
} from "./fixtures.ts";
import type { Task } from "./line-server.ts";
import { agentMemoryTask, ddpgTask, inferenceTask } from "./our-ddpg.ts";
import { gemmTask, parseShape } from "./our-gemm.ts";
import { gruShardsTask, gruTask } from "./our-gru.ts";
import { ppoTask } from "./our-ppo.ts";

const reference = () => referenceKernels();
const wasm = () => loadKernels({ prefer: "wasm" });

async function answerOf(task: Task, steps: number): Promise<Float32Array> {
  await task.run(steps);
  const answer = (await task.answer?.()) as Float32Array;
  await task.close?.();
  return answer;
}

test("a network's parameters are its weights and biases", () => {
  // (8+1)·64 + (64+1)·64 + (64+1)·5
  expect(denseSize(ACTOR)).toBe(576 + 4160 + 325);
});

test("a fixture that is too short for its layout is refused", () => {
  expect(() => new BlockReader(new Float32Array(3)).take(4)).toThrow("shorter than its layout");
});

test("the DDPG task changes all four networks, and alike on wasm and in double precision", async () => {
  const fixture = ddpgFixture(seededRng(1));
  const ours = await answerOf(ddpgTask(wasm(), fixture), 5);
  const exact = await answerOf(ddpgTask(reference(), fixture), 5);
  expect(compareVectors(ours, exact).difference).toBeLessThan(2e-6);
  const actor = ours.subarray(0, denseSize(ACTOR));
  // Adam moves a parameter by about its learning rate per step: 5 × 1e-3, and never by much more.
  const moved = compareVectors(actor, fixture.subarray(0, actor.length)).difference;
  expect(moved).toBeGreaterThan(3e-3);
  expect(moved).toBeLessThan(6e-3);
});

test("the PPO task moves its policy and its value network, and alike on wasm and in double precision", async () => {
  const fixture = ppoFixture(seededRng(2));
  const ours = await answerOf(ppoTask(wasm(), fixture), 4);
  expect(compareVectors(ours, await answerOf(ppoTask(reference(), fixture), 4)).difference).toBeLessThan(2e-6);
  const policy = denseSize(PPO_ACTOR);
  const value = denseSize(PPO_CRITIC);
  for (const [from, to] of [
    [0, policy],
    [policy, policy + value],
  ]) {
    expect(compareVectors(ours.subarray(from, to), fixture.subarray(from, to)).difference).toBeGreaterThan(5e-4);
  }
});

test("the inference task gives one action in [-1, 1] per state, different for different states", async () => {
  const actions = await answerOf(inferenceTask(wasm(), ddpgFixture(seededRng(3))), 1);
  expect(actions).toHaveLength(64 * 5);
  expect(Math.max(...actions.map(Math.abs))).toBeLessThan(1);
  expect(new Set(actions).size).toBeGreaterThan(300);
});

test("the GRU in shards has the gradient of the whole batch, and the same bits on one thread and on two", async () => {
  const fixture = gruFixture(seededRng(4));
  const whole = await answerOf(gruTask(wasm(), fixture), 1);
  const one = await answerOf(await gruShardsTask(wasm(), fixture, { threads: 1 }), 1);
  const two = await answerOf(await gruShardsTask(wasm(), fixture, { threads: 2 }), 1);
  expect(compareVectors(one, two).difference).toBe(0);
  const { difference, magnitude } = compareVectors(whole.subarray(whole.length - one.length), one);
  expect(magnitude).toBeGreaterThan(0);
  expect(difference / magnitude).toBeLessThan(1e-5);
});

test("an agent of two 64×64 networks with optimiser state takes at most 256 KiB, buffers for batch 64 included", () => {
  expect(agentMemoryTask(wasm(), { batch: 64 }).value?.()).toBeLessThanOrEqual(256 * 1024);
});

test("a product task multiplies what its name says", async () => {
  expect(parseShape("3x5x7:tn")).toMatchObject({ m: 3, n: 5, k: 7 });
  expect(() => parseShape("3x5:nn")).toThrow("64x64x64:nn");
  for (const kind of ["nn", "tn", "nt"]) {
    // Every element of A is 0.5 and of B 0.25: each of the 3×5 results is 7 · 0.125.
    expect([...(await answerOf(gemmTask(wasm(), `3x5x7:${kind}`), 1))]).toEqual(new Array(15).fill(0.875));
  }
});
