import { expect, test } from "vitest";
import { milliseconds } from "../../base/index.ts";
import { disturbedApplication, hotelReservation } from "../../sim/index.ts";
import { LocalizerPretraining } from "./pretraining.ts";

test("after its pre-training a localizer is trained, the same for the same seed", () => {
  const scores = [1, 1].map((seed) => {
    const world = disturbedApplication({ application: hotelReservation, seed, start: milliseconds(0) });
    const pretraining = new LocalizerPretraining({ world, seed, episodes: 10 });
    expect(pretraining.localizer.isTrained).toBe(false);
    let steps = 0;
    for (; !pretraining.isOver; steps++) pretraining.step();
    expect(steps).toBe(10 * 28);
    expect(pretraining.localizer.isTrained).toBe(true);
    return pretraining.localizer.suspects(milliseconds(279_000)).map(({ instance, score }) => [instance, score]);
  });
  expect(scores[0]?.length).toBeGreaterThan(5);
  expect(scores[1]).toEqual(scores[0]);
});
