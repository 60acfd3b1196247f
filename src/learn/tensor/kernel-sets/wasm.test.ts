import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { ACT } from "../kernels.ts";
import { compileKernels, wasmKernels } from "./wasm.ts";

const bytes = new Uint8Array(readFileSync(new URL("../../../../kernels/kernels.wasm", import.meta.url)));

afterEach(() => {
  vi.unstubAllGlobals();
});

test("the wasm kernels need no shared memory: a page without isolation headers can use them", () => {
  vi.stubGlobal("SharedArrayBuffer", undefined);
  const { memory, linearForward } = wasmKernels(bytes);
  const [x, w, b, y] = [memory.alloc(2), memory.alloc(2), memory.alloc(1), memory.alloc(1)];
  memory.view(x, 2).set([2, 3]);
  memory.view(w, 2).set([10, 100]);
  memory.view(b, 1).set([-400]);
  linearForward(x, w, b, y, 1, 2, 1, ACT.none);
  expect([...memory.view(y, 1)]).toEqual([-80]);
  linearForward(x, w, b, y, 1, 2, 1, ACT.relu);
  expect([...memory.view(y, 1)]).toEqual([0]);
});

test("sets made from one compiled module have their own memories", () => {
  const module = compileKernels(bytes);
  const [one, other] = [wasmKernels(module), wasmKernels(module)];
  one.memory.view(one.memory.alloc(1), 1).fill(7);
  expect([...other.memory.view(other.memory.alloc(1), 1)]).toEqual([0]);
});

test("bytes that are not the kernels are refused with a code", () => {
  expect(() => wasmKernels(bytes.slice(0, 1000))).toThrowError(
    expect.objectContaining({ code: "kernels.wasm-unusable" }),
  );
});
