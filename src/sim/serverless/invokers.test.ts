import fc from "fast-check";
import { expect, test } from "vitest";
import { hashOf, probingOrder } from "./invokers.ts";

test("a hash of 13 among ten invokers starts at home 3 and goes on by 3: OpenWhisk's own example", () => {
  expect([...probingOrder(13, 10)]).toEqual([3, 6, 9, 2, 5, 8, 1, 4, 7, 0]);
});

test("whatever the hash and the number, every invoker is met exactly once", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 40 }), (hash, count) => {
      expect(new Set(probingOrder(hash, count)).size).toBe(count);
    }),
  );
});

test("names spread over homes: of 400 functions none of 20 invokers is home to more than 40", () => {
  const homes = new Array<number>(20).fill(0);
  for (let i = 0; i < 400; i++) homes[hashOf(`function-${i}`) % 20]! += 1;
  expect(Math.max(...homes)).toBeLessThan(40);
});
