import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runBlock } from "../../../test/oracle/attention.ts";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { flat, matrix, numericalGradient } from "../../../test/oracle/matrix.ts";
import { seededRng } from "../../base/index.ts";
import { buildAttention } from "./attention.ts";
import { meanOverGroups, meanOverGroupsBackward } from "./glue.ts";
import type { Kernels } from "./kernels.ts";
import { dense } from "./layers.ts";
import { mseLoss } from "./losses.ts";
import { NULL } from "./memory.ts";
import { buildNetwork, PARAMS_AND_INPUT } from "./network.ts";
import { adam } from "./optimiser.ts";

const shapes = [
  { width: 4, heads: 1, feedForward: 5, causal: false },
  { width: 6, heads: 3, feedForward: 4, causal: false },
  { width: 4, heads: 2, feedForward: 8, causal: true },
];

describe.each(shapes)("attention with $heads heads of $width, causal $causal", (shape) => {
  describe.each([false, true])("masked: %s", (masked) => {
    const rows = 2;
    const steps = 4;
    const { width } = shape;
    const rng = seededRng(51);
    const build = (kernels: Kernels) => {
      const net = buildAttention(kernels, { ...shape, steps: 5, batch: 3, rng: seededRng(52) });
      const nudge = seededRng(53);
      net.load(net.snapshot().map((value) => value + 0.2 * nudge.normal()));
      return net;
    };
    const params = build(sets[0]!.make()).snapshot();
    const x = randomBlock(rows * steps * width, rng);
    const mask = [1, 1, 1, 0, 1, 0, 1, 1];
    // Outputs at masked steps mean nothing, so nothing pulls on them.
    const pull = randomBlock(x.length, rng).map((value, i) =>
      masked && mask[Math.floor(i / width)] === 0 ? 0 : value,
    );
    const oracle = (p: ArrayLike<number>, input: ArrayLike<number>) =>
      Array.from({ length: rows }, (_, row) => {
        const own = Array.from({ length: steps * width }, (_, i) => input[row * steps * width + i]!);
        const seen = masked ? { mask: mask.slice(row * steps, (row + 1) * steps) } : {};
        return flat(runBlock(shape, p, { sequence: matrix(own, steps, width), ...seen }));
      }).flat();
    const objective = (y: readonly number[]) => y.reduce((sum, value, i) => sum + value * pull[i]!, 0);
    const wanted = {
      outputs: oracle(params, x),
      params: numericalGradient((p) => objective(oracle(p, x)), params),
      input: numericalGradient((input) => objective(oracle(params, input)), x),
    };

    test.each(sets)("outputs and gradients on the $name kernels are the double-precision ones", ({ make }) => {
      const kernels = make();
      const { memory } = kernels;
      const net = build(kernels);
      const dOutput = memory.alloc(x.length);
      memory.view(net.input, x.length).set(x);
      memory.view(net.mask, mask.length).set(mask);
      memory.view(dOutput, x.length).set(pull);
      const y = net.forward(rows, steps, masked ? { mask: net.mask } : {});
      expectClose(memory.view(y, x.length), wanted.outputs, 5e-6);
      const dx = net.backward(dOutput, PARAMS_AND_INPUT);
      expectClose(memory.view(dx, x.length), wanted.input, 5e-5);
      expectClose(memory.view(net.grads, net.paramCount), wanted.params, 5e-5);
    });
  });
});

describe.each(sets)("attention on the $name kernels", ({ make }) => {
  const [width, steps] = [8, 5];

  test("without positions, permuting the steps permutes the outputs", () => {
    const kernels = make();
    const { memory } = kernels;
    const net = buildAttention(kernels, { width, heads: 2, steps, batch: 1, rng: seededRng(1) });
    const x = randomBlock(steps * width, seededRng(2));
    const run = (order: readonly number[]) => {
      for (const [to, from] of order.entries())
        memory.view(net.input, x.length).set(x.subarray(from * width, (from + 1) * width), to * width);
      return memory.view(net.forward(1, steps), x.length).slice();
    };
    const plain = run([0, 1, 2, 3, 4]);
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), (order) => {
        const moved = run(order);
        for (const [to, from] of order.entries()) {
          expectClose(
            moved.subarray(to * width, (to + 1) * width),
            plain.subarray(from * width, (from + 1) * width),
            5e-6,
          );
        }
      }),
      { numRuns: 20, seed: 1 },
    );
  });

  test("masked steps do not matter to the others, and causal blocks do not see ahead", () => {
    const kernels = make();
    const { memory } = kernels;
    const run = (causal: boolean, junk: number) => {
      const net = buildAttention(kernels, { width, heads: 2, steps, batch: 1, rng: seededRng(3), causal });
      memory.view(net.input, steps * width).set(randomBlock(steps * width, seededRng(4)));
      memory.view(net.input, steps * width).fill(junk, 3 * width);
      memory.view(net.mask, steps).set([1, 1, 1, 0, 0]);
      return memory.view(net.forward(1, steps, causal ? {} : { mask: net.mask }), 3 * width).slice();
    };
    expect(run(false, 9)).toEqual(run(false, -2));
    expect(run(true, 9)).toEqual(run(true, -2));
    expect(run(true, 9)).not.toEqual(run(false, 9));
  });

  test("a sequence of which nothing may be seen gives finite numbers", () => {
    const kernels = make();
    const { memory } = kernels;
    const net = buildAttention(kernels, { width, heads: 2, steps, batch: 1, rng: seededRng(5) });
    memory.view(net.input, steps * width).set(randomBlock(steps * width, seededRng(6)));
    const y = net.forward(1, steps, { mask: net.mask });
    expect(memory.view(y, steps * width).every(Number.isFinite)).toBe(true);
    net.backward(y);
    expect(memory.view(net.grads, net.paramCount).every(Number.isFinite)).toBe(true);
  });

  test("learns to look up: the value whose key matches the query, where the mean cannot", () => {
    const kernels = make();
    const { memory } = kernels;
    // Step 0 asks for one of three keys (one-hot); steps 1 to 3 carry a key each and a value. The answer is that value.
    const [rows, length, w] = [32, 4, 8];
    const net = buildAttention(kernels, {
      width: w,
      heads: 2,
      feedForward: 16,
      steps: length,
      batch: rows,
      rng: seededRng(7),
    });
    const head = buildNetwork(kernels, {
      layers: [dense(w, 16, "relu"), dense(16, 1)],
      batch: rows,
      rng: seededRng(8),
    });
    const embed = buildNetwork(kernels, { layers: [dense(5, w)], batch: rows * length, rng: seededRng(9) });
    const all = [net, head, embed].map((n) => ({
      n,
      optimiser: adam(kernels, { params: n.params, count: n.paramCount, lr: 1e-2 }),
    }));
    const [target, gradient, dAll] = [memory.alloc(rows), memory.alloc(rows), memory.alloc(rows * length * w)];
    const rng = seededRng(10);
    const mean = { from: net.input, into: head.input, groups: rows, size: length, cols: w };
    const losses: number[] = [];
    for (let update = 0; update < 300; update++) {
      const f32 = memory.f32;
      f32.fill(0, embed.input >> 2, (embed.input >> 2) + rows * length * 5);
      for (let row = 0; row < rows; row++) {
        const asked = rng.int(3);
        const at = (embed.input >> 2) + row * length * 5;
        f32[at + asked] = 1;
        f32[at + 4] = 1;
        for (let key = 0; key < 3; key++) {
          const value = 2 * rng.next() - 1;
          f32[at + (1 + key) * 5 + key] = 1;
          f32[at + (1 + key) * 5 + 3] = value;
          if (key === asked) f32[(target >> 2) + row] = value;
        }
      }
      const y = net.forward(rows, length, { from: embed.forward(rows * length) });
      meanOverGroups(memory, { ...mean, from: y });
      head.forward(rows);
      losses.push(mseLoss(memory, { prediction: head.output, target, gradient, rows, cols: 1 }));
      for (const { n } of all) n.zeroGrads();
      const dMean = head.backward(rows, gradient, PARAMS_AND_INPUT);
      meanOverGroupsBackward(memory, { ...mean, from: dAll, into: dMean });
      embed.backward(rows * length, net.backward(dAll, PARAMS_AND_INPUT));
      for (const { n, optimiser } of all) optimiser.step(n.grads);
    }
    // The variance of a uniform on ±1 is 1/3: that is what the best constant leaves.
    expect(losses.slice(-20).reduce((a, b) => a + b) / 20).toBeLessThan(0.5 / 3);
  });
});

describe("attention blocks", () => {
  const kernels = sets[0]!.make();
  const build = (extra = {}) =>
    buildAttention(kernels, { width: 4, heads: 2, steps: 3, batch: 2, rng: seededRng(1), ...extra });

  test("give everything back on dispose, and refuse what does not fit", () => {
    const before = kernels.memory.used;
    build().dispose();
    build({ trainable: false }).dispose();
    expect(kernels.memory.used).toBe(before);
    expect(() => build({ heads: 3 })).toThrow(/3 heads do not divide a width of 4/);
    expect(() => build({ steps: 0 })).toThrow(/steps must be a whole number/);
    const net = build();
    expect(() => net.forward(3, 1)).toThrow(/up to 2 rows of 3 steps and was given 3 of 1/);
    expect(() => net.backward(NULL)).toThrow(/forward pass of its own/);
    const frozen = build({ trainable: false });
    frozen.forward(1, 1);
    expect(() => frozen.backward(NULL)).toThrow(/trainable: false/);
  });

  test("have the parameters of PyTorch's encoder layer", () => {
    const net = build({ feedForward: 7 });
    // torch.nn.TransformerEncoderLayer(4, 2, 7): 3·4·4+3·4 + 4·4+4 + 4·7+7 + 7·4+4 + 4·4.
    expect(net.paramCount).toBe(60 + 20 + 35 + 32 + 16);
    expect([...kernels.memory.view(net.parameter("gamma2").value, 4)]).toEqual([1, 1, 1, 1]);
  });
});
