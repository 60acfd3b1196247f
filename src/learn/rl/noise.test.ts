import { expect, test } from "vitest";
import type { Rng } from "../../base/index.ts";
import { seededRng } from "../../base/index.ts";
import { createNoise } from "./noise.ts";

/** A stream whose normals are given, so that a draw can be worked out by hand. */
function normals(...draws: number[]): Rng {
  return { ...seededRng(0), normal: () => draws.shift() ?? Number.NaN };
}

test("Ornstein–Uhlenbeck noise follows its recurrence", () => {
  const config = { kind: "ornstein-uhlenbeck", sigma: 0.5, theta: 0.2, dt: 0.25 } as const;
  const noise = createNoise(config, 1);
  const rng = normals(1, -2);
  const first = Float32Array.of(10);
  noise.addTo(first, rng);
  // x₁ = 0 + 0.5·√0.25·1 = 0.25; x₂ = 0.25·(1 − 0.05) + 0.25·(−2) = −0.2625.
  expect(first[0]).toBe(10.25);
  const second = Float32Array.of(0);
  noise.addTo(second, rng);
  expect(second[0]).toBeCloseTo(-0.2625, 7);
});

test("Gaussian noise has no memory and the stated spread", () => {
  const noise = createNoise({ kind: "gaussian", sigma: 2 }, 1);
  const rng = normals(1, -1);
  const action = Float32Array.of(0);
  noise.addTo(action, rng);
  expect(action[0]).toBe(2);
  action[0] = 0;
  noise.addTo(action, rng);
  expect(action[0]).toBe(-2);
});

test("a reset forgets, a restored state goes on", () => {
  const config = { kind: "ornstein-uhlenbeck", sigma: 1, theta: 0.5, dt: 1 } as const;
  const noise = createNoise(config, 1);
  const rng = normals(2, 0, 0);
  noise.addTo(new Float32Array(1), rng);
  const kept = noise.state();
  noise.reset();
  const after = new Float32Array(1);
  noise.addTo(after, rng);
  expect(after[0]).toBe(0);
  noise.restore(kept);
  noise.addTo(after, rng);
  expect(after[0]).toBe(1);
});

test("no noise leaves the action and the stream alone", () => {
  const rng = seededRng(1);
  const before = rng.state();
  const action = Float32Array.of(0.3);
  createNoise({ kind: "none" }, 1).addTo(action, rng);
  expect(action[0]).toBe(Math.fround(0.3));
  expect(rng.state()).toEqual(before);
});
