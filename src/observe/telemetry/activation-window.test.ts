import { expect, test } from "vitest";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import type { StoredActivation } from "./activation.ts";
import { ActivationWindow } from "./activation-window.ts";

const workload = unwrap(parseWorkloadId("hello"));
let number = 0;
const record = (arrivedAt: number, parts: Partial<StoredActivation> = {}): StoredActivation => ({
  id: String(number++),
  workload,
  arrivedAt: milliseconds(arrivedAt),
  outcome: "completed",
  waiting: 0,
  coldStart: 0,
  execution: 100,
  memory: 256,
  concurrency: 1,
  ...parts,
});
const windowOf = (records: readonly StoredActivation[], most?: number) => {
  const window = new ActivationWindow({ window: seconds(10), ...(most === undefined ? {} : { most }) });
  window.add(records);
  return window;
};
const at = (now: number, from = 0) => [milliseconds(now), milliseconds(from)] as const;

test("percentiles are of those that were answered, each part by itself", () => {
  const window = windowOf([
    record(1_000, { waiting: 10, coldStart: 500, execution: 100 }),
    record(2_000, { waiting: 40, execution: 300 }),
    record(3_000, { outcome: "killed", execution: 7_000 }),
  ]);
  // Two answers: the larger of each. 610 = 10 + 500 + 100 end to end, against 340.
  expect(window.summary(...at(11_000))).toMatchObject({ latency: 610, execution: 300, waiting: 40, coldStart: 500 });
});

test("the 99th percentile of a hundred is the last but one", () => {
  const window = windowOf(Array.from({ length: 100 }, (_, i) => record(0, { execution: i + 1 })));
  expect(window.summary(...at(1_000))?.execution).toBe(99);
});

test("rates are over the window, or over the time since records were asked for", () => {
  const window = windowOf([
    record(8_000),
    record(8_500),
    record(9_000, { outcome: "dropped" }),
    record(9_000, { outcome: "killed" }),
  ]);
  expect(window.summary(...at(10_000))).toMatchObject({ completed: 0.2, failed: 0.2, kills: 1 });
  expect(window.summary(...at(10_000, 6_000))).toMatchObject({ completed: 0.5, failed: 0.5, kills: 1 });
  expect(window.summary(...at(10_000, 10_000))).toBeNull();
});

test("nobody called is nobody called", () => {
  expect(windowOf([]).summary(...at(10_000))).toEqual({
    latency: null,
    execution: null,
    waiting: null,
    coldStart: null,
    completed: 0,
    failed: 0,
    kills: 0,
    atWork: 0,
  });
});

test("what ended before the window is forgotten, however late it came", () => {
  const window = windowOf([record(19_000)]);
  window.add([record(4_000), record(9_950)]);
  // Ends: 19,100, 4,100 and 10,050; the window begins at 10,000.
  expect(window.summary(...at(20_000))?.completed).toBe(0.2);
  expect(window.size).toBe(2);
});

test("what ends after now counts later", () => {
  const window = windowOf([record(9_950)]);
  expect(window.summary(...at(10_000))?.completed).toBe(0);
  expect(window.summary(...at(11_000))?.completed).toBe(0.1);
});

test("containers at work are as many as overlap, and who waits has none", () => {
  const window = windowOf([
    record(0, { execution: 1_000 }),
    // Starts its container at 500 and works until 1,500.
    record(0, { waiting: 500, coldStart: 500, execution: 500 }),
    // Begins in the very moment in which the first ends.
    record(0, { waiting: 1_000, execution: 1_000 }),
  ]);
  expect(window.summary(...at(5_000))?.atWork).toBe(2);
});

test("three that share a container of three are one container, and a fourth is a second", () => {
  const shared = Array.from({ length: 3 }, () => record(0, { concurrency: 3 }));
  expect(windowOf(shared).summary(...at(5_000))?.atWork).toBe(1);
  expect(windowOf([...shared, record(0, { concurrency: 3 })]).summary(...at(5_000))?.atWork).toBe(2);
});

test("beyond the most records those that ended first are lost", () => {
  const window = windowOf([record(300), record(100), record(200)], 2);
  expect([window.size, window.summary(...at(1_000, 250))?.completed]).toEqual([2, 2 / 0.75]);
});
