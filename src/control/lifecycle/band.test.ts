import { expect, test } from "vitest";
import { keepWithinBand } from "./band.ts";

test("the band holds every coordinate by itself, and the whole range at its ends", () => {
  const action = Float32Array.of(-1, 0.1, 1);
  keepWithinBand(action, Float32Array.of(0, 0, 0.9), { below: 0.25, above: 0.25 });
  expect([...action]).toEqual([-0.25, Math.fround(0.1), 1]);
  const upwards = Float32Array.of(-1, 0.5, 1);
  keepWithinBand(upwards, Float32Array.of(0, 0, 0), { below: 0.25, above: 2 });
  expect([...upwards]).toEqual([-0.25, 0.5, 1]);
});
