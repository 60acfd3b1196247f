import { expect, test } from "vitest";
import { milliseconds, ok, seconds } from "../../base/index.ts";
import { Localizer } from "../../control/localize/index.ts";
import { mitigationShape } from "../../control/tasks/mitigation/index.ts";
import type { Learner } from "../../learn/rl/index.ts";
import { hotelReservation, isolatedSlos, microserviceWorld, simulatedServices } from "../../sim/index.ts";
import { FirmAgents } from "./firm-agents.ts";

/** Says the same whatever it is shown. */
const saying = (value: number): Learner => ({
  kind: "constant",
  learnsFrom: "any",
  steps: 0,
  setProgress: () => undefined,
  shape: mitigationShape,
  act: () => ok({ action: new Float32Array(5).fill(value), logProb: 0 }),
  observe: () => ok(undefined),
  update: () => undefined,
  save: () => new Uint8Array(),
  load: () => ok(undefined),
  dispose: () => undefined,
});

test("in a whole world a starved container is found by its spans and given what it lacks, within seconds", () => {
  const world = microserviceWorld({
    seed: 1_000,
    application: hotelReservation,
    slos: isolatedSlos(hotelReservation),
    load: { id: "steady", level: "high", perMinute: Float64Array.of(300), dispersion: 1 },
  });
  const localizer = new Localizer({ seed: 1 });
  const agents = new FirmAgents({ port: simulatedServices(world), localizer, createLearner: () => saying(1) });
  world.advance(seconds(3));
  const run = (until: number): void => {
    while (world.now < seconds(until)) {
      world.advance(milliseconds(world.now + 1_000));
      agents.step();
    }
  };
  run(13);
  localizer.settleNormal();
  const cpuOf = () => world.readInstances().find(({ instance }) => instance === "search-0")?.limits.cpu as number;
  const before = cpuOf();
  world.inject({
    id: "x",
    kind: "cpu",
    target: { on: "instance", service: "search", replica: 0 },
    start: world.now,
    duration: seconds(120),
    pattern: "constant",
    intensity: 1,
  });
  run(18);
  expect(cpuOf()).toBeGreaterThan(2 * before);
  world.truth();
  run(24);
  const { requests } = world.truth();
  const ended = requests.reduce((sum, one) => sum + one.completed, 0);
  const late = requests.reduce((sum, one) => sum + one.late, 0);
  expect(late / ended).toBeLessThan(0.05);
  agents.dispose();
});
