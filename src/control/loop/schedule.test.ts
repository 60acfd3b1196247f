import { describe, expect, test } from "vitest";
import type { Ms } from "../../base/index.ts";
import { clockJump, nextTurn, phaseOf } from "./schedule.ts";

const ms = (n: number) => n as Ms;

describe("turns", () => {
  const turns = { start: ms(1_000), phase: ms(40), period: ms(100) };

  test("the first turn is one phase after the start, and each further one a period later", () => {
    expect(nextTurn(turns, ms(1_000), -1)).toEqual({ due: 1_040, number: 0 });
    expect(nextTurn(turns, ms(1_041), 0)).toEqual({ due: 1_140, number: 1 });
  });

  test("a turn that is due this very moment is taken, but never twice", () => {
    expect(nextTurn(turns, ms(1_140), 0).due).toBe(1_140);
    expect(nextTurn(turns, ms(1_140), 1).due).toBe(1_240);
  });

  test("missed turns are left out and not made up for", () => {
    // Asleep from turn 0 until 1,555: turns 1 to 5 (1,140 to 1,540) have passed.
    expect(nextTurn(turns, ms(1_555), 0)).toEqual({ due: 1_640, number: 6 });
  });

  test.each([7, 100, 1_000])(
    "the turns of %i agents are spread: no tenth of the period has twice its share",
    (count) => {
      const tenths = new Array<number>(10).fill(0);
      for (let i = 0; i < count; i++) tenths[Math.floor(phaseOf(i, ms(10)))]! += 1;
      expect(Math.max(...tenths)).toBeLessThanOrEqual(Math.ceil((2 * count) / 10));
      expect(tenths.reduce((a, b) => a + b)).toBe(count);
    },
  );
});

describe("a jump of the wall clock", () => {
  const before = { now: ms(10_000), monotonic: ms(500) };
  const later = (now: number) => ({ now: ms(now), monotonic: ms(15_500) });

  test("is the difference to the monotonic clock, with its sign, beyond the tolerance", () => {
    expect(clockJump(before, later(25_000), ms(2_000))).toBeUndefined();
    expect(clockJump(before, later(27_000), ms(2_000))).toBeUndefined();
    expect(clockJump(before, later(27_001), ms(2_000))).toBe(2_001);
    expect(clockJump(before, later(10_000), ms(2_000))).toBe(-15_000);
  });

  test("is also what a clock says that says NaN", () => {
    expect(clockJump(before, later(Number.NaN), ms(2_000))).toBeNaN();
  });
});
