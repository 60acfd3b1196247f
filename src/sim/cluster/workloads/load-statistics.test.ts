import { expect, test } from "vitest";
import { describeLoad } from "./load-statistics.ts";

test("a constant load varies, correlates and peaks in no way", () => {
  expect(describeLoad(Array<number>(120).fill(7))).toEqual({
    variation: 0,
    nextMinute: 0,
    halfHour: 0,
    silent: 0,
    peak: 1,
    hourly: 0,
  });
});

test("every other minute: half are silent, the next is the opposite, half an hour later is the same", () => {
  const alternating = Array.from({ length: 120 }, (_, minute) => (minute % 2) * 3);
  // The sums have 119 and 90 of 120 terms, each −1 or +1.
  expect(describeLoad(alternating)).toEqual({
    variation: 1,
    nextMinute: -119 / 120,
    halfHour: 90 / 120,
    silent: 0.5,
    peak: 2,
    hourly: 0,
  });
});

test("a busy hour after a quiet one is seen in the hours and in the next minute", () => {
  const two = [...Array<number>(60).fill(1), ...Array<number>(60).fill(3)];
  // Relative rates 0.5 and 1.5: the variance is 0.25, and one of 119 neighbours is a pair of opposites.
  expect(describeLoad(two)).toMatchObject({ variation: 0.5, hourly: 1, peak: 1.5, nextMinute: 117 / 120 });
});

test("a load without requests, and no load at all, have no description", () => {
  expect(describeLoad([0, 0])).toBeNull();
  expect(describeLoad([])).toBeNull();
});
