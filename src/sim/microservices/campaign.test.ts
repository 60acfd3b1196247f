import { expect, test } from "vitest";
import { steady } from "../../../test/fixtures/sim/simple-application.ts";
import { faultLimits, type Injection } from "../../act/faults/index.ts";
import { seconds } from "../../base/index.ts";
import { hotelReservation } from "./applications/index.ts";
import { breaksSlo, missed, runCampaign, thresholdOf } from "./campaign.ts";
import { microserviceWorld } from "./event/event-world.ts";
import { isolatedSlos } from "./isolated.ts";
import type { RequestTruth } from "./world.ts";

const slos = isolatedSlos(hotelReservation);
const makeWorld = () =>
  microserviceWorld({ seed: 3, application: hotelReservation, load: steady(200), slos, tracing: { sampling: 0 } });
const injection: Injection = {
  id: "geo",
  kind: "cpu",
  target: { on: "instance", service: "recommendation", replica: 0 },
  start: seconds(5),
  duration: seconds(5),
  pattern: "constant",
  intensity: 0.9,
};

test("a campaign does what passes the guard, says what does not, and the trouble is over when it ends", () => {
  const stranger: Injection = { ...injection, id: "x", target: { on: "instance", service: "nobody", replica: 0 } };
  const late: Injection = { ...injection, id: "late", start: seconds(60) };
  const bySecond: number[] = [];
  const verdicts = runCampaign({
    world: makeWorld(),
    injections: [late, stranger, { ...injection, intensity: 7 }],
    until: seconds(20),
    limits: faultLimits,
    onStep: ({ requests }) => bySecond.push(requests.reduce((sum, truth) => sum + missed(truth), 0)),
  });
  expect(verdicts.map(({ wished, refused }) => [wished.id, refused])).toEqual([
    ["x", "unknown-target"],
    ["geo", null],
    ["late", "already-over"],
  ]);
  expect(verdicts[1]?.done?.intensity).toBe(1);
  expect(verdicts[1]?.changed).toEqual([{ field: "intensity", from: 7, to: 1 }]);
  const sum = (from: number, to: number) => bySecond.slice(from, to).reduce((a, b) => a + b, 0);
  expect(bySecond).toHaveLength(20);
  expect(sum(5, 10)).toBeGreaterThan(100);
  expect(sum(0, 5) + sum(13, 20)).toBeLessThan(10);
});

test("a type of request breaks its SLO when clearly more than one in a hundred miss it", () => {
  const truth = { completed: 980, timedOut: 10, dropped: 10, late: 0, inFlight: 0 } as RequestTruth;
  expect(breaksSlo(truth)).toBe(true);
  expect(breaksSlo({ ...truth, completed: 990, timedOut: 5, dropped: 5 })).toBe(false);
  // Two of a hundred may be chance.
  expect(breaksSlo({ ...truth, completed: 98, timedOut: 1, dropped: 1 })).toBe(false);
  expect(breaksSlo({ ...truth, completed: 0, timedOut: 0, dropped: 0, inFlight: 9 })).toBe(true);
});

test("an injection breaks the SLO from some intensity on, and one that cannot has no threshold", () => {
  const threshold = thresholdOf(injection, { makeWorld, span: seconds(6) }) as number;
  expect(threshold).toBeGreaterThan(1 / 16);
  expect(threshold).toBeLessThan(1);
  // The front end of this application writes to no disk.
  const target = { on: "instance", service: "frontend", replica: 0 } as const;
  expect(thresholdOf({ ...injection, kind: "io-bandwidth", target }, { makeWorld, span: seconds(6) })).toBeNull();
});
