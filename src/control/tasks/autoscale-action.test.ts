import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../../act/index.ts";
import { bytes, mebibytes, millicores } from "../../base/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import { actionSpace, decodeAction, encodeAction } from "./autoscale-action.ts";

const task: Pick<AutoscaleTask, "bounds"> = {
  bounds: {
    replicas: { min: 1, max: 16 },
    cpu: { min: millicores(100), max: millicores(1600) },
    memory: { min: mebibytes(64), max: mebibytes(4096) },
  },
};

describe("an action", () => {
  test.each([
    { action: [-1, -1, -1], is: { cpu: 100, memory: mebibytes(64), replicas: 1 } },
    { action: [1, 1, 1], is: { cpu: 1600, memory: mebibytes(4096), replicas: 16 } },
    // the middle of a logarithmic scale is the geometric mean: √(100·1600), √(64·4096), √(1·16)
    { action: [0, 0, 0], is: { cpu: 400, memory: mebibytes(512), replicas: 4 } },
    // a quarter of the way: 100·16^¼
    { action: [-0.5, -1, 0.5], is: { cpu: 200, memory: mebibytes(64), replicas: 8 } },
    { action: [-7, 5, 1.0001], is: { cpu: 100, memory: mebibytes(4096), replicas: 16 } },
  ])("of $action means $is", ({ action, is }) => {
    expect(decodeAction(task, Float32Array.from(action))).toEqual(is);
  });

  test("of NaN means NaN, for the guard to refuse", () => {
    expect(decodeAction(task, [0, Number.NaN, 0])).toEqual({ cpu: 400, memory: Number.NaN, replicas: 4 });
    expect(decodeAction(task, [0]).replicas).toBeNaN();
  });
});

test("every allocation in bounds comes back from the policy's coordinates: exactly, memory to the MiB", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 100, max: 1600 }),
      fc.integer({ min: mebibytes(64), max: mebibytes(4096) }),
      (replicas, cpu, memory) => {
        const allocation: Allocation = { replicas, cpu: millicores(cpu), memory: bytes(memory) };
        const action = encodeAction(task, allocation);
        expect(actionSpace.contains(action)).toBe(true);
        const back = decodeAction(task, action);
        expect(back).toMatchObject({ replicas, cpu });
        // float32 moves a byte count by less than 1e-6 of it before it is rounded
        expect(Math.abs(back.memory - memory)).toBeLessThanOrEqual(mebibytes(0.5) + 1e-6 * memory);
        expect(decodeAction(task, encodeAction(task, back))).toEqual(back);
      },
    ),
    { seed: 5, numRuns: 500 },
  );
});

test("zero replicas have their place where they are allowed", () => {
  const toZero = { bounds: { ...task.bounds, replicas: { min: 0, max: 15 } } };
  expect([-1, -0.5, 0, 0.5, 1].map((x) => decodeAction(toZero, [0, 0, x]).replicas)).toEqual([0, 1, 3, 7, 15]);
  for (let replicas = 0; replicas <= 15; replicas += 1) {
    const allocation = { replicas, cpu: millicores(400), memory: mebibytes(512) };
    expect(decodeAction(toZero, encodeAction(toZero, allocation))).toEqual(allocation);
  }
});

test("bounds that leave no choice are kept, whatever the policy says", () => {
  const fixed = { bounds: { ...task.bounds, replicas: { min: 3, max: 3 } } };
  expect(decodeAction(fixed, [0, 0, -1]).replicas).toBe(3);
  expect(encodeAction(fixed, { replicas: 3, cpu: millicores(400), memory: mebibytes(512) })[2]).toBe(0);
});

test("what is out of bounds is shown at the bound", () => {
  const outside = { replicas: 99, cpu: millicores(1), memory: mebibytes(512) };
  expect([...encodeAction(task, outside)]).toEqual([-1, expect.closeTo(0, 6), 1]);
});
