import { expect, test } from "vitest";
import { milliseconds, unwrap } from "../../../base/index.ts";
import type { AnomalyWish } from "../../../contract/index.ts";
import { hotelReservation } from "../../../sim/index.ts";
import { SimulatedApplication } from "./simulated-application.ts";

const NOW = 1_800_000_000_000;
const at = (after: number) => milliseconds(NOW + after);
const made = () => new SimulatedApplication({ application: hotelReservation, seed: 3, now: at(0) });
const cpuOf = (name: string, change: Partial<AnomalyWish> = {}): AnomalyWish => ({
  kind: "cpu",
  target: { on: "instance", name },
  intensity: 1,
  seconds: 60,
  ...change,
});

test("it runs with the wall, and its spans are of the wall's time", () => {
  const simulated = made();
  const spans = simulated.advance(at(2_000));
  expect(spans.length).toBeGreaterThan(200);
  for (const { startUs, endUs } of spans) {
    expect(startUs).toBeGreaterThan(1_000 * NOW - 5_000);
    expect(endUs).toBeLessThan(1_000 * (NOW + 2_000) + 5_000);
  }
  expect(simulated.advance(at(2_000))).toEqual([]);
});

test("a machine that slept is not made to catch up: time is skipped, and spans are of the wall's time again", () => {
  const simulated = made();
  simulated.advance(at(1_000));
  const hour = 3_600_000;
  const spans = simulated.advance(at(hour));
  expect(spans.length).toBeLessThan(3_000);
  for (const { startUs } of spans) expect(startUs).toBeGreaterThan(1_000 * (NOW + hour - 4_000));
  const done = unwrap(simulated.inject(cpuOf("geo-0")));
  expect(done.anomaly).toMatchObject({ from: NOW + hour, until: NOW + hour + 60_000 });
});

test("an anomaly is in force until its end or until it is called off, and its culprit is known", () => {
  const simulated = made();
  simulated.advance(at(1_000));
  const first = unwrap(simulated.inject(cpuOf("geo-0", { seconds: 2 })));
  const second = unwrap(simulated.inject(cpuOf("rate-0")));
  expect(first).toMatchObject({ changed: [], anomaly: { id: "anomaly-1", kind: "cpu", target: "geo-0" } });
  expect(simulated.culprits()).toEqual(["geo-0", "rate-0"]);
  simulated.advance(at(3_500));
  expect(simulated.anomalies().map(({ id }) => id)).toEqual(["anomaly-2"]);
  expect(unwrap(simulated.stop(second.anomaly.id)).anomaly.until).toBe(NOW + 3_500);
  expect(simulated.anomalies()).toEqual([]);
  expect(simulated.stop(second.anomaly.id)).toMatchObject({ failure: { code: "services.unknown-anomaly" } });
});

test("what the guard will not have is refused with the reason, and what is too long is shortened and told", () => {
  const simulated = made();
  const refusal = (wish: AnomalyWish) => {
    const answer = simulated.inject(wish);
    return answer.ok ? "let happen" : `${answer.failure.code}: ${answer.failure.message}`;
  };
  expect(refusal(cpuOf("moon-0"))).toMatch(/^services\.anomaly-refused: .*no instance 'moon-0'/);
  expect(refusal(cpuOf("geo-0", { kind: "workload-variation" }))).toContain("more load is done to requests");
  expect(refusal(cpuOf("x", { target: { on: "node", name: "x86-99" } }))).toContain("no such target");
  expect(unwrap(simulated.inject(cpuOf("geo-0", { seconds: 6_000 }))).changed).toEqual([
    "its duration is 600 s in place of 6000 s",
  ]);
  for (const name of ["rate-0", "user-0", "search-0", "profile-0", "frontend-0"]) unwrap(simulated.inject(cpuOf(name)));
  expect(refusal(cpuOf("reservation-0"))).toContain("6 are in force already");
});

test("CPU stress in one instance breaks the SLO of the requests that need it, and of no other", () => {
  const simulated = made();
  for (let second = 1; second <= 15; second++) simulated.advance(at(1_000 * second));
  unwrap(simulated.inject(cpuOf("user-0")));
  for (let second = 16; second <= 30; second++) simulated.advance(at(1_000 * second));
  const broken = simulated.requests().filter(({ p99, slo }) => p99 !== null && p99 > slo);
  expect(broken.map(({ request }) => request)).toEqual(["login", "reserve"]);
});
