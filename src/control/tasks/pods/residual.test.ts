import fc from "fast-check";
import { expect, test } from "vitest";
import type { Allocation, Reach } from "../../../act/index.ts";
import { mebibytes, millicores } from "../../../base/index.ts";
import type { Centre } from "./residual.ts";
import { decodeResidual, encodeResidual, TRUST } from "./residual.ts";

const bounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};
const plan: Allocation = { replicas: 4, cpu: millicores(1_000), memory: mebibytes(200) };
const have: Allocation = { replicas: 4, cpu: millicores(2_000), memory: mebibytes(200) };
const centre = (changed: Partial<Centre> = {}): Centre => ({
  plan,
  have,
  bounds,
  leastSize: ({ from }) => from,
  ...changed,
});

test("nothing added to the plan is the plan", () => {
  expect(decodeResidual([0, 0], centre())).toEqual(plan);
});

test("the ends are two thirds and one and a half times the CPU, one pod fewer and one more", () => {
  expect(decodeResidual([1, 0], centre())).toEqual({ ...plan, cpu: 1_500 });
  expect(decodeResidual([-1, 0], centre())).toEqual({ ...plan, cpu: 670 });
  // As much CPU in all: 4,000 in five pods, and in three.
  expect(decodeResidual([0, 1], centre())).toEqual({ ...plan, replicas: 5, cpu: 800 });
  expect(decodeResidual([0, -1], centre())).toEqual({ ...plan, replicas: 3, cpu: 1_333 });
  // Less than half a pod is none.
  expect(decodeResidual([0, 0.4], centre())).toEqual(plan);
});

test("memory is the plan's, whatever is said", () => {
  for (const action of [
    [-1, -1],
    [1, 1],
  ])
    expect(decodeResidual(action, centre()).memory).toBe(plan.memory);
});

test("the lowest size is the model's floor", () => {
  const floored = centre({ leastSize: () => 900 });
  expect(decodeResidual([-1, 0], floored).cpu).toBe(900);
  // Half of the way from 1,000 to 900, as ratios: 949.
  expect(decodeResidual([-0.5, 0], floored).cpu).toBe(950);
});

test("what cools down does not climb: more is more than planned, not more than there is", () => {
  const held = {
    cpu: { min: 2_000, max: 4_000 },
    replicas: { min: 4, max: 8 },
    memory: { min: 0, max: mebibytes(400) },
  };
  expect(decodeResidual([1, 0], centre({ reach: held })).cpu).toBe(2_000);
});

test("one pod more is no smaller than the model's floor", () => {
  expect(decodeResidual([0, 1], centre({ leastSize: () => 950 }))).toEqual({ ...plan, replicas: 5, cpu: 950 });
});

test("what is nearly there stays as it is", () => {
  const near = centre({ have: { ...have, cpu: millicores(1_030) } });
  expect(decodeResidual([0, 0], near).cpu).toBe(1_030);
  expect(decodeResidual([0.5, 0], near).cpu).toBe(1_220);
});

test("what is no number stays none, for the guard to refuse", () => {
  expect(decodeResidual([Number.NaN, 0], centre()).cpu).toBeNaN();
});

test("whatever is said can be done, and comes back as what was said, within rounding", () => {
  const unit = fc.double({ min: -1, max: 1, noNaN: true });
  // What is there can always stay.
  const range = (low: number, high: number, there: number) =>
    fc.record({ min: fc.integer({ min: low, max: there }), max: fc.integer({ min: there, max: high }) });
  const reaches = fc.record({
    replicas: range(1, 12, have.replicas),
    cpu: range(100, 4_000, have.cpu),
    memory: range(mebibytes(64), mebibytes(2_048), have.memory),
  });
  fc.assert(
    fc.property(unit, unit, reaches, (cores, pods, reach: Reach) => {
      const around = centre({ reach });
      const setting = decodeResidual([cores, pods], around);
      for (const knob of ["replicas", "cpu", "memory"] as const) {
        expect(setting[knob]).toBeGreaterThanOrEqual(reach[knob]?.min ?? 0);
        expect(setting[knob]).toBeLessThanOrEqual(reach[knob]?.max ?? 0);
      }
      const again = decodeResidual(encodeResidual(setting, around), around);
      expect(Math.abs(again.replicas - setting.replicas)).toBeLessThanOrEqual(
        Math.max(0, Math.abs(setting.replicas - plan.replicas) - 1),
      );
      // A grain of ten, twice.
      if (again.replicas === setting.replicas) expect(Math.abs(again.cpu - setting.cpu)).toBeLessThanOrEqual(20);
    }),
    { numRuns: 500 },
  );
});

test("settings beyond what a policy may say are shown at the edge", () => {
  expect([...encodeResidual({ ...plan, cpu: millicores(1_000 * TRUST ** 2) }, centre())]).toEqual([1, 0]);
  expect([...encodeResidual({ ...plan, replicas: 12, cpu: millicores(10) }, centre())]).toEqual([-1, 1]);
});
