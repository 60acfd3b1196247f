import { expect, test } from "vitest";
import { MINUTES_BACK, mostAlike } from "./alike.ts";

/** The minutes before, as `load` has them by how long ago they were: 1 is the newest. */
const past = (load: (ago: number) => number): Float64Array =>
  Float64Array.from({ length: MINUTES_BACK }, (_, i) => load(MINUTES_BACK - i));

test("a stretch is found where it was, at the level that it has now", () => {
  // Today's last minute is yesterday's of twelve minutes later, and twice as high.
  const shape = (minute: number) => 10 + 5 * Math.sin(minute / 7) + (minute % 11);
  const found = mostAlike(
    past((ago) => (ago <= 720 ? 2 * shape(10_000 - ago) : shape(10_000 - ago + 1_440 + 12))),
    500,
  );
  expect(found).toMatchObject({ minute: 500, ago: 1_452 });
  expect(found?.times).toBeCloseTo(2, 6);
});

test("where all stretches are alike it is the same time yesterday", () => {
  expect(
    mostAlike(
      past(() => 0),
      7,
    ),
  ).toEqual({ minute: 7, ago: 1_440, times: 1 });
  expect(
    mostAlike(
      past(() => 3),
      7,
    ),
  ).toEqual({ minute: 7, ago: 1_440, times: 1 });
});

test("another level is believed up to a factor of two", () => {
  expect(
    mostAlike(
      past((ago) => (ago <= 720 ? 50 : 10)),
      7,
    )?.times,
  ).toBe(2);
});

test("nothing is found where no earlier day was looked at, or the last hour was not", () => {
  expect(
    mostAlike(
      past((ago) => (ago <= 1_000 ? 5 : -1)),
      7,
    ),
  ).toBeNull();
  expect(
    mostAlike(
      past((ago) => (ago === 30 ? -1 : 5)),
      7,
    ),
  ).toBeNull();
});
