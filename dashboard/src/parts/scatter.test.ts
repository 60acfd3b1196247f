import { expect, test } from "vitest";
import { frameOf, nearestTo } from "./scatter.tsx";

test("both axes have one scale, and all points are inside", () => {
  const points = [{ at: [0, 0] as const }, { at: [10, 2] as const }, { at: [4, 1] as const }];
  const { x, y, height } = frameOf(points, 640);
  // 640 wide with 28 on each side: 58.4 for each of ten units.
  expect(x(10) - x(0)).toBeCloseTo(584, 6);
  expect(y(0) - y(2)).toBeCloseTo(2 * 58.4, 6);
  expect(height).toBe(300);
  for (const { at } of points) {
    expect(x(at[0])).toBeGreaterThanOrEqual(28 - 1e-9);
    expect(y(at[1])).toBeGreaterThan(0);
    expect(y(at[1])).toBeLessThan(height);
  }
});

test("a tall cloud is as large as its height allows", () => {
  const { x, y, height } = frameOf([{ at: [0, 0] }, { at: [1, 10] }], 640);
  expect(height).toBe(520);
  expect(y(0) - y(10)).toBeCloseTo(520 - 56, 6);
  expect(x(1) - x(0)).toBeCloseTo(46.4, 6);
});

test("one point, and none, have a frame too", () => {
  const { x, y, height } = frameOf([{ at: [3, 3] }], 640);
  expect([x(3), y(3)]).toEqual([320, height / 2]);
  expect(frameOf([], 640).height).toBe(300);
});

test("a click chooses the nearest point within reach, the one drawn last of two at the same place", () => {
  const points = [
    { id: "a", x: 0, y: 0 },
    { id: "b", x: 10, y: 0 },
    { id: "c", x: 10, y: 0 },
  ];
  expect(nearestTo({ x: 2, y: 1 }, points)).toBe("a");
  expect(nearestTo({ x: 9, y: 1 }, points)).toBe("c");
  expect(nearestTo({ x: 60, y: 60 }, points)).toBeNull();
});
