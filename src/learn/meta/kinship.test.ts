import { expect, test } from "vitest";
import { KinshipMap } from "./kinship.ts";

test("a stranger is farther from its nearest neighbour than 19 of 20 members are from theirs", () => {
  // Directions in the plane, 10° apart within two clusters on opposite sides, so the middle of the pool is near 0.
  const at = (degrees: number) =>
    Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));
  const pool = [0, 10, 20, 180, 190, 200].map((degrees) => ({ name: `${degrees}`, embedding: at(degrees) }));
  const map = new KinshipMap(pool);
  const near = map.of(at(13));
  expect(near.nearest[0]?.name).toBe("10");
  expect(near.isStranger).toBe(false);
  // Everybody's nearest neighbour is 10° away, so that is the line.
  expect(near.line).toBeCloseTo(Math.cos((10 * Math.PI) / 180), 5);
  expect(map.of(at(100)).isStranger).toBe(true);
  expect(map.of(at(100)).nearest[0]?.similarity).toBeLessThan(0.2);
});
