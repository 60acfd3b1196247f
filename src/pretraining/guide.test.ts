import { expect, test } from "vitest";
import type { Env } from "../learn/env/index.ts";
import { box } from "../learn/env/index.ts";
import { limitsGuide, searchGuide } from "./guide.ts";

/** An observation that says nothing but the load, in multiples of the usual one. */
function under(times: number): Float32Array {
  const obs = new Float32Array(13);
  obs[10] = (times - 1) / (times + 1);
  return obs;
}

test("the guide gives CPU by load, no less than an idle pod needs, and memory and pods as they are", () => {
  const parameters = Float32Array.of(-0.5, 0.25, -1, 0.1);
  const close = (times: number) =>
    Array.from(limitsGuide(parameters, under(times)), (value) => Number(value.toFixed(3)));
  expect(close(1)).toEqual([0.1, 0.25, -1]);
  // From 100 to 4,000 millicores are ln 40 = 3.689: a doubling is 2 · 0.693 / 3.689 = 0.376 of the scale from −1 to 1.
  expect(close(2)).toEqual([0.476, 0.25, -1]);
  // A tenth of the load would be 0.1 − 1.248.
  expect(close(0.1)).toEqual([-0.5, 0.25, -1]);
  expect(close(1_000)[0]).toBe(1);
});

/** Earns most where all three numbers are right, and loses twice as fast below. */
function toyWorld(best: readonly number[]): Env<Float32Array, Float32Array> {
  let steps = 0;
  return {
    spec: { id: "Toy-v0", maxSteps: 3 },
    observationSpace: box({ low: -1, high: 1, size: 13 }),
    actionSpace: box({ low: -1, high: 1, size: 3 }),
    reset() {
      steps = 0;
      return { obs: under(1), info: {} };
    },
    step(action) {
      steps += 1;
      const reward = -best.reduce((sum, value, k) => {
        const off = (action[k] ?? 0) - value;
        return sum + (off < 0 ? -2 * off : off);
      }, 0);
      return { obs: under(1), reward, end: steps >= 3 ? "truncated" : "no" };
    },
    close() {},
  };
}

test("the search comes near the best limits, and rather above them where too little costs more", () => {
  const best = [0.3, -0.4, 0.1];
  const [b = 0, m = 0, n = 0, k = 0] = searchGuide(() => toyWorld(best));
  const found = [Math.max(b, k), m, n];
  for (const [i, value] of found.entries()) {
    expect(value).toBeGreaterThan((best[i] ?? 0) - 0.15);
    expect(value).toBeLessThan((best[i] ?? 0) + 0.35);
  }
  expect(searchGuide(() => toyWorld(best))).toEqual(Float32Array.of(b, m, n, k));
});
