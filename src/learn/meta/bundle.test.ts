import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Bundle, bestOf } from "./bundle.ts";

const rewarded = (...rewards: number[]) => rewards.map((reward, age) => ({ reward, age }));

describe("the bundle of an environment", () => {
  test("holds the highest rewards, best first, and of equal ones the oldest", () => {
    const items = rewarded(1, 5, 3, 5, 3, 9);
    // 9 came last; of the 5s ages 1 and 3 in this order; of the 3s only the older (age 2) has room.
    expect(bestOf(items, 4).map(({ age }) => age)).toEqual([5, 1, 3, 2]);
    expect(items[0]?.age).toBe(0);
  });

  test("is twenty trajectories unless told otherwise", () => {
    const many = rewarded(...Array.from({ length: 25 }, (_, i) => i));
    expect(bestOf(many).map(({ reward }) => reward)).toEqual(Array.from({ length: 20 }, (_, i) => 24 - i));
    expect(new Bundle().size).toBe(20);
  });

  test("says what was dropped, and refuses one that ties with the worst of a full bundle", () => {
    const [first, second, better, tie] = rewarded(2, 1, 3, 2) as [Item, Item, Item, Item];
    const bundle = new Bundle<Item>(2);
    expect(bundle.insert(first)).toEqual({ kept: true, rank: 0, dropped: undefined });
    expect(bundle.insert(second)).toEqual({ kept: true, rank: 1, dropped: undefined });
    expect(bundle.insert(better)).toEqual({ kept: true, rank: 0, dropped: second });
    expect(bundle.insert(tie)).toEqual({ kept: false });
    expect(bundle.items).toEqual([better, first]);
  });

  test("is the same one by one as all at once", () => {
    const rewards = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 30 });
    fc.assert(
      fc.property(rewards, fc.integer({ min: 1, max: 8 }), (given, size) => {
        const items = rewarded(...given);
        const bundle = new Bundle<Item>(size);
        for (const item of items) bundle.insert(item);
        expect(bundle.items).toEqual(bestOf(items, size));
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  test("has a whole size from 1 on", () => {
    for (const size of [0, 1.5, Number.NaN]) {
      expect(() => new Bundle(size)).toThrow(expect.objectContaining({ code: "meta.config" }));
      expect(() => bestOf([], size)).toThrow(expect.objectContaining({ code: "meta.config" }));
    }
  });
});

type Item = { readonly reward: number; readonly age: number };
