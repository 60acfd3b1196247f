import { expect, test } from "vitest";
import { policyModel } from "./onnx-model.ts";

test("the smallest policy has the bytes that onnx.proto prescribes", () => {
  // One layer 1→1: action = tanh(observation · 2 + 0.5). Written out by hand from the field numbers.
  const text = (s: string) => [...new TextEncoder().encode(s)];
  const field = (key: number, bytes: number[]) => [key, bytes.length, ...bytes];
  const gemm = [
    ...field(0x0a, text("observation")),
    ...field(0x0a, text("w0")),
    ...field(0x0a, text("b0")),
    ...field(0x12, text("z0")),
    ...field(0x22, text("Gemm")),
  ]; // prettier than one name per line
  const tanh = [...field(0x0a, text("z0")), ...field(0x12, text("action")), ...field(0x22, text("Tanh"))];
  // dims 1, 1 (field 1), data_type FLOAT (field 2), name (field 8), raw_data (field 9): 2.0f is 00 00 00 40.
  const w0 = [0x08, 1, 0x08, 1, 0x10, 1, ...field(0x42, text("w0")), ...field(0x4a, [0, 0, 0, 0x40])];
  const b0 = [0x08, 1, 0x10, 1, ...field(0x42, text("b0")), ...field(0x4a, [0, 0, 0, 0x3f])];
  // type { tensor_type { elem_type: FLOAT, shape { dim { dim_value: 1 } dim { dim_value: 1 } } } }
  const shape = [0x0a, 2, 0x08, 1, 0x0a, 2, 0x08, 1];
  const tensorType = [0x08, 1, ...field(0x12, shape)];
  const info = (name: string) => [...field(0x0a, text(name)), ...field(0x12, field(0x0a, tensorType))];
  const graph = [
    ...field(0x0a, gemm),
    ...field(0x0a, tanh),
    ...field(0x12, text("policy")),
    ...field(0x2a, w0),
    ...field(0x2a, b0),
    ...field(0x5a, info("observation")),
    ...field(0x62, info("action")),
  ];
  // The graph is longer than 127 bytes, so its length takes two bytes.
  const length = [(graph.length % 128) + 128, Math.floor(graph.length / 128)];
  const model = [0x08, 8, ...field(0x12, text("coxswain")), 0x3a, ...length, ...graph, ...field(0x42, [0x10, 13])];
  expect([...policyModel({ widths: [1, 1], params: new Float32Array([2, 0.5]) })]).toEqual(model);
});

test("widths that do not fit the parameters are refused", () => {
  expect(() => policyModel({ widths: [2, 3], params: new Float32Array(8) })).toThrow("need 9 parameters, got 8");
});
