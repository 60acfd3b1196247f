import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { referenceKernels } from "./kernel-sets/reference.ts";
import { dense, type LayerSpec } from "./layers.ts";
import { buildNetwork } from "./network.ts";
import { loadParameters, saveParameters } from "./snapshot.ts";

const kernels = referenceKernels();
const build = (layers: LayerSpec[], seed = 1) => buildNetwork(kernels, { layers, batch: 1, rng: seededRng(seed) });
const code = (run: () => unknown) => {
  try {
    run();
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return "no failure";
};

test("parameters come back into another network of the same shape", () => {
  const saved = saveParameters(build([dense(2, 3, "relu"), dense(3, 1)]));
  expect(saved.shapes).toEqual([
    ["0.weight", 2, 3],
    ["0.bias", 1, 3],
    ["1.weight", 3, 1],
    ["1.bias", 1, 1],
  ]);
  const other = build([dense(2, 3, "relu"), dense(3, 1)], 2);
  expect(other.snapshot()).not.toEqual(saved.values);
  expect(loadParameters(other, saved).ok).toBe(true);
  expect(other.snapshot()).toEqual(saved.values);
});

test("a snapshot is a copy: training on does not change it", () => {
  const net = build([dense(1, 1)]);
  const before = net.snapshot();
  kernels.memory.f32[net.params >> 2] = 123;
  expect(before[0]).not.toBe(123);
});

test("as many parameters in another shape are refused, and the network stays as it was", () => {
  // 3·5 + 5 = 4·4 + 4 = 20 values each.
  const net = build([dense(3, 5)]);
  const before = net.snapshot();
  const result = loadParameters(net, saveParameters(build([dense(4, 4)])));
  expect(result).toMatchObject({ ok: false, failure: { code: "tensor.snapshot-shape" } });
  expect(result).toMatchObject({
    failure: { message: expect.stringContaining("0.weight [3, 5] in the network and 0.weight [4, 4]") },
  });
  const deeper = loadParameters(net, saveParameters(build([dense(3, 5), dense(5, 1)])));
  expect(deeper).toMatchObject({
    failure: { message: expect.stringContaining("parameter 2 is absent in the network") },
  });
  expect(net.snapshot()).toEqual(before);
});

test("too few values and values that are not numbers are refused with their own codes", () => {
  const net = build([dense(2, 2)]);
  const saved = saveParameters(net);
  expect(code(() => net.load(new Float32Array(5)))).toBe("tensor.snapshot-mismatch");
  expect(code(() => net.load(saved.values.map((x, i) => (i === 3 ? Number.NaN : x))))).toBe(
    "tensor.snapshot-not-finite",
  );
  expect(loadParameters(net, { ...saved, values: new Float32Array(5) })).toMatchObject({
    ok: false,
    failure: { code: "tensor.snapshot-mismatch" },
  });
  expect(net.snapshot()).toEqual(saved.values);
});
