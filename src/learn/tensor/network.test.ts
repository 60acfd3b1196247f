import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { feedForward, type OracleLayer } from "../../../test/oracle/layers.ts";
import { flat, matrix, numericalGradient } from "../../../test/oracle/matrix.ts";
import { CodedError, seededRng } from "../../base/index.ts";
import { constant, uniform, zeros } from "./initialisers.ts";
import { activation, dense, type LayerSpec, layerNorm, softmax } from "./layers.ts";
import { NULL } from "./memory.ts";
import { buildNetwork, INPUT_ONLY, PARAMS_AND_INPUT } from "./network.ts";

const shapes: Record<string, { layers: LayerSpec[]; inputs?: number }> = {
  "one dense layer": { layers: [dense(3, 2)] },
  "relu and tanh": { layers: [dense(4, 9, "relu"), dense(9, 7, "relu"), dense(7, 3, "tanh")] },
  "sigmoid throughout": { layers: [dense(2, 5, "sigmoid"), dense(5, 4, "sigmoid")] },
  "hidden layers without activation": { layers: [dense(3, 5), dense(5, 6), dense(6, 2)] },
  "layer norm before its activation": { layers: [dense(4, 8), layerNorm(), activation("relu"), dense(8, 3)] },
  "layer norm first and last": { layers: [layerNorm({ epsilon: 1e-3 }), dense(5, 6, "tanh"), layerNorm()], inputs: 5 },
  "softmax last": { layers: [dense(4, 6, "tanh"), dense(6, 5), softmax()] },
  "softmax in the middle": { layers: [dense(4, 6), softmax(), dense(6, 2)] },
  "activation last": { layers: [dense(3, 4), activation("sigmoid")] },
};

describe.each(sets)("networks on the $name kernels", ({ make }) => {
  describe.each(Object.entries(shapes))("%s", (_name, { layers, inputs }) => {
    const kernels = make();
    const rows = 5;
    const net = buildNetwork(kernels, { layers, batch: 7, rng: seededRng(1), ...(inputs ? { inputs } : {}) });
    const rng = seededRng(2);
    // Layer norm begins as the identity; moved off it, its parameters show in every gradient.
    const params = net.snapshot().map((value) => value + 0.2 * rng.normal());
    net.load(params);
    const x = randomBlock(rows * net.inputs, rng);
    const pull = randomBlock(rows * net.outputs, rng);
    const oracle = (p: ArrayLike<number>, input: ArrayLike<number>) =>
      flat(feedForward(layers as OracleLayer[], p, matrix(input, rows, net.inputs)));
    const objective = (y: readonly number[]) => y.reduce((sum, value, i) => sum + value * pull[i]!, 0);
    const dOutput = kernels.memory.alloc(7 * net.outputs);

    const run = (options = PARAMS_AND_INPUT) => {
      kernels.memory.view(net.input, x.length).set(x);
      kernels.memory.view(dOutput, pull.length).set(pull);
      net.zeroGrads();
      const y = kernels.memory.view(net.forward(rows), rows * net.outputs).slice();
      const dInput = net.backward(rows, dOutput, options);
      const dx = dInput === NULL ? undefined : kernels.memory.view(dInput, x.length).slice();
      return { y, dx, grads: kernels.memory.view(net.grads, net.paramCount).slice() };
    };

    test("the output is the double-precision one", () => {
      expectClose(run().y, oracle(params, x), 2e-6);
    });

    test("parameter gradients are the numerical ones", () => {
      expectClose(
        run().grads,
        numericalGradient((p) => objective(oracle(p, x)), params),
        2e-5,
      );
    });

    test("the input gradient is the numerical one", () => {
      expectClose(
        run().dx!,
        numericalGradient((input) => objective(oracle(params, input)), x),
        2e-5,
      );
    });

    test("passing through leaves parameter gradients alone and gives the same input gradient", () => {
      const { dx } = run();
      const through = run(INPUT_ONLY);
      expect(through.dx).toEqual(dx);
      expect(through.grads.every((g) => g === 0)).toBe(true);
    });

    test("output and output gradient are left as they are, and gradients add up", () => {
      const once = run();
      kernels.memory.view(dOutput, pull.length).set(pull);
      const y = net.forward(rows);
      net.backward(rows, dOutput);
      expect(kernels.memory.view(y, once.y.length)).toEqual(once.y);
      expect(kernels.memory.view(dOutput, pull.length)).toEqual(pull);
      expectClose(
        kernels.memory.view(net.grads, net.paramCount),
        once.grads.map((g) => 2 * g),
        1e-6,
      );
    });
  });

  test("a small network worked out by hand", () => {
    const kernels = make();
    const net = buildNetwork(kernels, { layers: [dense(2, 2, "relu"), dense(2, 1)], batch: 1, rng: seededRng(0) });
    // h = relu([1, 2]·[[1, -1], [2, 1]] + [0, -3]) = relu([5, -2]) = [5, 0]; y = 5·3 + 0·4 + 0.5 = 15.5
    net.load(Float32Array.of(1, -1, 2, 1, 0, -3, 3, 4, 0.5));
    const f32 = kernels.memory.f32;
    f32.set([1, 2], net.input >> 2);
    const y = net.forward(1);
    expect(f32[y >> 2]).toBe(15.5);
    const dy = kernels.memory.alloc(1);
    kernels.memory.f32[dy >> 2] = 2;
    // dh = [6, 8·0]; dW1 = xᵀ·[6, 0]; dx = [6·1, 6·2]
    const dx = net.backward(1, dy, PARAMS_AND_INPUT);
    expect([...kernels.memory.view(net.grads, 9)]).toEqual([6, 0, 12, 0, 6, 0, 10, 0, 2]);
    expect([...kernels.memory.view(dx, 2)]).toEqual([6, 12]);
  });

  test("softmax rows are distributions in the order of their inputs, however large these are", () => {
    const kernels = make();
    const net = buildNetwork(kernels, { layers: [softmax()], inputs: 6, batch: 3, rng: seededRng(0) });
    const row = fc.double({ min: -1e4, max: 1e4, noNaN: true });
    fc.assert(
      fc.property(fc.array(row, { minLength: 18, maxLength: 18 }), (values) => {
        const x = Float32Array.from(values);
        kernels.memory.view(net.input, 18).set(x);
        const y = kernels.memory.view(net.forward(3), 18).slice();
        for (let r = 0; r < 18; r += 6) {
          expect(y.subarray(r, r + 6).reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
          for (let i = r; i < r + 6; i++) {
            expect(y[i]).toBeGreaterThanOrEqual(0);
            for (let j = r; j < r + 6; j++) if (x[i]! > x[j]!) expect(y[i]).toBeGreaterThanOrEqual(y[j]!);
          }
        }
      }),
      { numRuns: 50, seed: 4 },
    );
  });

  test("layer norm by hand, where its epsilon shows", () => {
    const kernels = make();
    const net = buildNetwork(kernels, { layers: [layerNorm()], inputs: 2, batch: 1, rng: seededRng(0) });
    kernels.memory.view(net.input, 2).set([0, 0.002]);
    // Mean 0.001, variance 1e-6: ±0.001/√(1e-6 + 1e-5).
    expectClose(kernels.memory.view(net.forward(1), 2), [-0.3015113, 0.3015113], 1e-6);
  });

  test("rows do not see one another: fewer rows give the same numbers", () => {
    const kernels = make();
    const net = buildNetwork(kernels, { layers: [dense(3, 8, "tanh"), dense(8, 2)], batch: 9, rng: seededRng(3) });
    kernels.memory.view(net.input, 27).set(randomBlock(27, seededRng(4)));
    const all = kernels.memory.view(net.forward(9), 18).slice();
    for (let rows = 1; rows <= 9; rows++) {
      expectClose(kernels.memory.view(net.forward(rows), rows * 2), all.subarray(0, rows * 2), 1e-6);
    }
  });

  test("a network that is not trainable computes the same with less memory, and has no way back", () => {
    const kernels = make();
    const layers = [dense(3, 8, "tanh"), dense(8, 6, "relu"), dense(6, 4, "tanh"), dense(4, 2)];
    const before = kernels.memory.used;
    const trained = buildNetwork(kernels, { layers, batch: 4, rng: seededRng(5) });
    const between = kernels.memory.used;
    const frozen = buildNetwork(kernels, { layers, batch: 4, rng: seededRng(5), trainable: false });
    expect(kernels.memory.used - between).toBeLessThan(between - before);
    const x = randomBlock(12, seededRng(6));
    kernels.memory.view(trained.input, 12).set(x);
    kernels.memory.view(frozen.input, 12).set(x);
    const y = kernels.memory.view(trained.forward(4), 8).slice();
    expect(kernels.memory.view(frozen.forward(4), 8)).toEqual(y);
    expect(() => frozen.backward(4, frozen.output)).toThrow(/trainable: false/);
  });
});

describe("networks", () => {
  const kernels = sets[0]!.make();
  const rng = seededRng(7);

  test("have one flat block with named parts, extras last", () => {
    const net = buildNetwork(kernels, {
      layers: [dense(8, 64, "relu"), dense(64, 64, "relu"), dense(64, 5, { weight: uniform(3e-3), bias: zeros() })],
      batch: 1,
      rng,
      extras: [{ name: "logStd", size: 5, init: constant(-0.5) }],
    });
    expect(net.paramCount).toBe(8 * 64 + 64 + 64 * 64 + 64 + 64 * 5 + 5 + 5);
    expect(net.parameters.map((p) => p.name)).toEqual([
      "0.weight",
      "0.bias",
      "1.weight",
      "1.bias",
      "2.weight",
      "2.bias",
      "logStd",
    ]);
    expect(net.parameter("logStd").value).toBe(net.params + 4 * (net.paramCount - 5));
    expect([...kernels.memory.view(net.parameter("logStd").value, 5)]).toEqual([-0.5, -0.5, -0.5, -0.5, -0.5]);
    expect(kernels.memory.view(net.parameter("2.weight").value, 320).every((w) => Math.abs(w) <= 3e-3)).toBe(true);
    expect(() => net.parameter("3.weight")).toThrow(/no parameter '3.weight'; it has 0.weight/);
  });

  test("one more layer does not change how the others begin", () => {
    const two = buildNetwork(kernels, { layers: [dense(3, 4), dense(4, 4)], batch: 1, rng });
    const three = buildNetwork(kernels, { layers: [dense(3, 4), dense(4, 4), dense(4, 1)], batch: 1, rng });
    expect(three.snapshot().subarray(0, two.paramCount)).toEqual(two.snapshot());
  });

  test("sharing parameters shares values and gradients, not activations", () => {
    const layers = [dense(2, 3, "tanh"), dense(3, 1)];
    const owner = buildNetwork(kernels, { layers, batch: 4, rng });
    const guest = buildNetwork(kernels, { layers, batch: 1, rng: seededRng(99), share: owner });
    expect(guest.params).toBe(owner.params);
    expect(guest.grads).toBe(owner.grads);
    kernels.memory.view(owner.input, 4).set([1, 2, 3, 4]);
    kernels.memory.view(guest.input, 2).set([1, 2]);
    const y = owner.forward(2);
    const first = kernels.memory.f32[y >> 2];
    expect(kernels.memory.f32[guest.forward(1) >> 2]).toBe(first);
    expect(kernels.memory.f32[y >> 2]).toBe(first);
    guest.dispose();
    expect(kernels.memory.view(owner.params, owner.paramCount).every(Number.isFinite)).toBe(true);
    expect(() => buildNetwork(kernels, { layers: [dense(3, 2)], batch: 1, rng, share: owner })).toThrow(
      /only be shared between networks of one shape/,
    );
  });

  test("dispose gives everything back", () => {
    const used = kernels.memory.used;
    const layers = [dense(3, 4), layerNorm(), activation("relu"), dense(4, 4, "tanh"), softmax()];
    const nets = [true, false].map((trainable) => buildNetwork(kernels, { layers, batch: 8, rng, trainable }));
    expect(kernels.memory.used).toBeGreaterThan(used);
    for (const net of nets) net.dispose();
    expect(kernels.memory.used).toBe(used);
  });

  test("a network that goes leaves the scratch of those that stay", () => {
    const layers = [dense(2, 6, "tanh"), dense(6, 5, "tanh"), dense(5, 1)];
    const stays = buildNetwork(kernels, { layers, batch: 2, rng });
    const goes = buildNetwork(kernels, { layers: [dense(2, 40, "tanh"), dense(40, 1)], batch: 2, rng });
    const dOutput = kernels.memory.alloc(2);
    kernels.memory.view(dOutput, 2).set([1, -1]);
    const gradient = () => {
      kernels.memory.view(stays.input, 4).set([1, 2, 3, 4]);
      stays.zeroGrads();
      stays.forward(2);
      stays.backward(2, dOutput);
      return kernels.memory.view(stays.grads, stays.paramCount).slice();
    };
    const before = gradient();
    goes.dispose();
    const others = Array.from({ length: 8 }, (_, i) => kernels.memory.alloc(20 * (i + 1)));
    expect(gradient()).toEqual(before);
    for (const block of others) expect(kernels.memory.view(block, 20).every((value) => value === 0)).toBe(true);
  });

  test.each([
    [
      "widths that do not meet",
      () => [dense(3, 4), dense(5, 1)],
      /layer 1 takes 5 inputs and the layer before gives 4/,
    ],
    ["no layers", () => [], /at least one layer/],
    ["a first layer without width", () => [softmax()], /give the network 'inputs'/],
    ["half a unit", () => [dense(2, 1.5)], /outputs of layer 0 must be a whole number/],
  ])("%s is refused with a code", (_name, layers, text) => {
    const build = () => buildNetwork(kernels, { layers: layers(), batch: 1, rng });
    expect(build).toThrow(CodedError);
    expect(build).toThrow(text);
  });

  test("calls out of order are refused before they write anywhere", () => {
    const net = buildNetwork(kernels, { layers: [dense(2, 2, "relu"), dense(2, 1)], batch: 3, rng });
    expect(() => net.forward(4)).toThrow(/built for 1 to 3 rows and was given 4/);
    expect(() => net.forward(Number.NaN)).toThrow(/given NaN/);
    expect(() => net.backward(1, net.output)).toThrow(/needs a forward pass of its own/);
    net.forward(2);
    expect(() => net.backward(3, net.output)).toThrow(/given 3 rows and the forward pass before it had 2/);
    net.backward(2, net.output);
    expect(() => net.backward(2, net.output)).toThrow(/needs a forward pass of its own/);
  });
});
