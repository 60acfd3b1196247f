import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { numericalGradient } from "../../../test/oracle/matrix.ts";
import { runStack } from "../../../test/oracle/recurrent.ts";
import { seededRng } from "../../base/index.ts";
import type { Kernels } from "./kernels.ts";
import { dense } from "./layers.ts";
import { mseLoss } from "./losses.ts";
import { NULL } from "./memory.ts";
import { buildNetwork, PARAMS_AND_INPUT } from "./network.ts";
import { adam } from "./optimiser.ts";
import { buildRecurrent } from "./recurrent.ts";

const stacks = [
  { cell: "gru", inputs: 3, hidden: 4, layers: 1, bidirectional: false },
  { cell: "gru", inputs: 2, hidden: 3, layers: 2, bidirectional: true },
  { cell: "gru", inputs: 2, hidden: 2, layers: 3, bidirectional: false },
  { cell: "lstm", inputs: 3, hidden: 4, layers: 1, bidirectional: false },
  { cell: "lstm", inputs: 2, hidden: 3, layers: 2, bidirectional: true },
] as const;

/** Row `row` of a time-major block, as the oracle's sequence. */
const sequenceOf = (
  x: ArrayLike<number>,
  { row, rows, steps, width }: { row: number; rows: number; steps: number; width: number },
) => Array.from({ length: steps }, (_, t) => Array.from({ length: width }, (_, i) => x[(t * rows + row) * width + i]!));

describe.each(stacks)("$cell, $layers layers, bidirectional $bidirectional", (stack) => {
  describe.each([false, true])("masked: %s", (masked) => {
    const steps = 4;
    const rows = 3;
    const rng = seededRng(41);
    const build = (kernels: Kernels) => buildRecurrent(kernels, { ...stack, steps: 6, batch: 4, rng: rng.fork("net") });
    const { inputs, hidden } = stack;
    const outputs = stack.bidirectional ? 2 * hidden : hidden;
    const params = build(sets[0]!.make()).snapshot();
    const x = randomBlock(steps * rows * inputs, rng);
    const pull = randomBlock(steps * rows * outputs, rng);
    const endPull = pull.subarray(0, rows * outputs);
    // Row 0 whole, row 1 two steps long, row 2 with a hole.
    const mask = [1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1];
    const maskOf = (row: number) =>
      masked ? { mask: Array.from({ length: steps }, (_, t) => mask[t * rows + row]!) } : {};
    const oracle = (p: ArrayLike<number>, input: ArrayLike<number>) => {
      const perRow = Array.from({ length: rows }, (_, row) =>
        runStack(stack, p, { sequence: sequenceOf(input, { row, rows, steps, width: inputs }), ...maskOf(row) }),
      );
      return Array.from({ length: steps }, (_, t) => perRow.flatMap((out) => [...out[t]!])).flat();
    };
    /** Of the outputs at all steps, those where the two directions end. */
    const ends = (all: readonly number[]) =>
      Array.from(
        { length: rows * outputs },
        (_, i) => all[(i % outputs < hidden ? steps - 1 : 0) * rows * outputs + i]!,
      );
    const dot = (a: readonly number[], b: ArrayLike<number>) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
    // The oracle is slow: its answers are worked out once for all kernel sets.
    const wanted = {
      outputs: oracle(params, x),
      params: numericalGradient((p) => dot(oracle(p, x), pull), params),
      input: numericalGradient((input) => dot(oracle(params, input), pull), x),
      paramsFromEnds: numericalGradient((p) => dot(ends(oracle(p, x)), endPull), params),
    };

    describe.each(sets)("on the $name kernels", ({ make }) => {
      const kernels = make();
      const { memory } = kernels;
      const net = build(kernels);
      const dOutput = memory.alloc(pull.length);
      const run = () => {
        memory.view(net.input, x.length).set(x);
        memory.view(net.mask, mask.length).set(mask);
        memory.view(dOutput, pull.length).set(pull);
        net.zeroGrads();
        return memory.view(net.forward(steps, rows, masked ? { mask: net.mask } : {}), pull.length).slice();
      };

      test("outputs are the double-precision ones", () => {
        expectClose(run(), wanted.outputs, 2e-6);
      });

      test("gradients of parameters and input are the numerical ones", () => {
        run();
        const dx = net.backward(dOutput, PARAMS_AND_INPUT);
        expectClose(memory.view(dx, x.length), wanted.input, 2e-5);
        expectClose(memory.view(net.grads, net.paramCount), wanted.params, 2e-5);
      });

      test("last states are the ends of both directions, and their way back is the numerical gradient", () => {
        run();
        const into = memory.alloc(rows * outputs);
        net.lastStates(into);
        expectClose(memory.view(into, rows * outputs), ends(wanted.outputs), 2e-6);
        memory.view(into, endPull.length).set(endPull);
        net.lastStatesBackward(into, dOutput);
        net.backward(dOutput);
        expectClose(memory.view(net.grads, net.paramCount), wanted.paramsFromEnds, 2e-5);
      });
    });
  });
});

describe.each(sets)("recurrent stacks on the $name kernels", ({ make }) => {
  test("reading backwards equals reading the reversed sequence forwards", () => {
    const kernels = make();
    const { memory } = kernels;
    const shape = { cell: "gru", inputs: 2, hidden: 4, steps: 6, batch: 1 } as const;
    const both = buildRecurrent(kernels, { ...shape, bidirectional: true, rng: seededRng(1) });
    const one = buildRecurrent(kernels, { ...shape, rng: seededRng(2) });
    one.load(both.snapshot().subarray(both.paramCount / 2));
    const x = randomBlock(12, seededRng(3));
    memory.view(both.input, 12).set(x);
    for (let t = 0; t < 6; t++) memory.view(one.input, 12).set(x.subarray(2 * t, 2 * t + 2), 2 * (5 - t));
    const whole = memory.view(both.forward(6, 1), 48).slice();
    const alone = memory.view(one.forward(6, 1), 24).slice();
    for (let t = 0; t < 6; t++) {
      expect(whole.subarray(t * 8 + 4, t * 8 + 8)).toEqual(alone.subarray((5 - t) * 4, (6 - t) * 4));
    }
  });

  test("what stands in masked steps does not matter, to the byte", () => {
    const kernels = make();
    const { memory } = kernels;
    const net = buildRecurrent(kernels, {
      cell: "lstm",
      inputs: 2,
      hidden: 3,
      layers: 2,
      bidirectional: true,
      steps: 4,
      batch: 2,
      rng: seededRng(4),
    });
    const base = randomBlock(16, seededRng(5));
    const dOutput = memory.alloc(48);
    memory.view(dOutput, 48).set(randomBlock(48, seededRng(6)));
    const run = (junk: number, bits: readonly number[]) => {
      memory.view(net.input, 16).set(base.map((value, i) => (bits[i >> 1] === 1 ? value : junk)));
      memory.view(net.mask, 8).set(bits);
      const y = memory.view(net.forward(4, 2, { mask: net.mask }), 48).slice();
      net.zeroGrads();
      net.backward(dOutput);
      return [y, memory.view(net.grads, net.paramCount).slice()];
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1), { minLength: 8, maxLength: 8 }), (bits) => {
        expect(run(7.5, bits)).toEqual(run(-3, bits));
      }),
      { numRuns: 30, seed: 3 },
    );
  });

  test.each([
    { cell: "gru", chunk: 1 },
    { cell: "gru", chunk: 2 },
    { cell: "lstm", chunk: 1 },
    { cell: "lstm", chunk: 2 },
  ] as const)("a $cell fed $chunk steps at a time with carried state gives the whole sequence's outputs", (fed) => {
    const kernels = make();
    const { memory } = kernels;
    const { cell, chunk } = fed;
    const shape = { cell, inputs: 2, hidden: 5, layers: 3, batch: 2, rng: seededRng(7) } as const;
    const whole = buildRecurrent(kernels, { ...shape, steps: 4 });
    const acting = buildRecurrent(kernels, { ...shape, steps: chunk, trainable: false, share: whole });
    const x = randomBlock(16, seededRng(8));
    memory.view(whole.input, 16).set(x);
    const all = memory.view(whole.forward(4, 2), 40).slice();
    const inChunks = () => {
      const outputs: number[] = [];
      for (let t = 0; t < 4; t += chunk) {
        memory.view(acting.input, 4 * chunk).set(x.subarray(4 * t, 4 * (t + chunk)));
        outputs.push(...memory.view(acting.forward(chunk, 2, { carried: true }), 10 * chunk));
        acting.carry();
      }
      return outputs;
    };
    expectClose(inChunks(), all, 1e-6);
    // One row's episode ends: only its state begins anew.
    acting.resetState(1);
    memory.view(acting.input, 4).set(x.subarray(0, 4));
    const next = memory.view(acting.forward(1, 2, { carried: true }), 10).slice();
    expectClose(next.subarray(5), all.subarray(5, 10), 1e-6);
    expect(next.subarray(0, 5)).not.toEqual(all.subarray(0, 5));
    acting.resetState();
    expectClose(inChunks(), all, 1e-6);
  });

  test("a GRU recalls its first input after noise, where the mean cannot", () => {
    const kernels = make();
    const { memory } = kernels;
    const [steps, rows, hidden] = [6, 32, 16];
    const net = buildRecurrent(kernels, { cell: "gru", inputs: 1, hidden, steps, batch: rows, rng: seededRng(9) });
    const head = buildNetwork(kernels, { layers: [dense(hidden, 1)], batch: rows, rng: seededRng(10) });
    const optimisers = [net, head].map((n) => ({
      n,
      step: adam(kernels, { params: n.params, count: n.paramCount, lr: 1e-2 }),
    }));
    const [target, gradient, dAll] = [memory.alloc(rows), memory.alloc(rows), memory.alloc(steps * rows * hidden)];
    const rng = seededRng(11);
    const last: number[] = [];
    for (let update = 0; update < 250; update++) {
      for (let i = 0; i < steps * rows; i++) memory.f32[(net.input >> 2) + i] = 2 * rng.next() - 1;
      memory.f32.copyWithin(target >> 2, net.input >> 2, (net.input >> 2) + rows);
      net.forward(steps, rows);
      net.lastStates(head.input);
      head.forward(rows);
      last.push(mseLoss(memory, { prediction: head.output, target, gradient, rows, cols: 1 }));
      for (const { n } of optimisers) n.zeroGrads();
      net.lastStatesBackward(head.backward(rows, gradient, PARAMS_AND_INPUT), dAll);
      net.backward(dAll);
      for (const { n, step } of optimisers) step.step(n.grads);
    }
    // The variance of a uniform on ±1 is 1/3: that is what the best constant leaves.
    const late = last.slice(-20).reduce((a, b) => a + b) / 20;
    expect(late).toBeLessThan(0.1 / 3);
  });
});

describe("recurrent networks", () => {
  const build = (kernels: Kernels, extra = {}) =>
    buildRecurrent(kernels, { cell: "gru", inputs: 2, hidden: 3, steps: 4, batch: 2, rng: seededRng(1), ...extra });

  test("name their parameters by layer and direction, as many as PyTorch's", () => {
    const kernels = sets[0]!.make();
    const net = build(kernels, { layers: 2, bidirectional: true });
    expect(net.parameters.slice(0, 5).map((p) => [p.name, p.rows, p.cols])).toEqual([
      ["0.forward.inputWeight", 2, 9],
      ["0.forward.inputBias", 1, 9],
      ["0.forward.stateWeight", 3, 9],
      ["0.forward.stateBias", 1, 9],
      ["0.reverse.inputWeight", 2, 9],
    ]);
    // torch.nn.GRU(2, 3, 2, bidirectional=True): 2·9·(2+3+2) + 2·9·(6+3+2).
    expect(net.paramCount).toBe(2 * 9 * (2 + 3 + 2) + 2 * 9 * (6 + 3 + 2));
    expect(net.snapshot().every((p) => Math.abs(p) <= 1 / Math.sqrt(3))).toBe(true);
  });

  test("give everything back on dispose, and refuse what does not fit", () => {
    const kernels = sets[0]!.make();
    const before = kernels.memory.used;
    for (const extra of [{}, { cell: "lstm", bidirectional: true, layers: 2 }, { trainable: false }])
      build(kernels, extra).dispose();
    expect(kernels.memory.used).toBe(before);
    const net = build(kernels);
    expect(() => net.forward(5, 1)).toThrow(/up to 4 steps of 2 rows and was given 5 of 1/);
    expect(() => net.forward(1, 3)).toThrow(/given 1 of 3/);
    expect(() => net.backward(NULL)).toThrow(/forward pass of its own/);
    const frozen = build(kernels, { trainable: false });
    frozen.forward(1, 1);
    expect(() => frozen.backward(NULL)).toThrow(/trainable: false/);
    expect(() => build(kernels, { hidden: 0 })).toThrow(/hidden must be a whole number from 1 on, got 0/);
  });
});
