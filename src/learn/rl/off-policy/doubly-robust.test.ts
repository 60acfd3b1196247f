import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { effectiveSteps, fitBehaviour, importanceWeights, logRatio, shareOutside } from "./doubly-robust.ts";
import type { StepTable } from "./step-table.ts";

const none = new Float64Array(0);
const empty = { rewards: none, goesOn: new Uint8Array(0), before: none, after: none, wouldDoNext: none };

function tableOf(options: Pick<StepTable, "starts" | "done" | "wouldDo">): StepTable {
  return { ...empty, rows: options.done.length, seen: 1, actions: 1, ...options };
}

test("the ratio of two normals by hand", () => {
  // Same widths: at the behaviour's mean, one width away from the policy's, the ratio is e^−½.
  expect(logRatio({ did: 0.2, expected: 0.2, sigma: 0.1, would: 0.3, width: 0.1 })).toBeCloseTo(-0.5, 9);
  expect(logRatio({ did: 0.3, expected: 0.2, sigma: 0.1, would: 0.3, width: 0.1 })).toBeCloseTo(0.5, 9);
  // At both means, a policy of half the width is twice as dense.
  expect(logRatio({ did: 0, expected: 0, sigma: 0.2, would: 0, width: 0.1 })).toBeCloseTo(Math.LN2, 9);
});

test("weights are products over the window, within the episode, of ratios that are clipped one by one", () => {
  // Ratios (same widths of 1, behaviour at 0, policy at 1, so log ratio = did − ½): e^½, e^−½, then a new episode e^9.5.
  const table = tableOf({
    starts: Int32Array.of(0, 2, 3),
    done: Float64Array.of(1, 0, 10),
    wouldDo: Float64Array.of(1, 1, 1),
  });
  const behaviour = { mean: new Float64Array(3), sigma: Float64Array.of(1) };
  const options = { clip: 5, policyWidth: 1, sigmaFloor: 0.05 };
  const [a = 0, b = 0, c = 0] = importanceWeights(table, behaviour, { ...options, window: 2 });
  expect([a, b, c]).toEqual([expect.closeTo(Math.exp(0.5), 9), expect.closeTo(1, 9), expect.closeTo(5, 9)]);
  const [, alone = 0] = importanceWeights(table, behaviour, { ...options, window: 1 });
  expect(alone).toBeCloseTo(Math.exp(-0.5), 9);
});

test("effective steps by hand: equal weights count all, one weight counts one, equal but tiny ones next to nothing", () => {
  expect(effectiveSteps(Float64Array.of(1, 1, 1, 1))).toBe(4);
  expect(effectiveSteps(Float64Array.of(4, 0, 0, 0))).toBe(1);
  expect(effectiveSteps(Float64Array.of(2, 2, 0, 0))).toBe(2);
  expect(effectiveSteps(Float64Array.of(1e-6, 1e-6, 1e-6, 1e-6))).toBeCloseTo(4e-6, 12);
  expect(effectiveSteps(new Float64Array(4))).toBe(0);
});

test("the behaviour's fit finds the line and the spread of a noisy one, and floors the spread of an exact one", () => {
  const rng = seededRng(5);
  const rows = 2_000;
  const x = Float64Array.from({ length: rows }, () => rng.normal());
  const features = new Float64Array(2 * rows);
  x.forEach((value, i) => {
    features.set([1, value], 2 * i);
  });
  const fitOf = (noise: number) => {
    const done = x.map((value) => 0.1 + 0.3 * value + noise * rng.normal());
    const table = tableOf({ starts: Int32Array.of(0, rows), done, wouldDo: done });
    return fitBehaviour(table, { features, size: 2 }, { ridge: 1e-6, sigmaFloor: 0.05 });
  };
  const noisy = fitOf(0.2);
  expect(noisy.sigma[0]).toBeCloseTo(0.2, 2);
  expect(noisy.mean[0]).toBeCloseTo(0.1 + 0.3 * (x[0] ?? 0), 1);
  const exact = fitOf(0);
  expect(exact.sigma[0]).toBe(0.05);
  expect(exact.mean[7]).toBeCloseTo(0.1 + 0.3 * (x[7] ?? 0), 4);
});

test("what lies three widths or more from the behaviour's mean is outside", () => {
  const behaviour = { mean: Float64Array.of(0, 0, 0, 0), sigma: Float64Array.of(0.1) };
  const wouldDo = Float64Array.of(0, 0.29, -0.31, 0.9);
  expect(shareOutside({ wouldDo, actions: 1, rows: 4 }, behaviour, 3)).toBe(0.5);
});
