import { expect, test } from "vitest";
import { type CaptainState, captainStep, captainConfig as config, freshCaptain } from "./captain.ts";

const step = (
  state: CaptainState,
  input: { at: number; peak?: number; throttled: number; limit: number; target?: number },
) =>
  captainStep(config, state, {
    target: input.target ?? 0.1,
    limit: input.limit,
    at: input.at,
    counters: { cpuPeakCores: input.peak ?? 1, cpuCfsThrottledPeriodsTotal: input.throttled },
  });

/** Has seen a steady use of one core for so many seconds, with a limit at which nothing changes. */
function steady(scrapes: number, use = 1): CaptainState {
  let state = freshCaptain(config);
  for (let at = 0; at <= scrapes; at++) state = step(state, { at, peak: use, throttled: 0, limit: use }).state;
  return state;
}

test("throttled in eight of ten periods with a target of a tenth: up by half, since three tenths are tolerated", () => {
  const state = steady(3);
  // 1 + (0.8 − 3 · 0.1)
  expect(step(state, { at: 4, throttled: 8, limit: 2 })).toMatchObject({ limit: 3, why: "throttled" });
  expect(step(state, { at: 4, throttled: 3, limit: 1 })).toMatchObject({ limit: 1, why: "kept" });
});

test("not throttled and steady at one core: down to one core from 1.5, by half at most from 4, not at all from 1.1", () => {
  const state = steady(5);
  const next = (limit: number) => step(state, { at: 6, throttled: 0, limit });
  expect(next(1.5)).toMatchObject({ limit: 1, why: "idle" });
  expect(next(4)).toMatchObject({ limit: 2, why: "idle" });
  // One core is more than nine tenths of 1.1.
  expect(next(1.1)).toMatchObject({ limit: 1.1, why: "kept" });
});

test("it falls to the peak and a margin of deviations, and the margin moves with throttling above and below the target", () => {
  let state = freshCaptain(config);
  for (const [at, peak] of [0, 1, 2].entries()) state = step(state, { at, peak, throttled: 0, limit: 2 }).state;
  // Two scrapes below a target of 0.1 took 0.2 off the first margin of 3.
  expect(state.margin).toBeCloseTo(2.8, 12);
  // Peaks of 1, 2 and 2 cores: highest 2, sample deviation √(1/3); throttled in 2 of 10 periods: margin 2.9.
  const fallen = step(state, { at: 3, peak: 2, throttled: 2, limit: 10 });
  expect(fallen.state.margin).toBeCloseTo(2.9, 12);
  expect(fallen.limit).toBe(5);
  expect(step(state, { at: 3, peak: 2, throttled: 2, limit: 5 }).limit).toBeCloseTo(2 + 2.9 * Math.sqrt(1 / 3), 12);
});

test("a step down that throttles is taken back twice over at the next scrape, and only then", () => {
  const down = step(steady(5), { at: 6, throttled: 0, limit: 1.5 });
  expect(down.limit).toBe(1);
  // From 1.5 to 1 was too far: 1.5 and another half.
  expect(step(down.state, { at: 7, throttled: 6, limit: 1 })).toMatchObject({ limit: 2, why: "taken-back" });
  const kept = step(down.state, { at: 7, throttled: 0, limit: 1 });
  expect(kept.why).toBe("kept");
  expect(step(kept.state, { at: 8, throttled: 6, limit: 1 })).toMatchObject({ why: "throttled" });
});

test("a scrape that was seen already changes nothing", () => {
  const state = steady(3);
  expect(step(state, { at: 3, throttled: 9, limit: 5 })).toEqual({ limit: 5, why: "old-scrape", state });
});

test("a scrape that was missed counts over the time it was missing", () => {
  // Eight throttled periods in two seconds are 0.4: up by a tenth.
  expect(step(steady(3), { at: 5, throttled: 8, limit: 2 }).limit).toBeCloseTo(2.2, 12);
});
