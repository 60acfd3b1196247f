import { expect, test } from "vitest";
import { seededRng } from "../../../../base/index.ts";
import { fitArima, forecastNext } from "./arima.ts";

test("a series whose steps halve is continued by half a step", () => {
  // Steps of 64, 32, 16, … : every one is half of the one before, without any noise.
  const series = [0];
  for (let step = 64; step > 0.001; step /= 2) series.push((series.at(-1) ?? 0) + step);
  const model = fitArima(series, { p: 1, d: 1, q: 0 });
  expect(model?.ar[0]).toBeCloseTo(0.5, 6);
  expect(model && forecastNext(model, [10, 14])).toBeCloseTo(14 + 2, 5);
});

test("a forecast carries on from the lags and from what the step before was surprised by", () => {
  // Steps 2 and 3. After 2 came 1 as expected (half of it), so 3 surprised by 2: 0.5 · 3 + 0.4 · 2 = 2.3.
  expect(forecastNext({ d: 1, mean: 0, ar: [0.5], ma: 0.4 }, [10, 12, 15])).toBeCloseTo(17.3, 12);
  // Around 10, without differences: 12 is 2 above, half of it stays; nothing was expected of the first value.
  expect(forecastNext({ d: 0, mean: 10, ar: [0.5], ma: 0.4 }, [12])).toBeCloseTo(11, 12);
  // 12, then 10 where 11 was expected: half of 0, and 0.4 of a surprise of -1.
  expect(forecastNext({ d: 0, mean: 10, ar: [0.5], ma: 0.4 }, [12, 10])).toBeCloseTo(9.6, 12);
});

test("two lags are told apart", () => {
  const steps = [1, 3];
  for (let t = 2; t < 60; t++) steps.push(0.9 * (steps[t - 1] ?? 0) - 0.7 * (steps[t - 2] ?? 0));
  const series = [0];
  for (const step of steps) series.push((series.at(-1) ?? 0) + step);
  const [near, far] = fitArima(series, { p: 2, d: 1, q: 0 })?.ar ?? [];
  expect(near).toBeCloseTo(0.9, 5);
  expect(far).toBeCloseTo(-0.7, 5);
});

test("lags and moving average of a simulated process are found again", () => {
  const rng = seededRng(11);
  const values: number[] = [];
  let [value, before] = [0, 0];
  for (let t = 0; t < 20_000; t++) {
    const surprise = rng.normal();
    value = 0.6 * value + surprise + 0.4 * before;
    before = surprise;
    values.push(50 + value);
  }
  const model = fitArima(values, { p: 1, d: 0, q: 1 });
  expect(model?.mean).toBeCloseTo(50, 0);
  expect(Math.abs((model?.ar[0] ?? 0) - 0.6)).toBeLessThan(0.03);
  expect(Math.abs((model?.ma ?? 0) - 0.4)).toBeLessThan(0.03);
});

test("noise around a level is smoothed: the forecast misses by less than the newest value does", () => {
  const rng = seededRng(5);
  const values = Array.from({ length: 2_000 }, () => 100 + 10 * rng.normal());
  let [missed, naive] = [0, 0];
  for (let t = 240; t < values.length - 1; t += 7) {
    const window = values.slice(t - 240, t);
    const model = fitArima(window, { p: 2, d: 1, q: 1 });
    missed += Math.abs((values[t] ?? 0) - (model ? forecastNext(model, window) : 0));
    naive += Math.abs((values[t] ?? 0) - (window.at(-1) ?? 0));
  }
  // The best is the level itself: 1/√2 of the naive error.
  expect(missed / naive).toBeLessThan(0.8);
});

test("a load that does not move is expected not to move, and of a short one nothing is said", () => {
  const still = fitArima(new Array<number>(100).fill(7), { p: 2, d: 1, q: 1 });
  expect(still?.ar).toEqual([0, 0]);
  expect(still && forecastNext(still, [7, 7, 7])).toBe(7);
  expect(fitArima([1, 2, 3, 2, 1, 2, 3], { p: 2, d: 1, q: 1 })).toBeUndefined();
});

test("a moving average that could not be undone is held within what can", () => {
  // Steps that alternate by chance around nothing: differences of noise, whose moving average is -1.
  const rng = seededRng(3);
  const noise = Array.from({ length: 400 }, () => rng.normal());
  expect(Math.abs(fitArima(noise, { p: 0, d: 1, q: 1 })?.ma ?? 2)).toBeLessThanOrEqual(0.95);
});
