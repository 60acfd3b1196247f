import { expect, test } from "vitest";
import { bytes, milliseconds } from "../../../base/index.ts";
import type { Application } from "../workloads/index.ts";
import { ResponsePoint } from "./response-point.ts";
import { ResponseTable } from "./response-table.ts";
import { Stretch } from "./stretch.ts";

/** Every request takes 60 ms of CPU and nothing else, so that alone, on a whole core, each takes 60 ms. */
const plain: Application = {
  id: "stretch",
  segments: ["plain"],
  phases: [{ segment: "plain", cpu: 60, width: 1, wait: 0, io: bytes(0), network: bytes(0) }],
  sizes: [1],
  sigma: 0,
  threads: 1,
  queue: 1_000,
  timeout: milliseconds(1e9),
  retries: 0,
  memory: { base: bytes(0), perRequest: bytes(0), cache: bytes(0), missPenalty: 1 },
  startup: { mean: milliseconds(0), sigma: 0 },
  warmup: { factor: 1, span: milliseconds(1) },
};

function pointOf(speed = 1): ResponsePoint {
  const point = new ResponsePoint();
  point.locate(new ResponseTable(plain, { speed: 1, cores: 1 }), { quota: 1, speed, pods: 1 });
  return point;
}

const alone = { level: 0, part: 0, weight: 1 };

test("requests that are alone are all in time, and marked with the time they take", () => {
  const point = pointOf();
  const stretch = new Stretch();
  stretch.judge(point, { ...alone, timeout: 1_000 });
  stretch.mark(point);
  expect(stretch.inTime).toBeCloseTo(1, 9);
  expect(stretch.count).toBe(26);
  for (let i = 0; i < stretch.count; i++) expect(Math.exp(stretch.logs[i]!)).toBeCloseTo(60, 3);
});

test("who has lost time before is marked with that time as well", () => {
  const point = pointOf();
  const stretch = new Stretch();
  stretch.judge(point, { ...alone, timeout: 1_000 });
  stretch.mark(point);
  const { logs, count } = stretch.delayed(340);
  expect(count).toBe(26);
  for (let i = 0; i < count; i++) expect(Math.exp(logs[i]!)).toBeCloseTo(400, 2);
  // Its own marks are as they were.
  expect(Math.exp(stretch.logs[0]!)).toBeCloseTo(60, 3);
});

test("a pod of half the speed takes twice as long, and at half the timeout nobody is in time", () => {
  const point = pointOf(0.5);
  const stretch = new Stretch();
  // Half the speed is half the quota and 60 ms more on the CPU; a quota of half a core lets 60 ms of work take up to 110.
  stretch.judge(point, { ...alone, timeout: 400 });
  stretch.mark(point);
  expect(stretch.inTime).toBeCloseTo(1, 9);
  expect(Math.exp(stretch.logs[0]!)).toBeGreaterThanOrEqual(119);
  stretch.judge(point, { ...alone, timeout: 60 });
  expect([stretch.inTime, stretch.count]).toEqual([0, 0]);
});

test("of a queue's latencies those below the timeout are in time, no slice beyond it is kept", () => {
  const point = pointOf();
  const [all, some] = [new Stretch(), new Stretch()];
  // At 0.88 of what one pod can do there is a queue, and latencies from 60 ms to many times that.
  const busy = { level: 7, part: 0, weight: 1 };
  all.judge(point, { ...busy, timeout: 1e9 });
  all.mark(point);
  const middle = Math.exp(all.logs[13]!);
  some.judge(point, { ...busy, timeout: middle });
  some.mark(point);
  // The fourteenth slice ends at 0.9 of the requests and is cut in its middle.
  expect(some.inTime).toBeGreaterThan(0.86);
  expect(some.inTime).toBeLessThan(0.9);
  expect(some.count).toBe(14);
  for (let i = 0; i < some.count; i++) expect(Math.exp(some.logs[i]!)).toBeLessThanOrEqual(middle * 1.000001);
});
