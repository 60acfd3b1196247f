/**
 * The numbers every contender starts from, written once per run as flat little-endian float32 files.
 * A network is, layer by layer, the weights [inputs, outputs] and then the biases [outputs]; weights and biases are
 * uniform in ±1/√inputs (PyTorch's default).
 *   ddpg, inference: actor 8-64-64-5, critic 13-64-64-1, states [64,8], actions [64,5], rewards [64], next states [64,8],
 *                    ended [64]; the targets start as copies.
 *   ppo:             actor 4-64-64-2, critic 4-64-64-1, then for 2048 transitions: states [,4], actions, log-probabilities
 *                    of the behaviour, advantages, returns, values of the behaviour.
 *   gru:             for both layers, for both directions: W [inputs,3·256], b, U [256,3·256], c; input [100,20,32];
 *                    gradient of the output [100,20,512].
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Rng, seededRng } from "../../src/base/index.ts";

export const DDPG = { state: 8, action: 5, hidden: 64, batch: 64, gamma: 0.99, tau: 0.005, lr: 1e-3 } as const;
export const PPO = {
  state: 4,
  actions: 2,
  hidden: 64,
  rollout: 2048,
  minibatch: 64,
  epochs: 10,
  clip: 0.2,
  entropy: 0.01,
  value: 0.5,
  maxNorm: 0.5,
  lr: 2.5e-4,
  eps: 1e-5,
} as const;
export const GRU = { input: 32, hidden: 256, layers: 2, steps: 100, batch: 20 } as const;

/** Parameters of a dense network of these widths. */
export function denseSize(widths: readonly number[]): number {
  let total = 0;
  for (let i = 1; i < widths.length; i++) total += ((widths[i - 1] as number) + 1) * (widths[i] as number);
  return total;
}

export const ACTOR = [DDPG.state, DDPG.hidden, DDPG.hidden, DDPG.action] as const;
export const CRITIC = [DDPG.state + DDPG.action, DDPG.hidden, DDPG.hidden, 1] as const;
export const PPO_ACTOR = [PPO.state, PPO.hidden, PPO.hidden, PPO.actions] as const;
export const PPO_CRITIC = [PPO.state, PPO.hidden, PPO.hidden, 1] as const;

/** Fixed-size blocks, taken from the front. */
export class BlockReader {
  readonly #data: Float32Array;
  #at = 0;

  constructor(data: Float32Array) {
    this.#data = data;
  }

  take(count: number): Float32Array {
    if (this.#at + count > this.#data.length) throw new RangeError("the fixture is shorter than its layout says");
    const block = this.#data.subarray(this.#at, this.#at + count);
    this.#at += count;
    return block;
  }
}

const uniform = (rng: Rng, count: number, bound: number) =>
  Float32Array.from({ length: count }, () => (2 * rng.next() - 1) * bound);
export const normal = (rng: Rng, count: number, deviation = 1) =>
  Float32Array.from({ length: count }, () => rng.normal() * deviation);

export function denseNetwork(rng: Rng, widths: readonly number[]): Float32Array[] {
  const blocks: Float32Array[] = [];
  for (let i = 1; i < widths.length; i++) {
    const inputs = widths[i - 1] as number;
    const outputs = widths[i] as number;
    blocks.push(uniform(rng, inputs * outputs, 1 / Math.sqrt(inputs)), uniform(rng, outputs, 1 / Math.sqrt(inputs)));
  }
  return blocks;
}

export function ddpgFixture(rng: Rng): Float32Array {
  const { batch, state, action } = DDPG;
  return joinBlocks([
    ...denseNetwork(rng.fork("actor"), ACTOR),
    ...denseNetwork(rng.fork("critic"), CRITIC),
    normal(rng.fork("states"), batch * state),
    uniform(rng.fork("actions"), batch * action, 1),
    normal(rng.fork("rewards"), batch),
    normal(rng.fork("next"), batch * state),
    uniform(rng.fork("ended"), batch, 1).map((u) => (u > 0.8 ? 1 : 0)),
  ]);
}

export function ppoFixture(rng: Rng): Float32Array {
  const { rollout, state } = PPO;
  return joinBlocks([
    ...denseNetwork(rng.fork("actor"), PPO_ACTOR),
    ...denseNetwork(rng.fork("critic"), PPO_CRITIC),
    normal(rng.fork("states"), rollout * state),
    uniform(rng.fork("actions"), rollout, 1).map((u) => (u > 0 ? 1 : 0)),
    normal(rng.fork("log-probabilities"), rollout, 0.1).map((x) => x + Math.log(0.5)),
    normal(rng.fork("advantages"), rollout),
    normal(rng.fork("returns"), rollout),
    normal(rng.fork("values"), rollout, 0.5),
  ]);
}

export function gruFixture(rng: Rng): Float32Array {
  const { input, hidden, steps, batch } = GRU;
  const blocks = gruParameters(rng, GRU);
  blocks.push(normal(rng.fork("input"), steps * batch * input));
  blocks.push(normal(rng.fork("gradient"), steps * batch * 2 * hidden, 0.01));
  return joinBlocks(blocks);
}

/** Of a bidirectional GRU. */
export function gruParameters(
  rng: Rng,
  { input, hidden, layers }: { readonly input: number; readonly hidden: number; readonly layers: number },
): Float32Array[] {
  const bound = 1 / Math.sqrt(hidden);
  const blocks: Float32Array[] = [];
  for (let layer = 0; layer < layers; layer++) {
    const inputs = layer === 0 ? input : 2 * hidden;
    for (const side of ["forward", "backward"]) {
      const stream = rng.fork(layer).fork(side);
      for (const count of [inputs * 3 * hidden, 3 * hidden, hidden * 3 * hidden, 3 * hidden]) {
        blocks.push(uniform(stream, count, bound));
      }
    }
  }
  return blocks;
}

/** Writes every fixture into the folder and returns the actor of the inference task, for its ONNX model. */
export async function writeFixtures(folder: string): Promise<Float32Array> {
  const rng = seededRng(20_261_115);
  const ddpg = ddpgFixture(rng.fork("ddpg"));
  await Promise.all([
    writeFile(join(folder, "ddpg.f32"), ddpg),
    writeFile(join(folder, "inference.f32"), ddpg),
    writeFile(join(folder, "ppo.f32"), ppoFixture(rng.fork("ppo"))),
    writeFile(join(folder, "gru.f32"), gruFixture(rng.fork("gru"))),
  ]);
  return ddpg.slice(0, denseSize(ACTOR));
}

export function joinBlocks(blocks: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}
