/**
 * Whether an encoder that only ever sees the gradient of somebody else's loss learns to tell environments apart:
 * first-order autoregressive processes x' = φ·x + σ·noise, with a small network that has to say from the embedding where φ lies.
 * σ differs from environment to environment, so the spread of the values does not give φ away; only the order does.
 */

import { describe, expect, test } from "vitest";
import { sets } from "../../../test/oracle/harness.ts";
import type { Rng } from "../../base/index.ts";
import { seededRng, unwrap } from "../../base/index.ts";
import type { Kernels } from "../tensor/index.ts";
import { adam, buildNetwork, dense, mseLoss, PARAMS_AND_INPUT } from "../tensor/index.ts";
import type { Conditioned, ContextualLearner } from "./contextual-learner.ts";
import { jointStep } from "./contextual-learner.ts";
import { MetaLearner, metaDefaults } from "./meta-learner.ts";
import { cosineSimilarity } from "./similarity.ts";
import { createTrajectory } from "./trajectory.ts";

const [steps, perBundle, together, embedding] = [24, 4, 8, 4];
const layout = [{ name: "value", width: 1 }];
const centres = [-0.7, 0, 0.7];

/**
 * How near φ is to each centre. Regression on φ itself would make it a length along one direction, and cosines, which
 * know no lengths, could not place those in the middle.
 */
const nearness = (phi: number) => centres.map((centre) => Math.exp(-(((phi - centre) / 0.35) ** 2)));
const anyPhi = (rng: Rng) => 1.8 * rng.next() - 0.9;

function bundleOf(phi: number, rng: Rng) {
  const sigma = 0.5 + rng.next();
  return Array.from({ length: perBundle }, () => {
    let x = (sigma * rng.normal()) / Math.sqrt(1 - phi * phi);
    const rows = Array.from({ length: steps }, () => {
      x = phi * x + sigma * rng.normal();
      return [x];
    });
    return unwrap(createTrajectory(rows, { layout, reward: 0 }));
  });
}

/**
 * A supervised base learner on the contract that reinforcement learners are on: from the context alone, where φ lies.
 * Its loss is of each environment by itself, so its gradient is too.
 */
function placeFromEmbedding(kernels: Kernels): ContextualLearner<readonly number[]> {
  const { memory } = kernels;
  const network = buildNetwork(kernels, {
    layers: [dense(embedding, 8, "relu"), dense(8, centres.length)],
    batch: together,
    rng: seededRng(2),
  });
  const optimiser = adam(kernels, { params: network.params, count: network.paramCount, lr: 5e-3 });
  const cols = centres.length;
  const [target, gradient] = [memory.alloc(together * cols), memory.alloc(together * cols)];
  const pass = (environments: readonly Conditioned<readonly number[]>[]) => {
    const rows = environments.length;
    const wanted = environments.flatMap(({ batch }) => batch);
    for (const [i, { context }] of environments.entries())
      memory.view(network.input, rows * embedding).set(context, i * embedding);
    memory.view(target, rows * cols).set(wanted);
    const prediction = network.forward(rows);
    mseLoss(memory, { prediction, target, gradient, rows, cols });
    const errors = memory.view(prediction, rows * cols).map((value, i) => (value - (wanted[i] ?? 0)) ** 2);
    network.zeroGrads();
    const dInput = memory.view(network.backward(rows, gradient, PARAMS_AND_INPUT), rows * embedding).slice();
    // The loss above is the mean over all environments; each one's own is as many times larger.
    return environments.map((_, i) => ({
      loss: mean([...errors.subarray(i * cols, (i + 1) * cols)]),
      gradient: dInput.subarray(i * embedding, (i + 1) * embedding).map((value) => value * rows),
    }));
  };
  return {
    contextSize: embedding,
    contextLosses: pass,
    learn(environments) {
      pass(environments);
      optimiser.step(network.grads);
    },
  };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How often a pair of one class is more alike than a pair of two: the area under the curve, ties counting half. */
function ranking(embeddings: readonly { readonly phi: number; readonly vector: Float32Array }[]): number {
  const same: number[] = [];
  const different: number[] = [];
  for (const [i, a] of embeddings.entries()) {
    for (const b of embeddings.slice(i + 1)) {
      const pairs = Math.abs(a.phi - b.phi) < 0.3 ? same : different;
      pairs.push(cosineSimilarity(a.vector, b.vector));
    }
  }
  let won = 0;
  for (const s of same) for (const d of different) won += s > d ? 1 : s === d ? 0.5 : 0;
  return won / (same.length * different.length);
}

describe("an encoder trained jointly with a network on its embedding", () => {
  test("separates environments it has never seen by what matters to that network", () => {
    const kernels = sets[1]!.make();
    const config = {
      ...metaDefaults,
      layout,
      hidden: 8,
      dense: [16],
      embedding,
      steps,
      rows: perBundle * together,
      lr: 5e-3,
    };
    const meta = new MetaLearner({ kernels, config, seed: 1 });
    const head = placeFromEmbedding(kernels);
    const rng = seededRng(3);
    meta.learnScale(Array.from({ length: 20 }, () => bundleOf(anyPhi(rng), rng)).flat());

    // Three classes of coefficients; in training anything but the values that are asked for afterwards.
    const unseen = centres.flatMap((centre) => [-0.05, 0, 0.05].map((by) => centre + by));
    const asked = seededRng(4);
    const tests = unseen.flatMap((phi) => [phi, phi]).map((phi) => ({ phi, bundle: bundleOf(phi, asked) }));
    const score = () => ranking(tests.map(({ phi, bundle }) => ({ phi, vector: meta.embed(meta.summarise(bundle)) })));
    const untrained = score();

    const losses: number[] = [];
    for (let round = 0; round < 200; round++) {
      const phis = Array.from({ length: together }, () => anyPhi(rng));
      const tasks = phis.map((phi) => ({ bundle: bundleOf(phi, rng), batch: nearness(phi) }));
      losses.push(mean(unwrap(jointStep({ meta, learner: head }, tasks)).losses));
    }
    const late = mean(losses.slice(-40));
    const trained = score();
    // What the best constants leave: the variance of what was asked for.
    const draws = Array.from({ length: 1000 }, () => nearness(anyPhi(rng)));
    const variance = mean(
      centres.map((_, k) => mean(draws.map((d) => d[k]! ** 2)) - mean(draws.map((d) => d[k]!)) ** 2),
    );
    expect({ late, untrained, trained }).toEqual({
      late: expect.toSatisfy((loss: number) => loss < variance / 2),
      untrained: expect.toSatisfy((area: number) => area < trained),
      trained: expect.toSatisfy((area: number) => area > 0.9),
    });
  });

  test("cosine similarity is of directions, and 0 with the neutral embedding", () => {
    expect(cosineSimilarity([1, 2], [2, 4])).toBeCloseTo(1, 12);
    expect(cosineSimilarity([1, 0], [0, 5])).toBe(0);
    expect(cosineSimilarity([1, 1], [-2, -2])).toBeCloseTo(-1, 12);
    // 3·8 + 4·6 = 48 over 5·10.
    expect(cosineSimilarity([3, 4], [8, 6])).toBeCloseTo(0.96, 12);
    expect(cosineSimilarity([0, 0], [4, 3])).toBe(0);
    expect(() => cosineSimilarity([1], [1, 2])).toThrow(/1 and 2 numbers/);
  });
});
