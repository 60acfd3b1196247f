import { expect, test } from "vitest";
import { expectedChange, type ForecastMemory, forecastAfter, noForecast, REFIT_EVERY } from "./load-forecast.ts";

const after = (loads: readonly number[], from: ForecastMemory = noForecast) => loads.reduce(forecastAfter, from);

test("nothing is expected of a load that has just begun, or of none at all", () => {
  expect(expectedChange(noForecast)).toBe(0);
  expect(expectedChange(after([10, 30]))).toBe(0);
  expect(expectedChange(after(new Array<number>(80).fill(0)))).toBe(0);
});

test("the change is relative to the load now, and as far down as up", () => {
  const model = { d: 1, mean: 0, ar: [1], ma: 0 } as const;
  // The last step again: from 10 and 20 to 30, (30 − 20)/(30 + 20); from 30 and 20 to 10, (10 − 20)/(10 + 20).
  expect(expectedChange({ loads: [10, 20], model, age: 0 })).toBeCloseTo(0.2, 12);
  expect(expectedChange({ loads: [30, 20], model, age: 0 })).toBeCloseTo(-1 / 3, 12);
  // Less than nothing is nothing.
  expect(expectedChange({ loads: [30, 5], model, age: 0 })).toBe(-1);
});

test("a load that climbs by the same every step is expected to climb on", () => {
  const climbing = after(Array.from({ length: 100 }, (_, t) => 100 + t));
  // From 199 to about 200.
  expect(expectedChange(climbing)).toBeCloseTo(1 / 399, 4);
});

test("the model is fitted once it can be, then anew every twenty readings, on an hour at most", () => {
  const wave = (t: number) => 50 + 10 * Math.sin(t / 5);
  let memory = noForecast;
  const models: { readonly at: number; readonly model: ForecastMemory["model"] }[] = [];
  for (let t = 0; t < 300; t++) {
    memory = forecastAfter(memory, wave(t));
    if (memory.model !== models.at(-1)?.model && memory.model !== null) models.push({ at: t, model: memory.model });
  }
  const gaps = models.slice(1).map(({ at }, i) => at - (models[i]?.at ?? 0));
  expect(new Set(gaps)).toEqual(new Set([REFIT_EVERY]));
  expect(memory.loads).toHaveLength(240);
  expect(memory.loads.at(-1)).toBe(wave(299));
});

test("what is remembered survives as JSON", () => {
  const memory = after(Array.from({ length: 70 }, (_, t) => 20 + (t % 7)));
  const again = JSON.parse(JSON.stringify(memory)) as ForecastMemory;
  expect(expectedChange(forecastAfter(again, 30))).toBe(expectedChange(forecastAfter(memory, 30)));
});
