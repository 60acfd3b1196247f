import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../../../../base/index.ts";
import { conditionsOf } from "./conditions.ts";
import type { Belief } from "./knees.ts";
import { capacityModel } from "./knees.ts";
import type { Points } from "./points.ts";
import { bend, riskAt, strainAt } from "./points.ts";
import { MOST_STRAIN } from "./strain.ts";

const model = capacityModel({ cpu: { min: 100, max: 4_000 } });

interface Truth {
  readonly base: number;
  readonly size: number;
  readonly free: number;
  readonly rate: number;
}
const plain: Truth = { base: -0.25, size: 800, free: 250, rate: Number.POSITIVE_INFINITY };

const onePoint = ({ base, size, free, rate }: Truth): Points => ({
  each: Float64Array.of(Math.log(size), Math.log(free), Math.log(rate), base, 1),
  noise: 1,
});

interface Given {
  readonly size: number;
  readonly pods?: number;
  readonly load?: number;
}
const WORK = 50;
const given = ({ size, pods = 2, load = 10 }: Given) => conditionsOf({ size, pods, load, work: WORK });

/** What the formula would have measured, with noise of 0.03. */
function lives(truth: Truth, steps: readonly Given[], from: Belief = model.fresh): Belief {
  const noise = seededRng(7).fork("noise");
  return steps.reduce((belief, step) => {
    const strain = strainAt(onePoint(truth), given(step)) + 0.03 * noise.normal();
    return model.after(belief, Math.min(strain, MOST_STRAIN), given(step));
  }, from);
}
const times = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));

test("strain is base with plenty, and rises by the slopes far below the knees", () => {
  const at = (step: Given) => strainAt(onePoint({ ...plain, free: 1 }), given(step));
  expect(at({ size: 4_000, load: 0 })).toBe(-0.25);
  // 200 of the 800 millicores that a request uses at once: four times as long.
  expect(at({ size: 200, load: 0 })).toBeCloseTo(-0.25 + Math.log(4), 10);
  // 10 requests a second of 50 each on two pods leave 50 of 300: a fifth of the knee at 250, and 300 is below 800.
  expect(strainAt(onePoint(plain), given({ size: 300 }))).toBeCloseTo(
    -0.25 + Math.log(800 / 300) + 0.9 * Math.log(5),
    10,
  );
  // Twice the rate that threads take, at slope 3.
  const limited = onePoint({ ...plain, size: 1, free: 1, rate: 5 });
  expect(strainAt(limited, given({ size: 4_000, pods: 1, load: 10 }))).toBeCloseTo(-0.25 + 3 * Math.log(2), 10);
});

test("around a knee the rise bends: a quarter of 0.4 right at it", () => {
  expect([-0.5, -0.4, 0, 0.4, 0.5].map((x) => Number(bend(x).toFixed(12)))).toEqual([0, 0, 0.1, 0.4, 0.5]);
});

test("a risk is a half at the SLO, and less than one in a thousand at four fifths of it with many requests", () => {
  const at = (base: number) => riskAt(onePoint({ ...plain, size: 1, free: 1, base }), given({ size: 4_000, load: 50 }));
  expect(at(0)).toBeCloseTo(0.5, 10);
  expect(at(-0.22)).toBeLessThan(0.001);
  expect(at(0.6)).toBeGreaterThan(1);
});

test("knees that are passed are learned: within 0.06 near them, and below them on the safe side", () => {
  const sizes = [1_500, 1_000, 700, 600, 900, 1_200];
  const belief = lives(
    plain,
    times(240, (i) => ({ size: sizes[Math.floor(i / 10) % sizes.length] as number, load: 4 + (i % 7) })),
  );
  const off = (size: number): number =>
    strainAt(model.pointsOf(belief), given({ size })) - strainAt(onePoint(plain), given({ size }));
  for (const size of [850, 1_100, 1_400, 2_000]) expect(Math.abs(off(size))).toBeLessThan(0.06);
  for (const size of [600, 700]) {
    expect(off(size)).toBeGreaterThan(-0.03);
    expect(off(size)).toBeLessThan(0.2);
  }
});

test("of a knee that was never passed nothing is known: half of what was tried is a risk", () => {
  const belief = lives(
    plain,
    times(200, () => ({ size: 2_000 })),
  );
  const points = model.pointsOf(belief);
  expect(riskAt(points, given({ size: 2_000 }))).toBeLessThan(0.01);
  expect(riskAt(points, given({ size: 700 }))).toBeGreaterThan(0.05);
});

test("a lack that lasts is not explained away: more is still expected to help", () => {
  const plenty = lives(
    plain,
    times(60, () => ({ size: 2_000 })),
  );
  const starved = lives(
    plain,
    times(600, () => ({ size: 500 })),
    plenty,
  );
  const points = model.pointsOf(starved);
  expect(strainAt(points, given({ size: 500 })) - strainAt(points, given({ size: 2_000 }))).toBeGreaterThan(0.3);
});

test("what piled up is only known to be much: no base moves by it", () => {
  const before = lives(
    plain,
    times(60, () => ({ size: 1_500 })),
  );
  const after = times(40, () => 0).reduce<Belief>(
    (belief) => model.after(belief, MOST_STRAIN, given({ size: 1_500 })),
    before,
  );
  expect(after.bases).toEqual(before.bases);
});

test("a slower release is learned within half an hour", () => {
  const before = lives(
    plain,
    times(400, (i) => ({ size: i % 20 < 10 ? 1_600 : 900 })),
  );
  const slower = { ...plain, base: plain.base + 0.15 };
  const after = lives(
    slower,
    times(120, () => ({ size: 1_600 })),
    before,
  );
  const is = strainAt(onePoint(slower), given({ size: 1_600 }));
  expect(strainAt(model.pointsOf(before), given({ size: 1_600 }))).toBeLessThan(is - 0.1);
  expect(Math.abs(strainAt(model.pointsOf(after), given({ size: 1_600 })) - is)).toBeLessThan(0.08);
});

test("risk never rises with the size of a pod, nor falls with the load, whatever was learned", () => {
  const step = fc.record({
    size: fc.integer({ min: 100, max: 4_000 }),
    pods: fc.integer({ min: 1, max: 6 }),
    load: fc.double({ min: 0.05, max: 60, noNaN: true }),
  });
  const seen = fc.array(fc.tuple(step, fc.double({ min: -1, max: MOST_STRAIN, noNaN: true })), { maxLength: 15 });
  fc.assert(
    fc.property(seen, step, fc.double({ min: 1, max: 3, noNaN: true }), (steps, one, more) => {
      const belief = steps.reduce((before, [at, strain]) => model.after(before, strain, given(at)), model.fresh);
      const points = model.pointsOf(belief);
      expect(riskAt(points, given({ ...one, size: one.size * more }))).toBeLessThanOrEqual(
        riskAt(points, given(one)) + 1e-9,
      );
      // At the same number of requests per percentile, so that only waiting differs.
      const busier = { ...given({ ...one, load: one.load * more }), load: one.load };
      expect(riskAt(points, busier)).toBeGreaterThanOrEqual(riskAt(points, given(one)) - 1e-9);
    }),
    { seed: 11, numRuns: 60 },
  );
});

test("a belief survives JSON, and one of another grid is not believed", () => {
  const belief = lives(
    plain,
    times(50, (i) => ({ size: 1_500 - 10 * i })),
  );
  const copy = JSON.parse(JSON.stringify(belief)) as Belief;
  expect(model.after(copy, -0.1, given({ size: 900 }))).toEqual(model.after(belief, -0.1, given({ size: 900 })));
  expect(JSON.stringify(belief).length).toBeLessThan(16_000);
  const other = capacityModel({ cpu: { min: 100, max: 4_000 } });
  expect(other.pointsOf({ ...belief, weights: [0], bases: [0] }).each).toEqual(other.pointsOf(other.fresh).each);
});
