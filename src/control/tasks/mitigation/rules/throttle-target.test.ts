import { expect, test } from "vitest";
import { minutes, seconds } from "../../../../base/index.ts";
import { fluidMicroserviceWorld, hotelReservation, type MicroserviceWorld } from "../../../../sim/index.ts";
import type { ServicesController } from "../port.ts";
import { throttleTargetController } from "./throttle-target.ts";

const world = () =>
  fluidMicroserviceWorld({
    seed: 1_000,
    application: hotelReservation,
    designRate: 400,
    load: { id: "steady", level: "high", perMinute: Float64Array.of(400), dispersion: 1 },
  });

/** Without the guard: bounds are the world's own here. */
function drive(one: MicroserviceWorld, controller: ServicesController, until: number): void {
  while (one.now < seconds(until)) {
    one.advance(seconds(one.now / 1_000 + 1));
    for (const { action } of controller.control(one))
      if (action.kind === "set-limits") one.setLimits(action.instance, action.limits);
  }
}
const limitOf = (one: MicroserviceWorld, name: string) =>
  one.readInstances().find(({ instance }) => instance === name)?.limits.cpu as number;

test("limits fall towards what is used, a stressed container's rises within seconds, and nothing but CPU moves", () => {
  const one = world();
  const before = one.readInstances();
  const controller = throttleTargetController();
  drive(one, controller, 50);
  const calm = one.readInstances();
  const sum = (list: typeof calm) => list.reduce((total, { limits }) => total + limits.cpu, 0);
  expect(sum(calm)).toBeLessThan(0.8 * sum(before));
  expect(calm.map(({ limits }) => limits.memory)).toEqual(before.map(({ limits }) => limits.memory));
  one.inject({
    id: "s",
    kind: "cpu",
    target: { on: "instance", service: "search", replica: 0 },
    start: seconds(50),
    duration: minutes(2),
    pattern: "constant",
    intensity: 0.5,
  });
  const low = limitOf(one, "search-0");
  drive(one, controller, 58);
  // The stressor wants 1.5 times the default.
  expect(limitOf(one, "search-0")).toBeGreaterThan(2 * low);
});

test("after each minute the Tower knows what it cost, and groups services once", () => {
  const arms = [
    { busy: 0, idle: 0 },
    { busy: 4, idle: 8 },
    { busy: 8, idle: 8 },
  ];
  const controller = throttleTargetController({ rehearse: arms });
  drive(world(), controller, 182);
  const { samples, busy } = controller.memory;
  expect(samples.map(({ arm }) => arm)).toEqual(arms.slice(0, samples.length));
  expect(samples.length).toBeGreaterThanOrEqual(2);
  for (const { perSecond, cores } of samples) {
    expect(Math.abs(perSecond / 400 - 1)).toBeLessThan(0.1);
    expect(cores).toBeGreaterThan(0);
  }
  expect(busy.length).toBeGreaterThan(0);
  expect(busy.length).toBeLessThan(hotelReservation.services.length);
});

test("what was learnt once can be begun with", () => {
  const first = throttleTargetController({ rehearse: [{ busy: 2, idle: 2 }] });
  drive(world(), first, 62);
  const again = throttleTargetController({ memory: JSON.parse(JSON.stringify(first.memory)) });
  expect(again.memory).toEqual(first.memory);
});
