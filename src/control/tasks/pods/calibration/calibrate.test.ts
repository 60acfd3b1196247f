import { expect, test } from "vitest";
import { type Given, mixed, recordsOf, shaken, twoKnees } from "../../../../../test/fixtures/pods/recorded-life.ts";
import { chanceBeyond, noBursts } from "../capacity/bursts.ts";
import type { CalibrationOptions } from "./calibrate.ts";
import { calibrate } from "./calibrate.ts";
import type { CalibratedModel } from "./model.ts";
import type { Records } from "./records.ts";

const options: CalibrationOptions = { cpu: { min: 100, max: 4_000 }, allowed: 100 };

const modelOf = (records: Records): CalibratedModel => {
  const found = calibrate(records, options);
  if (!found.ok) throw new Error(found.failure.message);
  return found.value;
};

test("a lone latency of 60, a width of 1,200 and waiting below 400 are recovered within a fifth", () => {
  const model = modelOf(recordsOf({ minutes: 1_200, given: mixed, latency: twoKnees }));
  expect(model.work).toBe(50);
  // ln 0.6 is −0.51.
  expect(Math.abs(model.base - Math.log(0.6))).toBeLessThan(0.06);
  expect(Math.abs(model.width / 1_200 - 1)).toBeLessThan(0.2);
  expect(Math.abs(model.free / 400 - 1)).toBeLessThan(0.2);
  expect(model.rate).toBeNull();
  expect(model.error.strain).toBeLessThan(0.05);
});

test("a queue of M/M/1, which knows no knees, is told within 15 % in latencies that it did not see", () => {
  // One core serves a request of 50 millicore-seconds in 50 ms: 1,000 / (μ − λ) of a server of μ = size / 50 per second.
  const given = (minute: number): Given => ({
    size: 1_000 + 250 * ((minute * 7) % 9),
    load: 6 + (minute % 13),
    pods: 1,
  });
  const mm1 = ({ size, load }: Given, minute: number): number => (1_000 / (size / 50 - load)) * shaken(minute);
  const model = modelOf(recordsOf({ minutes: 1_200, given, latency: mm1 }));
  expect(model.error.minutes).toBe(300);
  expect(model.error.strain).toBeLessThan(0.15);
});

test("a limit of 12 requests per second and pod is told from a lack of CPU", () => {
  const given = (minute: number): Given => ({ size: 3_000, load: 6 + (minute % 14), pods: 1 });
  const limited = ({ load }: Given, minute: number): number => 60 * Math.max(1, load / 12) ** 3 * shaken(minute);
  const { rate } = modelOf(recordsOf({ minutes: 600, given, latency: limited }));
  expect(rate).toBeGreaterThan(10);
  expect(rate).toBeLessThan(14);
});

test("where pods were never small, their width is taken to be as large as it may be without being seen", () => {
  const given = (minute: number): Given => ({ size: 3_000, load: 5 + (minute % 20), pods: 2 });
  const { width, base } = modelOf(recordsOf({ minutes: 600, given, latency: (_, minute) => 60 * shaken(minute) }));
  // 3,000 over e^0.4, where the bend begins, is 2,011; a little beyond it explains less than the noise.
  expect(width).toBeGreaterThan(1_500);
  expect(width).toBeLessThan(3_000);
  expect(Math.abs(base - Math.log(0.6))).toBeLessThan(0.05);
});

test("memory is a base and a part for each request: 100 MiB and 4 for each per second", () => {
  const given = (minute: number): Given => ({ size: 2_000, load: 4 * (1 + (Math.floor(minute / 60) % 5)), pods: 2 });
  const { memory } = modelOf(recordsOf({ minutes: 600, given, latency: (_, minute) => 60 * shaken(minute) }));
  // Up to 20 requests per second in two pods: 140 MiB.
  expect(memory.most).toBe(140);
  expect(memory.base).toBeCloseTo(100, 6);
  expect(memory.perRequest).toBeCloseTo(4, 6);
});

test("minutes that wait for free cores now and then leave a tail of bursts behind", () => {
  const given = (): Given => ({ size: 1_000, load: 10, pods: 2 });
  const bursty = (_: Given, minute: number): number => 60 * (minute % 15 === 0 ? 1.5 : 1) * shaken(minute);
  const { bursts, work, free } = modelOf(recordsOf({ minutes: 900, given, latency: bursty }));
  // 750 millicores are free, and one minute in 15 would have needed more.
  const chance = chanceBeyond(bursts, Math.log(750) - Math.log(work));
  expect(bursts.seen).toBeGreaterThan(noBursts.seen);
  expect(chance).toBeGreaterThan(0.02);
  expect(free).toBeLessThan(750);
});

test("fewer than four hours that tell something are refused", () => {
  const found = calibrate(recordsOf({ minutes: 200, given: mixed, latency: twoKnees }), options);
  expect(found).toMatchObject({ ok: false, failure: { code: "calibration.too-few", retry: true } });
});

test("latencies that have nothing to do with what was given are refused", () => {
  const wild = (_: Given, minute: number): number => 60 * Math.exp(1.2 * Math.sin(78.233 * minute * minute));
  const found = calibrate(recordsOf({ minutes: 1_000, given: mixed, latency: wild }), options);
  expect(found).toMatchObject({ ok: false, failure: { code: "calibration.inaccurate" } });
});

test("a workload that behaves otherwise in the newest quarter is refused", () => {
  const changed = (given: Given, minute: number): number => twoKnees(given, minute) * (minute < 800 ? 1 : 1.4);
  const found = calibrate(recordsOf({ minutes: 1_000, given: mixed, latency: changed }), options);
  expect(found).toMatchObject({ ok: false, failure: { code: "calibration.inaccurate" } });
});

test("minutes from before a release, whose requests took half the CPU, are left out", () => {
  const before = recordsOf({
    minutes: 600,
    given: mixed,
    latency: (given, minute) => 0.5 * twoKnees(given, minute),
    work: 25,
  });
  const after = recordsOf({ minutes: 600, given: mixed, latency: twoKnees });
  const hours = [...before.hours, ...after.hours.map((one) => ({ ...one, hour: one.hour + 10 }))];
  const model = modelOf({ ...after, hours });
  expect(model.work).toBe(50);
  expect(Math.abs(model.base - Math.log(0.6))).toBeLessThan(0.06);
});

test("the same records give the same model, to the byte", () => {
  const records = recordsOf({ minutes: 600, given: mixed, latency: twoKnees });
  const copy = JSON.parse(JSON.stringify(records)) as Records;
  expect(JSON.stringify(calibrate(copy, options))).toBe(JSON.stringify(calibrate(records, options)));
});
