import { expect, test } from "vitest";
import { steady } from "../../../../test/fixtures/sim/simple-application.ts";
import type { Injection } from "../../../act/faults/index.ts";
import { milliseconds, seconds } from "../../../base/index.ts";
import { applications, hotelReservation } from "../applications/index.ts";
import { microserviceWorld } from "../event/event-world.ts";
import { isolatedRequests, isolatedSlos } from "../isolated.ts";
import { nodeOf } from "../nodes.ts";
import { fluidMicroserviceWorld } from "./fluid-world.ts";

const slos = isolatedSlos(hotelReservation);
const world = (seed = 1, rate = 200) =>
  fluidMicroserviceWorld({
    seed,
    application: hotelReservation,
    load: steady(rate),
    designRate: 200,
    slos,
    samples: 200,
  });
const stressor: Injection = {
  id: "s",
  kind: "cpu",
  target: { on: "instance", service: "recommendation", replica: 0 },
  start: seconds(20),
  duration: seconds(20),
  pattern: "constant",
  intensity: 0.9,
};

test("requests are conserved, and come as often as the load says", () => {
  for (const application of applications) {
    const fluid = fluidMicroserviceWorld({ seed: 1, application, load: steady(300), designRate: 60 });
    let arrived = 0;
    for (let second = 1; second <= 60; second++) {
      fluid.advance(seconds(second));
      for (const truth of fluid.truth().requests) {
        arrived += truth.arrived;
        expect(truth.completed + truth.timedOut + truth.dropped).toBe(truth.arrived);
        expect(truth.late).toBeLessThanOrEqual(truth.completed);
        expect(Math.min(truth.completed, truth.timedOut, truth.dropped, truth.late)).toBeGreaterThanOrEqual(0);
      }
    }
    expect(Math.abs(arrived / 60 / 300 - 1)).toBeLessThan(0.05);
  }
});

test("two runs with one seed are the same to the last digit", () => {
  const run = (seed: number) => {
    const fluid = world(seed);
    fluid.inject(stressor);
    fluid.advance(seconds(30));
    return { truth: fluid.truth(), instances: fluid.readInstances(), requests: fluid.readRequests() };
  };
  expect(run(3)).toEqual(run(3));
  expect(run(3).truth).not.toEqual(run(4).truth);
});

test("with next to no load requests take the isolated time", () => {
  const nodes = [nodeOf("p", "power"), nodeOf("q", "power")];
  const options = { seed: 1, application: hotelReservation, load: steady(40), designRate: 400, nodes, samples: 40 };
  const fluid = fluidMicroserviceWorld(options);
  fluid.advance(seconds(120));
  const truths = fluid.truth().requests;
  for (const [type, { p50 }] of isolatedRequests(hotelReservation).entries())
    expect(Math.abs((truths[type]?.p50 as number) / p50 - 1)).toBeLessThan(0.06);
});

test("a stressor breaks the SLO until it ends or its container gets more; the event rung's actuators are used", () => {
  const missedBetween = (mend: boolean) => {
    const fluid = world();
    fluid.inject(stressor);
    fluid.advance(seconds(20));
    const calm = fluid.truth().requests[1]?.late as number;
    fluid.advance(seconds(25));
    const stressed = fluid.truth().requests[1]?.late as number;
    const instance = fluid.readInstances().find((reading) => reading.instance === "recommendation-0");
    const cpu = instance?.upper.cpu as number;
    if (mend) expect(fluid.setLimits("recommendation-0", { cpu }).ok).toBe(true);
    fluid.advance(seconds(30));
    fluid.truth();
    fluid.advance(seconds(40));
    const later = fluid.truth().requests[1]?.late as number;
    fluid.advance(seconds(60));
    fluid.truth();
    fluid.advance(seconds(80));
    return { calm, stressed, later, after: fluid.truth().requests[1]?.late as number };
  };
  const left = missedBetween(false);
  const mended = missedBetween(true);
  expect(left.calm).toBeLessThan(20);
  expect(left.stressed).toBeGreaterThan(50);
  expect(left.later).toBeGreaterThan(100);
  expect(mended.later).toBeLessThan(left.later / 4);
  expect(left.after).toBeLessThan(20);
});

test("replicas start after their latency, share the calls, and are gone at once", () => {
  const fluid = world();
  expect(fluid.scale("search", 3)).toEqual({ ok: true, value: 3 });
  fluid.advance(seconds(1));
  const used = () =>
    fluid
      .readInstances()
      .filter(({ service, isReady }) => service === "search" && isReady)
      .map(({ use }) => use?.cpu ?? 0);
  expect(used()).toHaveLength(1);
  fluid.advance(seconds(10));
  expect(used()).toHaveLength(3);
  expect(Math.abs((used()[0] as number) / (used()[2] as number) - 1)).toBeLessThan(0.5);
  expect(fluid.scale("search", 1).ok).toBe(true);
  fluid.advance(seconds(11));
  expect(used()).toHaveLength(1);
  expect(fluid.readService("search")).toMatchObject({ spec: { replicas: 1 } });
});

test("both rungs count throttled periods: next to none in quiet, every one under a stressor beyond the limit", () => {
  const options = { seed: 3, application: hotelReservation, load: steady(200), metrics: { missing: 0 } };
  for (const rung of [fluidMicroserviceWorld(options), microserviceWorld(options)]) {
    const counted = () => {
      const found = rung.readInstances().find(({ instance }) => instance === "recommendation-0")?.counters;
      return { periods: found?.cpuCfsPeriodsTotal as number, throttled: found?.cpuCfsThrottledPeriodsTotal as number };
    };
    rung.advance(milliseconds(19_900));
    const quiet = counted();
    expect(quiet.periods).toBeGreaterThan(100);
    expect(quiet.periods).toBeLessThanOrEqual(200);
    expect(quiet.throttled).toBeLessThan(0.02 * quiet.periods);
    rung.inject(stressor);
    rung.advance(milliseconds(25_000));
    const before = counted();
    rung.advance(milliseconds(35_000));
    const after = counted();
    // Ten seconds, as far as scrapes of a second tell: each of them ten periods.
    expect(after.periods - before.periods).toBeGreaterThanOrEqual(89);
    expect(after.periods - before.periods).toBeLessThanOrEqual(111);
    expect(after.throttled - before.throttled).toBe(after.periods - before.periods);
  }
});

test("time does not go back", () => {
  const fluid = world();
  fluid.advance(seconds(2));
  expect(() => fluid.advance(milliseconds(1))).toThrow("time does not go back");
});
