import { expect, test } from "vitest";
import { seededRng } from "../../../../base/index.ts";
import type { Bursts } from "./bursts.ts";
import { burstsAfter, chanceBeyond, noBursts } from "./bursts.ts";

/** Knees around 3 whose upper tail falls off by e for each 0.1, of which only those beyond `from` can be seen. */
function after(steps: number, from: number): Bursts {
  const rng = seededRng(3).fork("bursts");
  let bursts = noBursts;
  for (let i = 0; i < steps; i++) bursts = burstsAfter(bursts, { knee: 3 - 0.1 * Math.log(1 - rng.next()), from });
  return bursts;
}

test("before anything was seen no burst is expected", () => {
  expect(chanceBeyond(noBursts, 0)).toBe(0);
});

test("of an exponential tail the chance is known far beyond what was seen", () => {
  const bursts = after(20_000, 0);
  // One in twenty is beyond 3.3, one in a thousand beyond 3.69.
  expect(Math.abs((bursts.level as number) - 3.3)).toBeLessThan(0.06);
  expect(bursts.excess).toBeGreaterThan(0.07);
  expect(bursts.excess).toBeLessThan(0.13);
  const chance = chanceBeyond(bursts, 3.69);
  expect(chance).toBeGreaterThan(0.0003);
  expect(chance).toBeLessThan(0.003);
});

test("where only great bursts can be seen the level is the same", () => {
  expect(Math.abs((after(20_000, 3.4).level as number) - (after(20_000, 0).level as number))).toBeLessThan(0.15);
});

test("minutes in which no burst could be seen leave the level where it was", () => {
  const bursts = after(5_000, 0);
  let later = bursts;
  for (let i = 0; i < 5_000; i++) later = burstsAfter(later, { knee: 5, from: 6 });
  expect((bursts.level as number) - (later.level as number)).toBeLessThan(0.01);
});

test("a chance is never more than a half: what is usual is no burst", () => {
  expect(chanceBeyond(after(1_000, 0), -10)).toBe(0.5);
});
