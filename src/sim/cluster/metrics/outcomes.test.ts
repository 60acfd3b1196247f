import fc from "fast-check";
import { expect, test } from "vitest";
import { ENDING, Outcomes } from "./outcomes.ts";
import { quantileOf } from "./select.ts";

test("a percentile is the smallest value that so many do not exceed", () => {
  const hundred = Float64Array.from({ length: 100 }, (_, i) => ((i * 37) % 100) + 1);
  const at = (quantile: number) => quantileOf(Float64Array.from(hundred), 100, quantile);
  expect([at(0.99), at(0.5), at(1), at(0), at(0.991)]).toEqual([99, 50, 100, 1, 100]);
  expect(quantileOf(new Float64Array(4), 0, 0.5)).toBeNull();
});

test("selecting finds what sorting finds", () => {
  const values = fc.array(fc.integer({ min: -5, max: 30 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, quantile) => {
      const sorted = [...list].sort((a, b) => a - b);
      const rank = Math.min(list.length - 1, Math.max(0, Math.ceil(quantile * list.length) - 1));
      // What lies behind the count must not matter.
      const room = Float64Array.from([...list, -1_000]);
      expect(quantileOf(room, list.length, quantile)).toBe(sorted[rank]);
    }),
    { seed: 8, numRuns: 400 },
  );
});

test("only the window counts, and it is open at its old end", () => {
  const outcomes = new Outcomes(60);
  outcomes.add(40, 900, ENDING.answered);
  outcomes.add(41, 100, ENDING.answered);
  outcomes.add(99, 200, ENDING.answered);
  expect(outcomes.latencyOfAnswered(99, 1)).toBe(900);
  expect(outcomes.latencyOfAnswered(100, 1)).toBe(200);
  expect(outcomes.latencyOfAnswered(160, 1)).toBeNull();
});

test("who gave up counts at the ingress with the time it took, and never as answered", () => {
  const outcomes = new Outcomes(1_000);
  outcomes.add(1, 50, ENDING.answered);
  outcomes.add(2, 400, ENDING.answered);
  outcomes.add(3, 1_000, ENDING.attemptTimedOut);
  outcomes.add(4, 2_500, ENDING.timedOut);
  outcomes.add(5, 0, ENDING.unanswered);
  expect(outcomes.latencyOfAnswered(10, 1)).toBe(400);
  expect(outcomes.latencyAtIngress(10, 1)).toBe(2_500);
  expect(outcomes.latencyAtIngress(10, 0.75)).toBe(1_000);
  // Four clients are done: one of them was answered within 100 ms.
  expect(outcomes.shareWithin(10, 100)).toBe(0.25);
  expect(outcomes.shareWithin(5_000, 100)).toBeNull();
});

test("as many as come in a window are kept", () => {
  const outcomes = new Outcomes(1_000);
  for (let at = 0; at < 5_000; at++) outcomes.add(at, at, ENDING.answered);
  // 4,000 to 4,999.
  expect(outcomes.latencyOfAnswered(4_999, 1)).toBe(4_999);
  expect(outcomes.latencyOfAnswered(4_999, 0)).toBe(4_000);
});
