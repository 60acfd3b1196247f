import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { bytes, mebibytes, millicores } from "../../../base/index.ts";
import { actionSpace, decodeAction, encodeAction } from "./action.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Demand } from "./demand.ts";

const task: Pick<AutoscaleTask, "bounds" | "actions"> = {
  actions: "limits",
  bounds: {
    replicas: { min: 1, max: 16 },
    cpu: { min: millicores(100), max: millicores(1600) },
    memory: { min: mebibytes(64), max: mebibytes(4096) },
  },
};

const need = { cores: 300, memory: mebibytes(100) };

describe("an action in limits", () => {
  test.each([
    { action: [-1, -1, -1], is: { cpu: 100, memory: mebibytes(64), replicas: 1 } },
    { action: [1, 1, 1], is: { cpu: 1600, memory: mebibytes(4096), replicas: 16 } },
    // the middle of a logarithmic scale is the geometric mean: √(100·1600), √(64·4096), √(1·16)
    { action: [0, 0, 0], is: { cpu: 400, memory: mebibytes(512), replicas: 4 } },
    // a quarter of the way: 100·16^¼
    { action: [-0.5, -1, 0.5], is: { cpu: 200, memory: mebibytes(64), replicas: 8 } },
    { action: [-7, 5, 1.0001], is: { cpu: 100, memory: mebibytes(4096), replicas: 16 } },
  ])("of $action means $is", ({ action, is }) => {
    expect(decodeAction(task, Float32Array.from(action), need)).toEqual(is);
  });

  test("of NaN means NaN, for the guard to refuse", () => {
    expect(decodeAction(task, [0, Number.NaN, 0], need)).toEqual({ cpu: 400, memory: Number.NaN, replicas: 4 });
    expect(decodeAction(task, [0], need).replicas).toBeNaN();
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
        const action = encodeAction(task, allocation, need);
        expect(actionSpace.contains(action)).toBe(true);
        const back = decodeAction(task, action, need);
        expect(back).toMatchObject({ replicas, cpu });
        // float32 moves a byte count by less than 1e-6 of it before it is rounded
        expect(Math.abs(back.memory - memory)).toBeLessThanOrEqual(mebibytes(0.5) + 1e-6 * memory);
        expect(decodeAction(task, encodeAction(task, back, need), need)).toEqual(back);
      },
    ),
    { seed: 5, numRuns: 500 },
  );
});

test("zero replicas have their place where they are allowed", () => {
  const toZero = { ...task, bounds: { ...task.bounds, replicas: { min: 0, max: 15 } } };
  expect([-1, -0.5, 0, 0.5, 1].map((x) => decodeAction(toZero, [0, 0, x], need).replicas)).toEqual([0, 1, 3, 7, 15]);
  for (let replicas = 0; replicas <= 15; replicas += 1) {
    const allocation = { replicas, cpu: millicores(400), memory: mebibytes(512) };
    expect(decodeAction(toZero, encodeAction(toZero, allocation, need), need)).toEqual(allocation);
  }
});

test("bounds that leave no choice are kept, whatever the policy says", () => {
  const fixed = { ...task, bounds: { ...task.bounds, replicas: { min: 3, max: 3 } } };
  expect(decodeAction(fixed, [0, 0, -1], need).replicas).toBe(3);
  expect(encodeAction(fixed, { replicas: 3, cpu: millicores(400), memory: mebibytes(512) }, need)[2]).toBe(0);
});

test("what is out of bounds is shown at the bound", () => {
  const outside = { replicas: 99, cpu: millicores(1), memory: mebibytes(512) };
  expect([...encodeAction(task, outside, need)]).toEqual([-1, expect.closeTo(0, 6), 1]);
});

describe("an action in multiples of the demand", () => {
  const times = { ...task, actions: "demand" as const };
  const meaning = (action: readonly number[], demand: Demand = need) =>
    decodeAction(times, Float32Array.from(action), demand);

  test.each([
    // Exactly what is needed, in pods of 100: 300 millicores are three of them.
    { action: [-1, -1, -1], is: { cpu: 100, memory: mebibytes(100), replicas: 3 } },
    // Pods of 400, √8 times the memory, √40 times the CPU: 1,897 millicores are five of them, since four are too few.
    { action: [0, 0, 0], is: { cpu: 400, memory: mebibytes(283), replicas: 5 } },
    // 8 times the memory; 40 times 300 are 12,000 millicores, eight pods of 1,600.
    { action: [1, 1, 1], is: { cpu: 1600, memory: mebibytes(800), replicas: 8 } },
    { action: [9, -9, 9], is: { cpu: 1600, memory: mebibytes(100), replicas: 8 } },
  ])("of $action means $is", ({ action, is }) => {
    expect(meaning(action)).toEqual(is);
  });

  test("means the same share of whatever is needed, within the bounds", () => {
    expect(meaning([0, -1, -1], { cores: 2000, memory: mebibytes(200) })).toEqual({
      cpu: 400,
      memory: mebibytes(200),
      replicas: 5,
    });
    // Little is needed: the bounds' least. Much: their most.
    expect(meaning([0, 0, 0], { cores: 0, memory: 0 })).toEqual({ cpu: 400, memory: mebibytes(64), replicas: 1 });
    expect(meaning([-1, 1, 1], { cores: 9000, memory: mebibytes(900) })).toEqual({
      cpu: 100,
      memory: mebibytes(4096),
      replicas: 16,
    });
  });

  test("of NaN means NaN, for the guard to refuse", () => {
    expect(meaning([0, Number.NaN, 0])).toEqual({ cpu: 400, memory: Number.NaN, replicas: 5 });
    expect(meaning([Number.NaN, 0, 0]).replicas).toBeNaN();
  });

  test("comes back from every allocation that is between one and the most times the need", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: 100, max: 1600 }),
        fc.integer({ min: 100, max: 800 }),
        (replicas, cpu, memory) => {
          const allocation: Allocation = { replicas, cpu: millicores(cpu), memory: mebibytes(memory) };
          fc.pre(replicas * cpu >= need.cores && replicas * cpu <= 40 * need.cores);
          const action = encodeAction(times, allocation, need);
          expect(actionSpace.contains(action)).toBe(true);
          expect(decodeAction(times, action, need)).toEqual(allocation);
        },
      ),
      { seed: 6, numRuns: 500 },
    );
  });

  test("shows what is less than the need, or more than the most of it, at the ends", () => {
    const little = { replicas: 1, cpu: millicores(100), memory: mebibytes(64) };
    expect([...encodeAction(times, little, need)]).toEqual([-1, -1, -1]);
    const much = { replicas: 16, cpu: millicores(1600), memory: mebibytes(4096) };
    expect([...encodeAction(times, much, need)]).toEqual([1, 1, 1]);
  });
});
