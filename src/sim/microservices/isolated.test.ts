import { expect, test } from "vitest";
import { simpleService, steady } from "../../../test/fixtures/sim/simple-application.ts";
import { seconds } from "../../base/index.ts";
import { applications, call, hotelReservation } from "./applications/index.ts";
import { microserviceWorld } from "./event/event-world.ts";
import { isolatedRequests, isolatedSlos } from "./isolated.ts";
import { nodeOf } from "./nodes.ts";
import { compile } from "./program.ts";
import { Workflow } from "./workflow.ts";

test("stages add up, parallel calls take the longest, work is split around the stages", () => {
  const services = ["front", "x", "y"].map((name, i) => ({ ...simpleService, name, work: 10 * (i + 1) }));
  const root = call("front", [[call("x"), call("y")], call("x")]);
  const program = compile({ name: "tree", services, requests: [{ name: "r", weight: 1, root }] });
  const workflow = new Workflow({ program, hop: { mean: 1, variation: 0 }, spread: "constant", overhead: 0 });
  const alone = { enter: () => 0, spend: (_: number, work: number) => work };
  expect(workflow.walk(0, 1, alone)).toBeCloseTo(10 + 30 + 20 + 6, 9);
  // Five more before each call of x, in a row with everything.
  const queued = { ...alone, enter: (at: number) => (program.names[program.service[at] as number] === "x" ? 5 : 0) };
  expect(workflow.walk(0, 1, queued)).toBeCloseTo(66 + 5, 9);
  const refused = { ...alone, enter: (at: number) => (program.names[program.service[at] as number] === "y" ? -1 : 0) };
  expect(workflow.walk(0, 1, refused)).toBe(-1);
});

test("with next to no load, the event world's requests take the isolated time", () => {
  const nodes = [nodeOf("p", "power"), nodeOf("q", "power")];
  const world = microserviceWorld({ seed: 1, application: hotelReservation, load: steady(4), designRate: 400, nodes });
  world.advance(seconds(600));
  const truths = world.truth().requests;
  for (const [type, { p50 }] of isolatedRequests(hotelReservation).entries())
    expect(Math.abs((truths[type]?.p50 as number) / p50 - 1)).toBeLessThan(0.06);
});

test("SLOs are kept at the load that limits are made for, in every application", () => {
  for (const application of applications) {
    const slos = isolatedSlos(application);
    const world = microserviceWorld({ seed: 1, application, load: steady(100), slos, tracing: { sampling: 0 } });
    world.advance(seconds(5));
    world.truth();
    world.advance(seconds(45));
    const { requests } = world.truth();
    const late = requests.reduce((sum, truth) => sum + truth.late + truth.timedOut + truth.dropped, 0);
    const arrived = requests.reduce((sum, truth) => sum + truth.arrived, 0);
    expect(late / arrived).toBeLessThan(0.01);
  }
});
