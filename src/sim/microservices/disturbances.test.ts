import { expect, test } from "vitest";
import type { Injection } from "../../act/faults/index.ts";
import { seconds } from "../../base/index.ts";
import { CPU } from "./calibration.ts";
import { type Disturbable, Disturbances, newStress } from "./disturbances.ts";

const injection: Injection = {
  id: "a",
  kind: "cpu",
  target: { on: "instance", service: "geo", replica: 0 },
  start: seconds(10),
  duration: seconds(20),
  pattern: "constant",
  intensity: 0.5,
};

test("an injection in the place of one with its id takes over from it, so that one can be called off", () => {
  const container = { stress: newStress(), delay: 0, fullStress: [4, 0, 0, 0, 0] };
  const world: Disturbable = {
    instance: () => container,
    node: () => undefined,
    extraLoad: new Float64Array(0),
    requestNames: [],
  };
  const disturbances = new Disturbances();
  disturbances.add(injection);
  disturbances.add({ ...injection, id: "b", intensity: 0.25 });
  disturbances.apply(world, seconds(15));
  expect(container.stress[CPU]).toBe(3);
  disturbances.add({ ...injection, duration: seconds(5) });
  disturbances.apply(world, seconds(15));
  expect(container.stress[CPU]).toBe(1);
});
