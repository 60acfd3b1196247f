import { expect, test } from "vitest";
import type { Injection } from "../../act/faults/index.ts";
import { seconds } from "../../base/index.ts";
import type { ServiceAction, ServicesController } from "../../control/tasks/mitigation/index.ts";
import { hotelReservation } from "../../sim/index.ts";
import { type EpisodeOptions, runEpisode } from "./episode.ts";

/** Takes memory bandwidth away from the recommendations: their type of request breaks its SLO, and CPU use is flat. */
const injection: Injection = {
  id: "thirst",
  kind: "memory-bandwidth",
  target: { on: "instance", service: "recommendation", replica: 0 },
  start: seconds(20),
  duration: seconds(120),
  pattern: "constant",
  intensity: 0.6,
};

const options: EpisodeOptions = {
  seed: 1_001,
  application: hotelReservation,
  perMinute: [200],
  injections: [injection],
  duration: seconds(150),
  countFrom: seconds(20),
  controller: null,
};

/** Does one thing at one moment. */
const scripted = (at: number, act: ServiceAction): ServicesController => ({
  name: "scripted",
  control: ({ now }) => (now === seconds(at) ? [{ action: act, measuredAt: now, why: "as told" }] : []),
});
const more: ServiceAction = { kind: "set-limits", instance: "recommendation-0", limits: { memory: 1e9 } };

test("a violation that somebody mends after ten seconds lasts ten seconds, and one that nobody mends is censored", () => {
  const alone = runEpisode(options);
  expect(alone.mitigations).toMatchObject([{ injection: "thirst", outcome: "censored" }]);
  const [left] = alone.mitigations;
  expect((left?.onset ?? 99) + (left?.lasted ?? 0)).toBe(120);
  expect(left?.onset).toBeLessThanOrEqual(1);

  const mended = runEpisode({ ...options, controller: scripted(30, more) });
  expect(mended.actions).toBe(1);
  const [soon] = mended.mitigations;
  expect(soon?.outcome).toBe("mitigated");
  // Set at 30 s, in force 42 ms later; those under way then are still late.
  expect((soon?.onset ?? 0) + (soon?.lasted ?? 0)).toBeGreaterThanOrEqual(10);
  expect((soon?.onset ?? 0) + (soon?.lasted ?? 0)).toBeLessThanOrEqual(11);
  expect(mended.late).toBeLessThan(alone.late / 5);
  expect(mended.p99 as number).toBeLessThan(alone.p99 as number);
});

test("what is asked for is counted while it is in force, from the moment on that counts", () => {
  const twice: ServiceAction = { kind: "set-limits", instance: "geo-0", limits: { cpu: 1 } };
  const quiet = { ...options, injections: [], duration: seconds(60), countFrom: seconds(20) };
  const before = runEpisode(quiet);
  // Fifteen services with the least of half a core each, at this load.
  expect(before.requestedCores).toBeCloseTo(7.5, 9);
  expect(before.seconds).toBe(40);
  expect(before.mitigations).toEqual([]);
  expect(Math.abs(before.requests / (40 * 200) - 1)).toBeLessThan(0.05);
  // Half a core more for 30 of 40 seconds, less 2 ms.
  const after = runEpisode({ ...quiet, controller: scripted(30, twice) });
  expect(after.requestedCores - before.requestedCores).toBeCloseTo((0.5 * 30) / 40, 3);
  expect(after.requests).toBe(before.requests);
});

test("what the guard does not let pass is counted and not done", () => {
  const wild: ServiceAction = { kind: "set-limits", instance: "geo-0", limits: { cpu: Number.NaN } };
  const quiet = { ...options, injections: [], duration: seconds(10), countFrom: seconds(0) };
  expect(runEpisode({ ...quiet, controller: scripted(5, wild) })).toMatchObject({ actions: 0, refusals: 1 });
});

test("the fluid rung gives the same figures in kind, and one seed the same to the last digit", () => {
  const fluid = { ...options, rung: "fluid" as const, controller: scripted(30, more) };
  expect(runEpisode(fluid)).toEqual(runEpisode(fluid));
  const figures = runEpisode(fluid);
  expect(figures.requests).toBeGreaterThan(20_000);
  expect(JSON.parse(JSON.stringify(figures))).toEqual(figures);
});
