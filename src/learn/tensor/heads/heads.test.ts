import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectClose, randomBlock } from "../../../../test/oracle/harness.ts";
import { softmaxRows } from "../../../../test/oracle/layers.ts";
import { normalLogDensity } from "../../../../test/oracle/losses.ts";
import { numericalGradient } from "../../../../test/oracle/matrix.ts";
import { seededRng } from "../../../base/index.ts";
import { referenceKernels } from "../kernel-sets/reference.ts";
import type { Ptr } from "../memory.ts";
import { categoricalBackward, categoricalLogProb, modeCategorical, sampleCategorical } from "./categorical.ts";
import { gaussianBackward, gaussianEntropy, gaussianLogProb, sampleGaussian } from "./gaussian.ts";
import {
  sampleSquashed,
  squashedBackward,
  squashedLogProb,
  squashedReparameterisedBackward,
} from "./squashed-gaussian.ts";

const { memory } = referenceKernels();
const put = (values: ArrayLike<number>): Ptr => {
  const ptr = memory.alloc(values.length);
  memory.view(ptr, values.length).set(values);
  return ptr;
};
const read = (ptr: Ptr, count: number) => memory.view(ptr, count).slice();
const rng = seededRng(21);
const rows = 5;

describe.each([false, true])("the Gaussian head (logStd per row: %s)", (logStdPerRow) => {
  const dims = 3;
  const stds = logStdPerRow ? rows * dims : dims;
  const mean = randomBlock(rows * dims, rng);
  const logStd = randomBlock(stds, rng).map((x) => 0.4 * x);
  const actions = randomBlock(rows * dims, rng);
  const pull = randomBlock(rows, rng);
  const entropyPull = randomBlock(rows, rng);
  const blocks = { mean: put(mean), logStd: put(logStd), logStdPerRow, rows, dims };
  const stdAt = (logs: ArrayLike<number>, i: number) => Math.exp(logs[logStdPerRow ? i : i % dims]!);
  const oracleLogProb = (m: ArrayLike<number>, s: ArrayLike<number>, row: number) => {
    let sum = 0;
    for (let d = 0; d < dims; d++) {
      const i = row * dims + d;
      sum += normalLogDensity(actions[i]!, m[i]!, stdAt(s, i));
    }
    return sum;
  };
  const oracleEntropy = (s: ArrayLike<number>, row: number) => {
    let sum = 0;
    for (let d = 0; d < dims; d++) sum += 0.5 * Math.log(2 * Math.PI * Math.E * stdAt(s, row * dims + d) ** 2);
    return sum;
  };
  const each = (f: (row: number) => number) => Array.from({ length: rows }, (_, row) => f(row));
  const objective = (m: ArrayLike<number>, s: ArrayLike<number>) =>
    each((row) => pull[row]! * oracleLogProb(m, s, row) + entropyPull[row]! * oracleEntropy(s, row)).reduce(
      (a, b) => a + b,
    );

  test("log-probability and entropy are the double-precision ones", () => {
    const logProb = memory.alloc(rows);
    gaussianLogProb(memory, { ...blocks, actions: put(actions), logProb });
    expectClose(
      read(logProb, rows),
      each((row) => oracleLogProb(mean, logStd, row)),
      1e-6,
    );
    const entropy = memory.alloc(rows);
    gaussianEntropy(memory, { ...blocks, entropy });
    expectClose(
      read(entropy, rows),
      each((row) => oracleEntropy(logStd, row)),
      1e-6,
    );
  });

  test("gradients are the numerical ones; a shared logStd's add up", () => {
    const dMean = memory.alloc(rows * dims);
    const dLogStd = put(new Float32Array(stds).fill(logStdPerRow ? 99 : 10));
    const gradients = { dLogProb: put(pull), dEntropy: put(entropyPull), dMean, dLogStd };
    gaussianBackward(memory, { ...blocks, ...gradients, actions: put(actions) });
    expectClose(
      read(dMean, rows * dims),
      numericalGradient((m) => objective(m, logStd), mean),
      1e-6,
    );
    const wanted = numericalGradient((s) => objective(mean, s), logStd).map((g) => g + (logStdPerRow ? 0 : 10));
    expectClose(read(dLogStd, stds), wanted, 1e-6);
  });

  test("samples have the stated mean and spread, and their log-probability is the one recomputed", () => {
    const many = 4000;
    const draw = memory.alloc(dims);
    const logProb = memory.alloc(1);
    const again = memory.alloc(1);
    const one = { ...blocks, rows: 1 };
    const stream = seededRng(5);
    const sum = new Float64Array(dims);
    const squares = new Float64Array(dims);
    for (let n = 0; n < many; n++) {
      sampleGaussian(memory, { ...one, actions: draw, logProb }, stream);
      gaussianLogProb(memory, { ...one, actions: draw, logProb: again });
      expect(memory.f32[again >> 2]).toBe(memory.f32[logProb >> 2]);
      for (let d = 0; d < dims; d++) {
        const z = (memory.f32[(draw >> 2) + d]! - mean[d]!) / stdAt(logStd, d);
        sum[d]! += z;
        squares[d]! += z * z;
      }
    }
    // Standard errors are 1/√4000 = 0.016 and √(2/4000) = 0.022: five of them.
    for (let d = 0; d < dims; d++) {
      expect(Math.abs(sum[d]! / many)).toBeLessThan(0.08);
      expect(Math.abs(squares[d]! / many - 1)).toBeLessThan(0.11);
    }
  });
});

describe.each([{ sizes: [4] }, { sizes: [3, 2, 4] }])("the categorical head with choices $sizes", ({ sizes }) => {
  const width = sizes.reduce((a, b) => a + b);
  const logits = randomBlock(rows * width, rng).map((x) => 1.5 * x);
  const actions = Float32Array.from({ length: rows * sizes.length }, (_, i) => rng.int(sizes[i % sizes.length]!));
  const pull = randomBlock(rows, rng);
  const entropyPull = randomBlock(rows, rng);
  const blocks = { logits: put(logits), rows, sizes };
  const probabilities = (at: ArrayLike<number>, row: number) => {
    let from = row * width;
    return sizes.map((size) => {
      const group = Array.from({ length: size }, (_, k) => at[from + k]!);
      from += size;
      return softmaxRows([group])[0]!;
    });
  };
  const oracleLogProb = (at: ArrayLike<number>, row: number) =>
    probabilities(at, row).reduce((sum, p, g) => sum + Math.log(p[actions[row * sizes.length + g]!]!), 0);
  const oracleEntropy = (at: ArrayLike<number>, row: number) =>
    probabilities(at, row).reduce((sum, p) => sum - p.reduce((s, x) => s + x * Math.log(x), 0), 0);
  const each = (f: (row: number) => number) => Array.from({ length: rows }, (_, row) => f(row));

  test("log-probability and entropy are the double-precision ones", () => {
    const logProb = memory.alloc(rows);
    categoricalLogProb(memory, { ...blocks, actions: put(actions), logProb });
    expectClose(
      read(logProb, rows),
      each((row) => oracleLogProb(logits, row)),
      1e-6,
    );
    const entropy = memory.alloc(rows);
    categoricalLogProb(memory, { ...blocks, actions: put(actions), logProb, entropy });
    expectClose(
      read(entropy, rows),
      each((row) => oracleEntropy(logits, row)),
      1e-6,
    );
  });

  test("gradients are the numerical ones", () => {
    const dLogits = put(new Float32Array(rows * width).fill(99));
    const gradients = { dLogProb: put(pull), dEntropy: put(entropyPull), dLogits };
    categoricalBackward(memory, { ...blocks, ...gradients, actions: put(actions) });
    const objective = (at: ArrayLike<number>) =>
      each((row) => pull[row]! * oracleLogProb(at, row) + entropyPull[row]! * oracleEntropy(at, row)).reduce(
        (a, b) => a + b,
      );
    expectClose(read(dLogits, rows * width), numericalGradient(objective, logits), 1e-6);
  });

  test("choices come as often as their probability says, with their log-probability", () => {
    const many = 6000;
    const draw = memory.alloc(sizes.length);
    const logProb = memory.alloc(1);
    const again = memory.alloc(1);
    const stream = seededRng(8);
    const counts = sizes.map((size) => new Float64Array(size));
    for (let n = 0; n < many; n++) {
      sampleCategorical(memory, { ...blocks, rows: 1, actions: draw, logProb }, stream);
      categoricalLogProb(memory, { ...blocks, rows: 1, actions: draw, logProb: again });
      expect(memory.f32[again >> 2]).toBe(memory.f32[logProb >> 2]);
      for (let g = 0; g < sizes.length; g++) counts[g]![memory.f32[(draw >> 2) + g]!]! += 1;
    }
    for (const [g, p] of probabilities(logits, 0).entries()) {
      // The standard error is at most ½/√6000 = 0.0065: five of them.
      for (const [k, share] of p.entries()) expect(Math.abs(counts[g]![k]! / many - share)).toBeLessThan(0.033);
    }
  });

  test("the mode is the largest logit of each group", () => {
    const into = memory.alloc(rows * sizes.length);
    modeCategorical(memory, { ...blocks, actions: into });
    const wanted = each((row) => row).flatMap((row) =>
      probabilities(logits, row).map((p) => p.indexOf(Math.max(...p))),
    );
    expect([...read(into, wanted.length)]).toEqual(wanted);
  });
});

test("extreme logits give finite numbers: a sure choice, no entropy, no gradient", () => {
  const blocks = { logits: put([1000, -1000, 0]), rows: 1, sizes: [3], actions: put([0]) };
  const out = memory.alloc(1);
  const dLogits = memory.alloc(3);
  sampleCategorical(memory, { ...blocks, logProb: out }, rng);
  expect([...read(blocks.actions, 1), ...read(out, 1)]).toEqual([0, 0]);
  categoricalLogProb(memory, { ...blocks, logProb: memory.alloc(1), entropy: out });
  expect([...read(out, 1)]).toEqual([0]);
  categoricalBackward(memory, { ...blocks, dLogProb: put([1]), dEntropy: put([1]), dLogits });
  expectClose(read(dLogits, 3), [0, 0, 0], 0);
});

test("a choice ruled out by a logit of −∞ is never taken and does not disturb the others", () => {
  const blocks = { logits: put([0, Number.NEGATIVE_INFINITY, 0]), rows: 1, sizes: [3], actions: put([0]) };
  const out = memory.alloc(1);
  const dLogits = memory.alloc(3);
  categoricalLogProb(memory, { ...blocks, logProb: memory.alloc(1), entropy: out });
  expectClose(read(out, 1), [Math.LN2], 1e-7);
  categoricalBackward(memory, { ...blocks, dLogProb: put([1]), dEntropy: put([1]), dLogits });
  // Entropy is at its largest there, so only the score remains: 1 − ½ and −½.
  expectClose(read(dLogits, 3), [0.5, 0, -0.5], 1e-7);
  const stream = seededRng(1);
  for (let n = 0; n < 200; n++) {
    sampleCategorical(memory, { ...blocks, logProb: out }, stream);
    expect(read(blocks.actions, 1)[0]).not.toBe(1);
    expectClose(read(out, 1), [-Math.LN2], 1e-7);
  }
});

describe.each([false, true])("the squashed Gaussian head (logStd per row: %s)", (logStdPerRow) => {
  const dims = 2;
  const stds = logStdPerRow ? rows * dims : dims;
  const mean = randomBlock(rows * dims, rng);
  const logStd = randomBlock(stds, rng).map((x) => 0.3 * x);
  const noise = randomBlock(rows * dims, rng);
  const stdAt = (logs: ArrayLike<number>, i: number) => Math.exp(logs[logStdPerRow ? i : i % dims]!);
  const rawOf = (m: ArrayLike<number>, s: ArrayLike<number>) =>
    Float64Array.from(noise, (z, i) => m[i]! + stdAt(s, i) * z);
  const raw = Float32Array.from(rawOf(mean, logStd));
  const pull = randomBlock(rows, rng);
  const actionPull = randomBlock(rows * dims, rng);
  const blocks = { mean: put(mean), logStd: put(logStd), logStdPerRow, raw: put(raw), rows, dims };
  const densities = (m: ArrayLike<number>, s: ArrayLike<number>, u: ArrayLike<number>) =>
    Array.from({ length: rows }, (_, row) => {
      let sum = 0;
      for (let i = row * dims; i < (row + 1) * dims; i++) {
        sum += normalLogDensity(u[i]!, m[i]!, stdAt(s, i)) - Math.log(1 - Math.tanh(u[i]!) ** 2);
      }
      return sum;
    });
  const score = (values: readonly number[]) => values.reduce((sum, value, row) => sum + value * pull[row]!, 0);

  test("log-probability is the double-precision one", () => {
    const logProb = memory.alloc(rows);
    squashedLogProb(memory, { ...blocks, logProb });
    expectClose(read(logProb, rows), densities(mean, logStd, raw), 1e-6);
  });

  test("with the action fixed, gradients are the numerical ones", () => {
    const dMean = memory.alloc(rows * dims);
    const dLogStd = memory.alloc(stds);
    squashedBackward(memory, { ...blocks, dLogProb: put(pull), dMean, dLogStd });
    expectClose(
      read(dMean, rows * dims),
      numericalGradient((m) => score(densities(m, logStd, raw)), mean),
      1e-6,
    );
    expectClose(
      read(dLogStd, stds),
      numericalGradient((s) => score(densities(mean, s, raw)), logStd),
      2e-6,
    );
  });

  test("with the noise fixed, gradients are the numerical ones", () => {
    const dMean = memory.alloc(rows * dims);
    const dLogStd = memory.alloc(stds);
    const gradients = { dLogProb: put(pull), dAction: put(actionPull), dMean, dLogStd };
    squashedReparameterisedBackward(memory, { ...blocks, ...gradients });
    const objective = (m: ArrayLike<number>, s: ArrayLike<number>) => {
      const u = rawOf(m, s);
      return score(densities(m, s, u)) + u.reduce((sum, x, i) => sum + actionPull[i]! * Math.tanh(x), 0);
    };
    expectClose(
      read(dMean, rows * dims),
      numericalGradient((m) => objective(m, logStd), mean),
      2e-6,
    );
    expectClose(
      read(dLogStd, stds),
      numericalGradient((s) => objective(mean, s), logStd),
      2e-6,
    );
  });

  test("samples lie within the bounds and are tanh of raw", () => {
    const actions = memory.alloc(rows * dims);
    const logProb = memory.alloc(rows);
    const again = memory.alloc(rows);
    const drawn = { ...blocks, raw: memory.alloc(rows * dims) };
    for (let n = 0; n < 200; n++) {
      sampleSquashed(memory, { ...drawn, actions, logProb }, rng);
      squashedLogProb(memory, { ...drawn, logProb: again });
      expect(read(again, rows)).toEqual(read(logProb, rows));
      const u = read(drawn.raw, rows * dims);
      expect(read(actions, rows * dims)).toEqual(u.map(Math.tanh));
    }
  });
});

describe("densities integrate to one", () => {
  const finite = (min: number, max: number) => fc.double({ min, max, noNaN: true });

  test("Gaussian and squashed, for any mean and spread", () => {
    fc.assert(
      fc.property(finite(-2, 2), finite(-1, 0.5), (mean, logStd) => {
        const count = 4001;
        const reach = 12;
        const at = Float32Array.from({ length: count }, (_, i) => ((i / (count - 1)) * 2 - 1) * reach);
        const ptr = put(at);
        const blocks = { mean: put(new Float32Array(count).fill(mean)), logStd: put([logStd]), rows: count, dims: 1 };
        const logProb = memory.alloc(count);
        gaussianLogProb(memory, { ...blocks, actions: ptr, logProb });
        const step = (2 * reach) / (count - 1);
        const total = read(logProb, count).reduce((sum, x) => sum + Math.exp(x) * step, 0);
        expect(total).toBeCloseTo(1, 4);
        squashedLogProb(memory, { ...blocks, raw: ptr, logProb });
        // Over the action a = tanh u: da = (1 − tanh²u) du.
        const squashed = read(logProb, count).reduce(
          (sum, x, i) => sum + Math.exp(x) * (1 - Math.tanh(at[i]!) ** 2) * step,
          0,
        );
        expect(squashed).toBeCloseTo(1, 3);
        for (const block of [ptr, blocks.mean, blocks.logStd, logProb]) memory.free(block);
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  test("categorical: probabilities of all choices sum to one, whatever the logits", () => {
    fc.assert(
      fc.property(fc.array(finite(-60, 60), { minLength: 1, maxLength: 8 }), (logits) => {
        const k = logits.length;
        const blocks = { logits: put(logits.flatMap(() => logits)), rows: k, sizes: [k] };
        const logProb = memory.alloc(k);
        categoricalLogProb(memory, { ...blocks, actions: put(logits.map((_, i) => i)), logProb });
        expect(read(logProb, k).reduce((sum, x) => sum + Math.exp(x), 0)).toBeCloseTo(1, 5);
      }),
      { numRuns: 100, seed: 2 },
    );
  });
});

test("a squashed action far in the tail keeps a finite log-probability", () => {
  const logProb = memory.alloc(1);
  const blocks = { mean: put([30]), logStd: put([0]), raw: put([30]), rows: 1, dims: 1, logProb };
  squashedLogProb(memory, blocks);
  // −½log 2π − log(1 − tanh²30), and 1 − tanh²u → 4e^−2u: 60 − log 4 − 0.9189.
  expect(memory.f32[logProb >> 2]).toBeCloseTo(60 - Math.log(4) - 0.5 * Math.log(2 * Math.PI), 4);
});
