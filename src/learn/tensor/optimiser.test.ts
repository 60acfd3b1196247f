import { describe, expect, test } from "vitest";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { CodedError, seededRng } from "../../base/index.ts";
import type { Kernels } from "./kernels.ts";
import type { Ptr } from "./memory.ts";
import { adam, adamW, clipGradNorm, clipGradNorms, type Optimiser, sgd, softUpdate } from "./optimiser.ts";

const put = ({ memory }: Kernels, values: ArrayLike<number>): Ptr => {
  const ptr = memory.alloc(values.length);
  memory.view(ptr, values.length).set(values);
  return ptr;
};

/** Adam as its paper's Algorithm 1 writes it, in double precision. */
function textbookAdam(start: ArrayLike<number>, grads: readonly ArrayLike<number>[], lr: number, decay = 0): number[] {
  const p = Array.from(start);
  const m = p.map(() => 0);
  const v = p.map(() => 0);
  for (const [t, g] of grads.entries()) {
    for (let i = 0; i < p.length; i++) {
      p[i]! -= lr * decay * p[i]!;
      m[i] = 0.9 * m[i]! + 0.1 * g[i]!;
      v[i] = 0.999 * v[i]! + 0.001 * g[i]! ** 2;
      const mHat = m[i]! / (1 - 0.9 ** (t + 1));
      const vHat = v[i]! / (1 - 0.999 ** (t + 1));
      p[i]! -= (lr * mHat) / (Math.sqrt(vHat) + 1e-8);
    }
  }
  return p;
}

describe.each(sets)("optimisers on the $name kernels", ({ make }) => {
  const count = 37;
  const rng = seededRng(31);
  const start = randomBlock(count, rng);
  const gradients = Array.from({ length: 200 }, () => randomBlock(count, rng));
  const run = (kernels: Kernels, optimiser: Optimiser, grads: readonly Float32Array[]) => {
    const block = kernels.memory.alloc(count);
    for (const g of grads) {
      kernels.memory.view(block, count).set(g);
      optimiser.step(block);
    }
    kernels.memory.free(block);
  };

  test("the first Adam step moves each parameter by lr against its gradient's sign", () => {
    const kernels = make();
    const params = put(kernels, [1, 1, 1]);
    adam(kernels, { params, count: 3, lr: 0.1 }).step(put(kernels, [5, -0.01, 0]));
    expectClose(kernels.memory.view(params, 3), [0.9, 1.1, 1], 1e-6);
  });

  test("200 Adam steps are those of the paper in double precision", () => {
    const kernels = make();
    const params = put(kernels, start);
    run(kernels, adam(kernels, { params, count, lr: 1e-2 }), gradients);
    expectClose(kernels.memory.view(params, count), textbookAdam(start, gradients, 1e-2), 2e-6);
  });

  // 1 − lr·decay rounded to float32 is off by up to 3e-8, and two hundred such factors multiply.
  test("200 AdamW steps, decay apart from the moments", () => {
    const kernels = make();
    const params = put(kernels, start);
    run(kernels, adamW(kernels, { params, count, lr: 1e-2, weightDecay: 0.1 }), gradients);
    expectClose(kernels.memory.view(params, count), textbookAdam(start, gradients, 1e-2, 0.1), 1e-5);
  });

  test("SGD with momentum and decay, by hand over two steps", () => {
    const kernels = make();
    const params = put(kernels, [1]);
    const optimiser = sgd(kernels, { params, count: 1, lr: 0.5, momentum: 0.5, weightDecay: 0.25 });
    const grads = put(kernels, [1]);
    optimiser.step(grads); // velocity 1.25, parameter 0.375
    expect(kernels.memory.f32[params >> 2]).toBe(0.375);
    optimiser.step(grads); // velocity 0.625 + 1.09375 = 1.71875, parameter −0.484375
    expect(kernels.memory.f32[params >> 2]).toBe(-0.484375);
    const plain = put(kernels, [1]);
    sgd(kernels, { params: plain, count: 1, lr: 0.25 }).step(grads);
    expect(kernels.memory.f32[plain >> 2]).toBe(0.75);
  });

  test("the learning rate can change between steps, and gradients are left as they are", () => {
    const kernels = make();
    const params = put(kernels, [0]);
    const optimiser = sgd(kernels, { params, count: 1, lr: 1 });
    const grads = put(kernels, [1]);
    optimiser.step(grads);
    optimiser.lr = 0.125;
    optimiser.step(grads);
    expect(kernels.memory.f32[params >> 2]).toBe(-1.125);
    expect(kernels.memory.f32[grads >> 2]).toBe(1);
  });

  test.each([
    ["Adam", (k: Kernels, params: Ptr) => adam(k, { params, count, lr: 1e-2 })],
    ["SGD with momentum", (k: Kernels, params: Ptr) => sgd(k, { params, count, lr: 1e-2, momentum: 0.9 })],
    ["plain SGD", (k: Kernels, params: Ptr) => sgd(k, { params, count, lr: 1e-2 })],
  ])("%s continues from its saved state with the same bytes", (_name, build) => {
    const kernels = make();
    const whole = put(kernels, start);
    run(kernels, build(kernels, whole), gradients.slice(0, 40));
    const parts = put(kernels, start);
    const first = build(kernels, parts);
    run(kernels, first, gradients.slice(0, 15));
    const saved = first.state();
    first.dispose();
    const second = build(kernels, parts);
    second.restore(saved);
    run(kernels, second, gradients.slice(15, 40));
    expect(kernels.memory.view(parts, count)).toEqual(kernels.memory.view(whole, count));
    expect(second.state().steps).toBe(40);
  });

  test("clipping scales a long gradient to the norm and leaves a short one", () => {
    const kernels = make();
    const grads = put(kernels, [3, 4]);
    expect(clipGradNorm(kernels, { grads, count: 2, max: 10 })).toBe(5);
    expect([...kernels.memory.view(grads, 2)]).toEqual([3, 4]);
    expect(clipGradNorm(kernels, { grads, count: 2, max: 1 })).toBe(5);
    expectClose(kernels.memory.view(grads, 2), [0.6, 0.8], 1e-6);
  });

  test("several blocks are clipped by their common norm", () => {
    const kernels = make();
    const a = put(kernels, [2, 1]);
    const b = put(kernels, [2]);
    expect(
      clipGradNorms(
        kernels,
        [
          { grads: a, count: 2 },
          { grads: b, count: 1 },
        ],
        1.5,
      ),
    ).toBe(3);
    expectClose([...kernels.memory.view(a, 2), ...kernels.memory.view(b, 1)], [1, 0.5, 1], 1e-6);
  });

  test("a soft update moves by tau, and by 1 copies", () => {
    const kernels = make();
    const target = put(kernels, [0, 8]);
    const source = put(kernels, [4, 0]);
    softUpdate(kernels, { target, source, count: 2, tau: 0.25 });
    expect([...kernels.memory.view(target, 2)]).toEqual([1, 6]);
    softUpdate(kernels, { target, source, count: 2, tau: 1 });
    expect([...kernels.memory.view(target, 2)]).toEqual([4, 0]);
  });

  test("a copy is exact where target + (source − target) would round", () => {
    const kernels = make();
    const source = put(kernels, [0.1, 1e-8, -3]);
    const target = put(kernels, [-7, 1, 1e8]);
    softUpdate(kernels, { target, source, count: 3, tau: 1 });
    expect([...kernels.memory.view(target, 3)]).toEqual([...kernels.memory.view(source, 3)]);
  });
});

test("a state of another kind, size or count is refused with a code, and nothing changes", () => {
  const kernels = sets[0]!.make();
  const params = put(kernels, [1, 2]);
  const optimiser = adam(kernels, { params, count: 2, lr: 0.1 });
  const good = optimiser.state();
  for (const bad of [
    { ...good, kind: "sgd" as const },
    { ...good, moments: new Float32Array(3) },
    { ...good, steps: -1 },
    { ...good, steps: 0.5 },
  ]) {
    expect(() => optimiser.restore(bad)).toThrow(CodedError);
    expect(() => optimiser.restore(bad)).toThrow(/restore it into the optimiser it was saved from/);
  }
  expect(optimiser.state()).toEqual(good);
});
