import { expect, test } from "vitest";
import { planarMap } from "./pca.ts";
import { areaUnderCurve, rankByCosine } from "./ranking.ts";

test("the area is the share of pairs in the right order, ties counting half", () => {
  expect(areaUnderCurve([3, 4], [1, 2])).toBe(1);
  expect(areaUnderCurve([1, 2], [3, 4])).toBe(0);
  expect(areaUnderCurve([1, 1], [1, 1])).toBe(0.5);
  // Of the six pairs (2,1) (2,2) (2,3) (4,1) (4,2) (4,3) four are right, one is a tie.
  expect(areaUnderCurve([2, 4], [1, 2, 3])).toBeCloseTo(4.5 / 6, 12);
  expect(areaUnderCurve([1], [])).toBeNaN();
});

test("two clusters of directions rank perfectly, whatever their lengths, and a loner has no neighbour to be right", () => {
  const members = [
    { vector: [1, 0.1], class: "a" },
    { vector: [5, 0.4], class: "a" },
    { vector: [0.1, 2], class: "b" },
    { vector: [0, 9], class: "b" },
    { vector: [-1, -1], class: "c" },
  ];
  const { area, nearest, nearestByChance, pairs } = rankByCosine(members);
  expect(area).toBe(1);
  expect(nearest).toBe(1);
  // One of the four others, for each of the four that have company.
  expect(nearestByChance).toBeCloseTo(0.25, 12);
  expect(pairs).toEqual({ together: 2, apart: 8 });
});

test("a map shows the two directions of most variance, longest first", () => {
  // On a 3-4-5 axis from −2 to 2 with a tenth as much across it, and nothing in the third dimension.
  const vectors = [-2, -1, 0, 1, 2].flatMap((t) =>
    [-0.1, 0.1].map((s) => [0.6 * t - 0.8 * s + 7, 0.8 * t + 0.6 * s - 3, 5]),
  );
  const { places, shares, placeOf } = planarMap(vectors);
  expect(vectors.map((vector) => placeOf(vector))).toEqual(places);
  // Three steps along the long axis from the middle, and whatever far in the third dimension, which no axis shows.
  expect(placeOf([0.6 * 3 + 7, 0.8 * 3 - 3, 99])[0]).toBeCloseTo(3, 6);
  expect(places[0]?.[0]).toBeCloseTo(-2, 6);
  expect(places[9]?.[0]).toBeCloseTo(2, 6);
  expect(Math.abs(places[0]?.[1] ?? 0)).toBeCloseTo(0.1, 6);
  // Variances 2 and 0.01.
  expect(shares[0]).toBeCloseTo(2 / 2.01, 6);
  expect(shares[1]).toBeCloseTo(0.01 / 2.01, 6);
});

test("a map of equal vectors is one place, and of none is empty", () => {
  expect(
    planarMap([
      [1, 2],
      [1, 2],
    ]),
  ).toMatchObject({
    places: [
      [0, 0],
      [0, 0],
    ],
    shares: [0, 0],
  });
  expect(planarMap([])).toMatchObject({ places: [], shares: [0, 0] });
});
