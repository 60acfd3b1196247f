import { expect, test } from "vitest";
import { LatencyWindow } from "./latency-window.ts";

const nothing = { late: 0, unanswered: 0, luck: 0, timeout: 10_000 };

function addSlice(window: LatencyWindow, logLatency: number, mass: number): void {
  window.addSlices({ count: 1, logs: Float64Array.of(logLatency), masses: Float64Array.of(mass) }, 1);
}

/** The same requests in every span: latencies 1, 2, … 1,000 ms. */
function fill(window: LatencyWindow, at: number, span = nothing): void {
  for (let latency = 1; latency <= 1_000; latency++) addSlice(window, Math.log(latency), 1);
  window.close(at, span);
}

test("percentiles are those of what was added, to the width of a bin", () => {
  const window = new LatencyWindow(60_000);
  fill(window, 15_000);
  for (const quantile of [0.1, 0.5, 0.9, 0.99]) {
    const found = window.latencyOfAnswered(15_000, quantile) as number;
    expect(found / (1_000 * quantile)).toBeGreaterThan(0.96);
    expect(found / (1_000 * quantile)).toBeLessThan(1.04);
  }
});

test("what is older than the window is forgotten, and an empty window has no latency", () => {
  const window = new LatencyWindow(60_000);
  addSlice(window, Math.log(5_000), 1_000);
  window.close(15_000, nothing);
  fill(window, 30_000);
  expect(window.latencyOfAnswered(74_999, 0.99)).toBeGreaterThan(4_000);
  expect(window.latencyOfAnswered(75_000, 0.99)).toBeLessThan(1_050);
  expect(window.latencyOfAnswered(90_000, 0.5)).toBeNull();
  expect(window.shareWithin(90_000, 100)).toBeNull();
});

test("at the ingress those who gave up count with the time after which they did; for clients they do not", () => {
  const window = new LatencyWindow(60_000);
  fill(window, 15_000, { ...nothing, late: 1_000 });
  expect(window.latencyOfAnswered(15_000, 0.9)).toBeLessThan(950);
  expect(window.latencyAtIngress(15_000, 0.9)).toBeGreaterThan(9_500);
});

test("the share within a target is of all that ended: answered, given up and unanswered", () => {
  const window = new LatencyWindow(60_000);
  fill(window, 15_000, { ...nothing, late: 500, unanswered: 500 });
  // 250 of 2,000; a bin is 4 % wide.
  const share = window.shareWithin(15_000, 250) as number;
  expect(share).toBeGreaterThan(0.12);
  expect(share).toBeLessThan(0.13);
  expect(window.shareWithin(15_000, Number.POSITIVE_INFINITY)).toBeCloseTo(0.5, 6);
});

test("of few requests the p99 is their highest, which lies below the distribution's p99 most of the time", () => {
  const window = new LatencyWindow(60_000);
  for (let latency = 1; latency <= 1_000; latency++) addSlice(window, Math.log(latency), 0.02);
  window.close(15_000, nothing);
  // Twenty requests: the median of the highest is at 0.5^(1/20) = 0.966.
  const found = window.latencyOfAnswered(15_000, 0.99) as number;
  expect(found).toBeGreaterThan(966 * 0.96);
  expect(found).toBeLessThan(966 * 1.04);
});

test("luck moves the percentile of a sample as far as a sample's percentile moves", () => {
  const at = (luck: number) => {
    const window = new LatencyWindow(60_000);
    for (let latency = 1; latency <= 1_000; latency++) addSlice(window, Math.log(latency), 0.1);
    window.close(15_000, { ...nothing, luck });
    return window.latencyOfAnswered(15_000, 0.5) as number;
  };
  // The median of 100 has a standard error of 0.05 in share: 50 of 500.
  expect(at(1) - at(0)).toBeGreaterThan(35);
  expect(at(1) - at(0)).toBeLessThan(65);
  expect(at(0) - at(-1)).toBeGreaterThan(35);
});

test("a window of many short steps forgets them one by one", () => {
  const window = new LatencyWindow(60_000);
  // A hundred a second for two minutes, the second minute twice as slow: room for spans and for slices has to grow.
  for (let at = 10; at <= 120_000; at += 10) {
    addSlice(window, Math.log(at <= 60_000 ? 100 : 200), 1);
    window.close(at, nothing);
  }
  expect(window.latencyOfAnswered(120_000, 0.5)).toBeGreaterThan(190);
  expect(window.shareWithin(120_000, 150)).toBeCloseTo(0, 6);
  // Half of what is left of the window came after the first three quarters of the time.
  expect(window.latencyOfAnswered(179_990, 0.5)).toBeGreaterThan(190);
  expect(window.latencyOfAnswered(180_000, 0.5)).toBeNull();
});
