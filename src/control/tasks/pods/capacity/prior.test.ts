import { expect, test } from "vitest";
import type { FirstSight, PriorModel } from "./prior.ts";
import { likelihoodFrom, looksOf } from "./prior.ts";

const MIB = 1_048_576;
const seen: FirstSight = { work: Math.E, load: 1, latency: Math.E ** 2, strain: -0.3, memory: 100 * MIB };

/** One known workload that computes a lot, and one that hardly does; the first has no limit of its own. */
const model: PriorModel = {
  spread: [1, 1, 1, 1, 1],
  width: 0.5,
  known: [
    { name: "heavy", looks: looksOf({ ...seen, work: Math.E ** 4 }), knees: [[7, 6, null, 1]] },
    { name: "light", looks: looksOf(seen), knees: [[5, 5, 3, 1]] },
  ],
};

test("a workload looks like the logarithms of what is measured of it", () => {
  expect(looksOf(seen)).toEqual([1, 2, 0, -0.3, Math.log(100)]);
});

test("knees of workloads that look alike become likely, and no others impossible", () => {
  const likely = likelihoodFrom(model, seen);
  // Three deviations apart: exp(−9 / (2 · 0.25)) of the share goes to the other one.
  expect(likely(5, 5, 3)).toBeCloseTo(Math.log(0.2 + 0.8 * 20), 3);
  expect(likely(7, 6, Number.POSITIVE_INFINITY)).toBeCloseTo(Math.log(0.2), 3);
  expect(likely(5, 5, Number.POSITIVE_INFINITY)).toBeCloseTo(Math.log(0.2), 3);
  const other = likelihoodFrom(model, { ...seen, work: Math.E ** 4 });
  expect(other(7, 6, Number.POSITIVE_INFINITY)).toBeGreaterThan(other(5, 5, 3));
});

test("without a width all known workloads count alike, whatever this one looks like", () => {
  const pooled = likelihoodFrom({ ...model, width: null }, seen);
  expect(pooled(5, 5, 3)).toBeCloseTo(Math.log(0.2 + 0.8 * 10), 6);
  expect(pooled(7, 6, Number.POSITIVE_INFINITY)).toBeCloseTo(pooled(5, 5, 3), 6);
});
