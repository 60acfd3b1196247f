import { describe, expect, test } from "vitest";
import { decisionsAt, operatingCurve, pooledOver, type Scored, truePositivesAt } from "./localization-figures.ts";

const culprit = (score: number): Scored => ({ score, isCulprit: true });
const other = (score: number): Scored => ({ score, isCulprit: false });

describe("the operating curve", () => {
  // By falling score: culprit, other, culprit, other, other.
  const samples = [other(0.1), culprit(0.9), other(0.7), culprit(0.5), other(0.3)];

  test("goes up with culprits and right with others", () => {
    expect(operatingCurve(samples)).toEqual([
      { falsePositives: 0, truePositives: 0 },
      { falsePositives: 0, truePositives: 0.5 },
      { falsePositives: 1 / 3, truePositives: 0.5 },
      { falsePositives: 1 / 3, truePositives: 1 },
      { falsePositives: 2 / 3, truePositives: 1 },
      { falsePositives: 1, truePositives: 1 },
    ]);
  });

  test("takes equal scores together, since no threshold parts them", () => {
    expect(operatingCurve([culprit(0.5), other(0.5)])).toEqual([
      { falsePositives: 0, truePositives: 0 },
      { falsePositives: 1, truePositives: 1 },
    ]);
  });

  test("never finds a culprit that was not suspected", () => {
    expect(truePositivesAt([culprit(-1), culprit(0.9), other(0)], 1)).toBe(0.5);
  });

  test("is read at the most false positives that are allowed", () => {
    expect(truePositivesAt(samples, 0)).toBe(0.5);
    expect(truePositivesAt(samples, 0.33)).toBe(0.5);
    expect(truePositivesAt(samples, 0.34)).toBe(1);
  });
});

test("decisions count who is named and who is right", () => {
  const samples = [culprit(0.9), culprit(0.2), culprit(-1), other(0.6), other(0.5), other(0.1)];
  // Named: 0.9, 0.6 and 0.5. Right: the first, and the other with 0.1.
  expect(decisionsAt(samples, 0.5)).toEqual({ right: 2, all: 6, culprits: 3, found: 1, named: 3 });
});

test("a pooled figure is of all seeds, and its interval comes from drawing seeds", () => {
  const sizes = [[1, 1, 1, 1], [0], [0]];
  const share = (drawn: readonly (readonly number[])[]) => {
    const all = drawn.flat();
    return all.reduce((sum, value) => sum + value, 0) / all.length;
  };
  const found = pooledOver(sizes, share, { id: "test", unit: "x" });
  expect(found).toMatchObject({ n: 3, unit: "x", lo: 0, hi: 1 });
  expect(found.mean).toBeCloseTo(4 / 6, 12);
});
