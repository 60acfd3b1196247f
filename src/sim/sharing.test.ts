import fc from "fast-check";
import { expect, test } from "vitest";
import { besideStressor, maxMinShares, reachOf, type Sharing } from "./sharing.ts";

const shares = (capacity: number, demands: readonly number[], weights = demands.map(() => 1)) => {
  const out = new Float64Array(demands.length);
  const rest: Sharing = { slack: 0, level: 0 };
  const problem = { capacity, count: demands.length, demands: Float64Array.from(demands) };
  maxMinShares({ ...problem, weights: Float64Array.from(weights) }, out, rest);
  return { out: [...out], slack: rest.slack, rest };
};

test("everybody gets all that is wanted while there is enough", () => {
  expect(shares(10, [1, 2, 3])).toMatchObject({ out: [1, 2, 3], slack: 4 });
});

test("the classic example: 10 among 2, 2.6, 4 and 5", () => {
  // Of 2.5 each, 2 is served; of 8/3 each, 2.6; the last two share 5.4.
  const { out, slack } = shares(10, [2, 2.6, 4, 5]);
  expect(out[0]).toBe(2);
  expect(out[1]).toBe(2.6);
  expect(out[2]).toBeCloseTo(2.7, 12);
  expect(out[3]).toBeCloseTo(2.7, 12);
  expect(slack).toBe(0);
});

test("weights divide what is short", () => {
  expect(shares(9, [10, 10], [1, 2]).out).toEqual([3, 6]);
});

test("who wants less than its part can have its part at once, and what is left over while nothing is short", () => {
  const short = shares(10, [1, 20, 20]);
  expect(short.rest.level).toBe(4.5);
  expect(reachOf(1, 1, short.rest)).toBe(4.5);
  expect(reachOf(4.5, 1, short.rest)).toBe(4.5);
  const easy = shares(10, [1, 2]);
  expect(reachOf(1, 1, easy.rest)).toBe(8);
});

test("nothing is shared by nobody", () => {
  expect(shares(5, [])).toMatchObject({ out: [], slack: 5 });
});

test("shares are never more than wanted or than there is; who gets less than wanted has the most per weight", () => {
  const amount = fc.double({ min: 0, max: 100, noNaN: true });
  const entry = fc.record({ demand: amount, weight: fc.double({ min: 0.1, max: 10, noNaN: true }) });
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 12 }), amount, (entries, capacity) => {
      const demands = entries.map(({ demand }) => demand);
      const weights = entries.map(({ weight }) => weight);
      const { out, slack } = shares(capacity, demands, weights);
      const sum = out.reduce((a, b) => a + b, 0);
      expect(sum + slack).toBeCloseTo(capacity, 6);
      const most = Math.max(...out.map((share, i) => share / (weights[i] as number)));
      for (const [i, share] of out.entries()) {
        expect(share).toBeLessThanOrEqual((demands[i] as number) + 1e-9);
        expect(share).toBeGreaterThanOrEqual(0);
        if (share < (demands[i] as number) - 1e-9) expect(share / (weights[i] as number)).toBeCloseTo(most, 6);
      }
    }),
  );
});

test("beside a stressor a service keeps what the stressor does not want, and at least half", () => {
  expect(besideStressor(4, 1)).toBe(3);
  expect(besideStressor(4, 3)).toBe(2);
  expect(besideStressor(4, 100)).toBe(2);
});
