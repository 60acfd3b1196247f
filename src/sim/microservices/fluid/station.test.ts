import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { profiles } from "../calibration.ts";
import { Container } from "../event/container.ts";
import { Station, stalledTime } from "./station.ts";

const container = ({ cores = 64, threads = 4 }: { cores?: number; threads?: number } = {}): Container => {
  const limits = Float64Array.of(cores, 1e6, 1e6, 1e6, 1e6);
  const made = new Container({
    index: 0,
    service: 0,
    replica: 0,
    name: "only-0",
    node: 0,
    profile: profiles.ideal,
    speed: 1,
    threads,
    queueLimit: 16 * threads,
    defaults: limits,
    fullStress: limits,
    limits,
    at: 0,
    quotaPhase: 100,
  });
  made.shares.fill(64);
  made.reshare();
  return made;
};
const load = { rate: 0.32, work: 10, workSquared: 200, downstream: 0, most: Number.POSITIVE_INFINITY, isNewStep: true };

test("waiting for one of four threads is about Erlang's", () => {
  const station = new Station(container());
  station.update(load, seededRng(1), 1_000);
  // M/M/4 at 80 %: C = 0.5964, so 0.5964 · 10 / (4 − 3.2) = 7.455 ms of waiting.
  expect(station.ownTime).toBeCloseTo(10, 1);
  expect(Math.abs((station.waitChance * station.waitMean) / 7.455 - 1)).toBeLessThan(0.1);
  expect(station.backlog).toBe(0);
  expect(station.passed).toBeCloseTo(0.32, 12);
});

test("what four threads cannot do piles up, is told as waiting, and is refused when the queue is full", () => {
  const station = new Station(container());
  const more = { ...load, rate: 0.5 };
  station.update(more, seededRng(1), 100);
  // 0.4 a millisecond pass; 10 of 50 stay.
  expect(station.backlog).toBeCloseTo(10, 6);
  expect(station.backlogTime).toBeCloseTo(25, 6);
  expect(station.refused).toBe(0);
  for (let i = 0; i < 20; i++) station.update(more, seededRng(1), 100);
  expect(station.backlog).toBe(68);
  expect(station.refused).toBeCloseTo(0.2, 6);
  expect(station.passed).toBeCloseTo(0.4, 6);
});

test("a pile is never larger than the pools that wait for it, and then nobody is refused", () => {
  const station = new Station(container());
  for (let i = 0; i < 20; i++) station.update({ ...load, rate: 0.5, most: 30 }, seededRng(1), 100);
  expect(station.backlog).toBe(30);
  expect(station.refused).toBe(0);
});

test("a stressor of three cores in a limit of one leaves an idle service a third of every period", () => {
  const stressed = container({ cores: 1 });
  stressed.stress[0] = 3;
  const station = new Station(stressed);
  station.update({ ...load, rate: 0 }, seededRng(1), 1_000);
  expect(station.isThrottled).toBe(true);
  expect(station.runs[0]).toBeCloseTo(1 / 3, 9);
});

test("a quota far above what is asked for never throttles", () => {
  const station = new Station(container({ cores: 16, threads: 64 }));
  station.update(load, seededRng(1), 1_000);
  expect(station.isThrottled).toBe(false);
});

test("work that does not fit into the run of a period goes on in the next one", () => {
  const runs = new Float64Array(10).fill(0.5);
  expect(stalledTime(runs, 0, 30)).toBe(30);
  expect(stalledTime(runs, 30, 30)).toBe(80);
  expect(stalledTime(runs, 60, 30)).toBe(70);
  expect(stalledTime(runs, 950, 120)).toBe(270);
});
