import { expect, test } from "vitest";
import { milliseconds } from "../../../base/index.ts";
import { hotelReservation } from "../../../sim/index.ts";
import { LocalizerSchool } from "./localizer-school.ts";

test("after its lessons a localizer is trained, the same for the same seed", () => {
  const scores = [1, 1].map((seed) => {
    const school = new LocalizerSchool({ application: hotelReservation, seed, start: milliseconds(0), episodes: 6 });
    expect(school.localizer.isTrained).toBe(false);
    let lessons = 0;
    for (; !school.isOver; lessons++) school.lesson();
    expect(lessons).toBe(6 * 28);
    expect(school.localizer.isTrained).toBe(true);
    return school.localizer.suspects(milliseconds(167_000)).map(({ instance, score }) => [instance, score]);
  });
  expect(scores[0]?.length).toBeGreaterThan(5);
  expect(scores[1]).toEqual(scores[0]);
});
