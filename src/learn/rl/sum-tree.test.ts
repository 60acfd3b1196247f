import fc from "fast-check";
import { expect, test } from "vitest";
import { SumTree } from "./sum-tree.ts";

test("a mass falls on the leaf whose span of the running sum holds it", () => {
  const tree = new SumTree(5);
  [3, 0, 1, 2, 4].forEach((weight, i) => {
    tree.set(i, weight);
  });
  expect(tree.total).toBe(10);
  // Spans: 0 → [0,3), 2 → [3,4), 3 → [4,6), 4 → [6,10); leaf 1 has none.
  expect([0, 2.9, 3, 3.9, 4, 5.9, 6, 9.9].map((mass) => tree.find(mass))).toEqual([0, 0, 2, 2, 3, 3, 4, 4]);
  tree.set(0, 0);
  expect(tree.total).toBe(7);
  expect(tree.find(0)).toBe(2);
});

test("a draw agrees with a plain running sum and never lands on a leaf without weight", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 1e3, noNaN: true })), {
        minLength: 1,
        maxLength: 40,
      }),
      fc.double({ min: 0, max: 0.999999999, noNaN: true }),
      (weights, u) => {
        fc.pre(weights.some((w) => w > 0));
        const tree = new SumTree(weights.length);
        weights.forEach((weight, i) => {
          tree.set(i, weight);
        });
        const found = tree.find(u * tree.total);
        expect(weights[found]).toBeGreaterThan(0);
        const below = weights.slice(0, found).reduce((a, b) => a + b, 0);
        expect(below).toBeLessThanOrEqual(u * tree.total * (1 + 1e-9) + 1e-9);
        expect(below + (weights[found] ?? 0)).toBeGreaterThanOrEqual(u * tree.total * (1 - 1e-9) - 1e-9);
      },
    ),
  );
});
