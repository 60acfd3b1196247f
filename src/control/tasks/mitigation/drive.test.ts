import { expect, test } from "vitest";
import { err, failure, seconds } from "../../../base/index.ts";
import { fluidMicroserviceWorld, hotelReservation, simulatedServices } from "../../../sim/index.ts";
import { ServicesDriver } from "./drive.ts";
import type { ServiceAction, ServiceProposal } from "./port.ts";

const load = { id: "steady", perMinute: Float64Array.of(500), dispersion: 1, level: "high" as const };

function driven(proposals: (service: string) => readonly ServiceAction[]) {
  const world = fluidMicroserviceWorld({ seed: 1_000, application: hotelReservation, load });
  world.advance(seconds(2));
  const port = simulatedServices(world);
  const controller = {
    name: "test",
    control: (services: typeof port): readonly ServiceProposal[] =>
      proposals(services.readInstances()[0]?.service as string).map((action) => ({
        action,
        measuredAt: services.now,
        why: "because",
      })),
  };
  return { world, driver: new ServicesDriver({ port, controller }) };
}

test("a proposal is guarded before it reaches the world, and both are recorded", () => {
  const { world, driver } = driven((service) => [
    { kind: "set-limits", instance: `${service}-0`, limits: { memory: Number.POSITIVE_INFINITY } },
    { kind: "set-limits", instance: `${service}-0`, limits: { io: 1e9 } },
  ]);
  const before = world.readInstances()[0];
  const [refused, clamped] = driver.step();
  expect(refused).toMatchObject({ controller: "test", verdict: { refused: "not-finite" }, done: { kind: "hold" } });
  expect(clamped?.verdict.changed[0]).toMatchObject({ knob: "io", rule: "bounds", to: before?.upper.io });
  expect(clamped?.done).toMatchObject({ kind: "set-limits", instance: before?.instance });
  world.advance(seconds(3));
  expect(world.readInstances()[0]?.limits.io).toBeGreaterThan(before?.limits.io as number);
  expect(world.readInstances()[0]?.limits.memory).toBe(before?.limits.memory);
});

test("the next proposal of the same turn sees the containers that the one before asked for", () => {
  const { world, driver } = driven((service) => [
    { kind: "scale-service", service, replicas: 3 },
    { kind: "scale-service", service, replicas: 3 },
  ]);
  const service = world.readInstances()[0]?.service;
  const [first, second] = driver.step();
  expect(first?.done).toEqual({ kind: "scale-service", service, replicas: 3 });
  expect(second?.done).toEqual({ kind: "hold" });
  expect(second?.verdict.changed).toEqual([]);
  expect(world.readInstances().filter((one) => one.service === service)).toHaveLength(3);
});

test("a world's refusal is recorded, and starts no cool-down", () => {
  const { world } = driven(() => []);
  const port = simulatedServices(world);
  let refusals = 1;
  const refusing = {
    ...port,
    now: world.now,
    scale: (name: string, replicas: number) =>
      refusals-- > 0 ? err(failure("microservices.no-room", "full")) : port.scale(name, replicas),
  };
  const service = world.readInstances()[0]?.service as string;
  const controller = {
    name: "grow",
    control: (): readonly ServiceProposal[] => [
      { action: { kind: "scale-service", service, replicas: 2 }, measuredAt: world.now, why: "" },
    ],
  };
  const driver = new ServicesDriver({ port: refusing, controller });
  expect(driver.step()[0]).toMatchObject({ done: { kind: "hold" }, failure: { code: "microservices.no-room" } });
  // Replicas wait two seconds after a change; nothing was changed.
  expect(driver.step()[0]).toMatchObject({ done: { kind: "scale-service", service, replicas: 2 } });
});
