import { expect, test } from "vitest";
import type { BlockSums, FitOptions } from "./fitted-q.ts";
import { blockSums, qFitter } from "./fitted-q.ts";
import type { StepTable } from "./step-table.ts";

const fitQ = (blocks: readonly BlockSums[], counts: readonly number[], options: FitOptions) =>
  qFitter(blocks, options)(counts);

/** Two states, A and B, that follow each other; A pays 1. One action, so features [1, isA] are exact. */
function alternating(steps: number, terminatesAt = -1): { table: StepTable; done: Float64Array; next: Float64Array } {
  const isA = (row: number) => (row % 2 === 0 ? 1 : 0);
  const rows = Array.from({ length: steps }, (_, row) => row);
  const none = new Float64Array(0);
  const table = {
    rows: steps,
    seen: 1,
    actions: 0,
    starts: Int32Array.of(0, steps),
    rewards: Float64Array.from(rows, isA),
    goesOn: Uint8Array.from(rows, (row) => (row === terminatesAt ? 0 : 1)),
    before: none,
    after: none,
    done: none,
    wouldDo: none,
    wouldDoNext: none,
  };
  const done = Float64Array.from(rows.flatMap((row) => [1, isA(row)]));
  return { table, done, next: Float64Array.from(rows.flatMap((row) => [1, isA(row + 1)])) };
}

test("values of two alternating states by hand: with h steps to go, A is worth ⌈h/2⌉ and B ⌊h/2⌋", () => {
  const { table, done, next } = alternating(20);
  const features = { size: 2, done, wouldDo: done, wouldDoNext: next };
  const blocks = [blockSums(table, features, { from: 0, to: 20, centre: 0 })];
  const weights = fitQ(blocks, [1], { size: 2, horizon: 5, ridge: 0 }) ?? new Float64Array(12);
  for (let h = 0; h <= 5; h++) {
    const [constant = Number.NaN, extra = Number.NaN] = weights.subarray(2 * h, 2 * h + 2);
    expect(constant + extra, `A, ${h} to go`).toBeCloseTo(Math.ceil(h / 2), 9);
    expect(constant, `B, ${h} to go`).toBeCloseTo(Math.floor(h / 2), 9);
  }
});

test("a step that ended the task has no future", () => {
  // All of B's steps end the task: with many to go A is worth its own 1 and nothing more, B nothing.
  const { table, done, next } = alternating(2, 1);
  const features = { size: 2, done, wouldDo: done, wouldDoNext: next };
  const blocks = [blockSums(table, features, { from: 0, to: 2, centre: 0 })];
  const weights = fitQ(blocks, [1], { size: 2, horizon: 9, ridge: 0 }) ?? new Float64Array(20);
  const [constant = Number.NaN, extra = Number.NaN] = weights.subarray(18);
  expect(constant + extra).toBeCloseTo(1, 9);
  expect(constant).toBeCloseTo(0, 9);
});

test("two blocks once each are the whole, and a block twice is its rows twice", () => {
  const { table, done, next } = alternating(8);
  const features = { size: 2, done, wouldDo: done, wouldDoNext: next };
  const block = (from: number, to: number) => blockSums(table, features, { from, to, centre: 0.5 });
  const options = { size: 2, horizon: 3, ridge: 1e-3 };
  const whole = fitQ([block(0, 8)], [1], options) ?? new Float64Array(0);
  const parts = fitQ([block(0, 3), block(3, 8)], [1, 1], options) ?? new Float64Array(0);
  expect(parts.length).toBe(8);
  parts.forEach((value, i) => {
    expect(value).toBeCloseTo(whole[i] ?? Number.NaN, 12);
  });
  const twice = fitQ([block(0, 3), block(3, 8)], [2, 0], options) ?? new Float64Array(0);
  const once = fitQ([block(0, 3)], [1], options) ?? new Float64Array(0);
  twice.forEach((value, i) => {
    expect(value).toBeCloseTo(once[i] ?? Number.NaN, 12);
  });
});

test("without any rows there is no fit", () => {
  const { table, done, next } = alternating(4);
  const features = { size: 2, done, wouldDo: done, wouldDoNext: next };
  const blocks = [blockSums(table, features, { from: 0, to: 4, centre: 0 })];
  expect(fitQ(blocks, [0], { size: 2, horizon: 3, ridge: 1e-3 })).toBeUndefined();
});
