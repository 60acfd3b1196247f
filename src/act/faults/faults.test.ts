import fc from "fast-check";
import { expect, test } from "vitest";
import { type Ms, milliseconds, seconds, seededRng } from "../../base/index.ts";
import {
  breakingIntensity,
  endOf,
  type FaultContext,
  type FaultState,
  faultKinds,
  faultLimits,
  freshFaultState,
  guardInjection,
  type Injection,
  intensityAt,
  kindFits,
  labelOf,
  randomCampaign,
  stopInjection,
  windowedCampaign,
} from "./index.ts";

const injection: Injection = {
  id: "a",
  kind: "cpu",
  target: { on: "instance", service: "text-service", replica: 0 },
  start: seconds(10),
  duration: seconds(20),
  pattern: "constant",
  intensity: 0.8,
};
const context: FaultContext = { limits: faultLimits, state: freshFaultState, now: seconds(0), knows: () => true };
const judge = (change: Partial<Injection>, more: Partial<FaultContext> = {}) =>
  guardInjection({ ...injection, ...change }, { ...context, ...more });

test("every injection is over by its end, whatever its pattern, and nothing before its start", () => {
  for (const pattern of ["constant", "ramp", "pulse"] as const) {
    const one = { ...injection, pattern };
    expect(intensityAt(one, 9_999)).toBe(0);
    expect(intensityAt(one, 30_000)).toBe(0);
    expect(intensityAt(one, 1e12)).toBe(0);
  }
});

test("a ramp is at half its intensity halfway, a pulse is on in the first second and off in the second", () => {
  expect(intensityAt({ ...injection, pattern: "ramp" }, 20_000)).toBeCloseTo(0.4, 12);
  expect(intensityAt({ ...injection, pattern: "pulse" }, 10_500)).toBe(0.8);
  expect(intensityAt({ ...injection, pattern: "pulse" }, 11_500)).toBe(0);
});

test("what is within the limits passes as it is", () => {
  const { injection: passed, changed, refused } = judge({});
  expect(passed).toEqual(injection);
  expect(changed).toEqual([]);
  expect(refused).toBeUndefined();
});

test("too strong and too long are clamped, and it is said", () => {
  const limits = { ...faultLimits, maxIntensity: 0.5, maxDuration: seconds(5) };
  const verdict = judge({}, { limits });
  expect(verdict.injection).toMatchObject({ intensity: 0.5, duration: 5_000 });
  expect(verdict.changed).toEqual([
    { field: "duration", from: 20_000, to: 5_000 },
    { field: "intensity", from: 0.8, to: 0.5 },
  ]);
});

test("one that is late begins now and ends when it was to end", () => {
  expect(judge({}, { now: seconds(15) }).injection).toMatchObject({ start: 15_000, duration: 15_000 });
});

test("what cannot be meant is refused, with the reason", () => {
  const refusal = (change: Partial<Injection>, more: Partial<FaultContext> = {}) => judge(change, more).refused;
  expect(refusal({ intensity: Number.NaN })).toBe("not-finite");
  expect(refusal({ duration: milliseconds(0) })).toBe("already-over");
  expect(refusal({}, { now: seconds(30) })).toBe("already-over");
  expect(refusal({ kind: "workload-variation" })).toBe("wrong-target");
  expect(refusal({}, { knows: () => false })).toBe("unknown-target");
  expect(refusal({}, { limits: { ...faultLimits, protectedTargets: ["text-service-0"] } })).toBe("protected-target");
  const state = { admitted: [injection] };
  expect(refusal({}, { state })).toBe("duplicate");
  expect(refusal({ id: "b" }, { state, limits: { ...faultLimits, maxActive: 1 } })).toBe("blast-radius");
  const resting = { ...faultLimits, cooldown: seconds(60) };
  expect(refusal({ id: "b", start: seconds(40) }, { state, limits: resting })).toBe("cool-down");
  expect(refusal({ id: "b", start: seconds(91) }, { state, limits: resting })).toBeUndefined();
  const once = { ...faultLimits, budget: { members: 1, window: seconds(60) } };
  expect(refusal({ id: "b", start: seconds(40) }, { state, limits: once })).toBe("budget");
});

test("the guard never lets more be in force at once than its limit, nor past the longest duration", () => {
  const wish = fc.record({ start: fc.integer({ min: 0, max: 60 }), duration: fc.integer({ min: 1, max: 90 }) });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (wishes, maxActive) => {
      const limits = { ...faultLimits, maxActive, maxDuration: seconds(30) };
      let state: FaultState = freshFaultState;
      const passed: Injection[] = [];
      for (const [i, { start, duration }] of wishes.entries()) {
        const verdict = judge(
          { id: String(i), start: seconds(start), duration: seconds(duration) },
          { limits, state, now: milliseconds(0) },
        );
        state = verdict.state;
        if (verdict.injection !== undefined) passed.push(verdict.injection);
      }
      for (let at = 0; at < 160_000; at += 500) {
        const active = passed.filter((one) => one.start <= at && endOf(one) > at);
        expect(active.length).toBeLessThanOrEqual(maxActive);
      }
      for (const one of passed) expect(one.duration).toBeLessThanOrEqual(30_000);
    }),
    { numRuns: 40 },
  );
});

const targets = [
  { on: "instance", service: "a", replica: 0 },
  { on: "instance", service: "b", replica: 0 },
] as const;

test("random campaigns have gaps with the mean of three seconds, and every kind fits its target", () => {
  const drawn = randomCampaign(seededRng(1), { from: seconds(0), until: seconds(30_000), targets });
  // 0.33 per second over 30,000 s: 9,900 expected, with a standard deviation of 99.5.
  expect(Math.abs(drawn.length - 9_900)).toBeLessThan(400);
  expect(new Set(drawn.map(({ kind }) => kind))).toEqual(new Set(faultKinds));
  for (const one of drawn) {
    expect(kindFits(one.kind, one.target)).toBe(true);
    expect(one.intensity).toBeLessThan(1);
    expect(endOf(one)).toBeLessThanOrEqual(30_000_000);
  }
});

test("the same seed draws the same campaign", () => {
  const draw = (seed: number) => randomCampaign(seededRng(seed), { from: seconds(0), until: seconds(60), targets });
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test("windowed campaigns have every kind in each window of ten seconds", () => {
  const drawn = windowedCampaign(seededRng(1), { from: seconds(0), until: seconds(25), targets });
  expect(drawn).toHaveLength(21);
  expect(drawn.filter(({ start }) => start === seconds(10)).map(({ kind }) => kind)).toEqual([...faultKinds]);
  expect(drawn.filter(({ start }) => start === seconds(20)).every(({ duration }) => duration === 5_000)).toBe(true);
});

test("the breaking intensity is found to within its tolerance, and is null where nothing breaks", () => {
  const found = breakingIntensity((intensity) => intensity >= 0.37, { tolerance: 1 / 64 }) as number;
  expect(found).toBeGreaterThanOrEqual(0.37);
  expect(found - 0.37).toBeLessThan(1 / 64);
  expect(breakingIntensity(() => false)).toBeNull();
});

test("an injection is a culprit from the breaking intensity on; a ramp from the moment it reaches it", () => {
  expect(labelOf(injection, 0.8)).toMatchObject({
    isCulprit: true,
    from: 10_000,
    to: 30_000,
    target: "text-service-0",
  });
  expect(labelOf(injection, 0.81)).toMatchObject({ isCulprit: false, from: 10_000, to: 10_000 });
  expect(labelOf(injection, null).isCulprit).toBe(false);
  expect(labelOf({ ...injection, pattern: "ramp" }, 0.2)).toMatchObject({ isCulprit: true, from: 15_000 as Ms });
});

test("an injection that is called off is over at once, and makes room for another", () => {
  const limits = { ...faultLimits, maxActive: 1 };
  const { state } = judge({}, { limits });
  const now = seconds(15);
  expect(judge({ id: "b", start: now }, { limits, state, now }).refused).toBe("blast-radius");
  const stopped = stopInjection("a", { state, now });
  expect(stopped?.injection).toEqual({ ...injection, duration: 5_000 });
  expect(intensityAt(stopped?.injection ?? injection, now)).toBe(0);
  expect(judge({ id: "b", start: now }, { limits, state: stopped?.state ?? state, now }).refused).toBeUndefined();
  expect(stopInjection("a", { state: stopped?.state ?? state, now })).toBeUndefined();
  expect(stopInjection("none", { state, now })).toBeUndefined();
});
