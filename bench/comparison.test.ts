import { expect, test } from "vitest";
import { MICROSECONDS, MILLISECONDS, plainFigure, speedup, timeRatio } from "./comparison.ts";
import { atLeast, atMost } from "./report.ts";
import type { Timing } from "./statistics.ts";

const timing = (best: number, bestWall = best): Timing => ({
  best,
  median: best * 1.1,
  bestWall,
  medianWall: bestWall * 1.1,
  rounds: 5,
  crowding: 1,
});
const ours = { label: "wasm", timing: timing(250_000, 500_000) };
const peer = { label: "PyTorch 2", timing: timing(1_500_000, 1_500_000) };
const options = { id: "ddpg.wasm.torch", what: "DDPG update", unit: MICROSECONDS };

test("a figure is the best processor time in its unit, with the median beside it", () => {
  expect(plainFigure(ours, options)).toEqual({
    id: "ddpg.wasm.torch",
    what: "DDPG update, wasm",
    value: 250,
    unit: "µs",
    median: 275,
  });
});

test("a speed-up is the peer's time over ours and holds from its bound on", () => {
  const figure = speedup({ ours, peer, bound: atLeast(6, "PyTorch") }, options);
  expect(figure).toMatchObject({ ratio: 6, peer: "PyTorch 2: 1500 µs", target: "at least 6× PyTorch", holds: true });
  expect(speedup({ ours, peer, bound: atLeast(6.01, "PyTorch") }, options).holds).toBe(false);
});

test("a time ratio is our time over the peer's and holds up to its bound", () => {
  const native = { label: "C", timing: timing(100_000) };
  expect(timeRatio({ ours, peer: native, bound: atMost(2.5, "times C") }, options)).toMatchObject({
    ratio: 2.5,
    target: "at most 2.5 times C",
    holds: true,
  });
  expect(timeRatio({ ours, peer: native, bound: atMost(2.4, "times C") }, options).holds).toBe(false);
});

test("where threads are the point the wall counts", () => {
  const figure = speedup({ ours, peer }, { ...options, unit: MILLISECONDS, clock: "wall" });
  expect(figure).toMatchObject({ value: 0.5, ratio: 3 });
  expect(figure.holds).toBeUndefined();
});
