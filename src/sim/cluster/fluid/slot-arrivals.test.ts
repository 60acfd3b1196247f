import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { SlotArrivals, samplePoisson } from "./slot-arrivals.ts";

function moments(values: readonly number[]) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, dispersion: variance / mean };
}

test.each([0.3, 5, 40, 300])("Poisson counts of mean %d have that mean and as much variance", (mean) => {
  const rng = seededRng(1_001);
  const found = moments(Array.from({ length: 40_000 }, () => samplePoisson(rng, mean)));
  expect(found.mean / mean).toBeCloseTo(1, 1);
  expect(found.dispersion).toBeGreaterThan(0.96);
  expect(found.dispersion).toBeLessThan(1.04);
});

test.each([1, 4])("a load of dispersion %d has it in the counts of 15 s", (dispersion) => {
  const load = { id: "steady", level: "high" as const, perMinute: Float64Array.of(20), dispersion };
  const slots = new SlotArrivals(load, seededRng(1_002), 0);
  const counts = Array.from({ length: 20_000 }, () => {
    slots.next();
    return slots.rate * 15_000;
  });
  const found = moments(counts);
  expect(found.mean).toBeGreaterThan(297);
  expect(found.mean).toBeLessThan(303);
  expect(found.dispersion / dispersion).toBeGreaterThan(0.95);
  expect(found.dispersion / dispersion).toBeLessThan(1.05);
});

test("slots lie on the clock, whenever a world begins, and follow the minutes of the load", () => {
  const load = { id: "steps", level: "high" as const, perMinute: Float64Array.of(0, 30), dispersion: 1 };
  const slots = new SlotArrivals(load, seededRng(1_003), 50_000);
  expect(slots.ends).toBe(60_000);
  expect(slots.rate).toBe(0);
  slots.next();
  expect(slots.ends).toBe(75_000);
  expect(slots.rate).toBeGreaterThan(0.02);
});
