import { expect, test } from "vitest";
import {
  simpleApplication,
  simpleNode,
  simpleService,
  simpleWorld,
  steady,
} from "../../../../test/fixtures/sim/simple-application.ts";
import { milliseconds, minutes, seconds } from "../../../base/index.ts";
import { call } from "../applications/index.ts";
import { microserviceWorld } from "./event-world.ts";

/** Mean time of an answered request after a warm-up, ms. */
function meanTime(options: ReturnType<typeof simpleWorld>, forMinutes: number): number {
  const world = microserviceWorld(options);
  world.advance(seconds(20));
  world.truth();
  world.advance(minutes(forMinutes));
  return world.truth().requests[0]?.mean as number;
}

/** The chance to wait in M/M/c, by Erlang. */
function erlangC(servers: number, offered: number): number {
  let blocked = 1;
  for (let i = 1; i <= servers; i++) blocked = (offered * blocked) / (i + offered * blocked);
  return blocked / (1 - (offered / servers) * (1 - blocked));
}

test("a pool of four threads on plenty of cores is M/M/4", () => {
  const [rate, work, threads] = [320, 10, 4];
  const offered = (rate * work) / 1_000;
  const expected = work + (erlangC(threads, offered) * work) / (threads - offered);
  const found = meanTime(simpleWorld(rate, { application: simpleApplication({ threads }) }), 12);
  expect(Math.abs(found / expected - 1)).toBeLessThan(0.05);
});

test("many threads on one core are processor sharing: work over what is left of the core", () => {
  const application = simpleApplication({ threads: 4_000 });
  const found = meanTime(simpleWorld(70, { application, nodes: [simpleNode(1)], limits: { only: { cpu: 1 } } }), 20);
  // A quota of the whole node never throttles: 10 ms / (1 − 0.7).
  expect(Math.abs(found / (10 / 0.3) - 1)).toBeLessThan(0.05);
});

test("half of the core in a quota of 100 ms periods does half of the work, whatever comes", () => {
  const application = simpleApplication({ threads: 8 });
  const world = microserviceWorld(
    simpleWorld(200, { application, limits: { only: { cpu: 0.5 } }, nodes: [simpleNode(8)] }),
  );
  world.advance(minutes(5));
  const { requests, cpuUsed } = world.truth();
  // 50 requests of 10 ms a second are all that half a core can do.
  expect((requests[0]?.completed as number) / 300).toBeGreaterThan(49);
  expect((requests[0]?.completed as number) / 300).toBeLessThan(51);
  expect(cpuUsed / 300).toBeCloseTo(0.5, 2);
});

test("containers that always want more share a node's core by their limits", () => {
  const services = [
    { ...simpleService, name: "a", threads: 8 },
    { ...simpleService, name: "b", threads: 8 },
  ];
  const requests = ["a", "b"].map((name) => ({ name, weight: 1, root: call(name) }));
  const world = microserviceWorld({
    ...simpleWorld(1),
    application: { name: "two", services, requests },
    load: steady(600),
    nodes: [simpleNode(1)],
    limits: { a: { cpu: 3 }, b: { cpu: 1 } },
  });
  world.advance(seconds(20));
  world.truth();
  world.advance(seconds(140));
  const [a, b] = world.truth().requests.map(({ completed }) => completed) as [number, number];
  expect(Math.abs(a / b / 3 - 1)).toBeLessThan(0.05);
  expect(Math.abs((a + b) / 120 / 100 - 1)).toBeLessThan(0.03);
});

test("memory bandwidth divides by max–min, not by CPU limits, and caps what all requests together draw", () => {
  // 0.45 CPU and 0.5 memory at 4,000 MB/s: 2 MB per ms of work; 100 MB/s let 50 ms of work through a second.
  const application = simpleApplication({ threads: 16, profile: "memory" });
  const limits = { only: { cpu: 64, memory: 100 } };
  const world = microserviceWorld(simpleWorld(50, { application, limits }));
  world.advance(seconds(30));
  world.truth();
  world.advance(seconds(330));
  expect((world.truth().requests[0]?.completed as number) / 300).toBeCloseTo(5, 0);
});

test("stages add up, calls side by side take the longest, and nobody waits for the background", () => {
  const leaf = { ...simpleService, threads: 100 };
  const services = ["front", "x", "y", "z"].map((name, i) => ({ ...leaf, name, work: 10 * (i + 1) }));
  const root = call("front", [[call("x"), call("y")], call("x")], { background: [call("z")] });
  const world = microserviceWorld({
    ...simpleWorld(1),
    application: { name: "tree", services, requests: [{ name: "r", weight: 1, root }] },
    limits: Object.fromEntries(services.map(({ name }) => [name, { cpu: 8 }])),
    spread: "constant",
    hop: { mean: 1, variation: 0 },
  });
  world.advance(seconds(60));
  const { p50 } = world.truth().requests[0] as { p50: number };
  // 7 before; 30 beside 20; 20; 3 after; one hop in and out at each of three levels: 2 + 2 + 2.
  expect(p50).toBeCloseTo(10 + 30 + 20 + 6, 6);
});

test("a network delay on a container adds to both ways of every message", () => {
  const world = microserviceWorld(
    simpleWorld(20, { spread: "constant", application: simpleApplication({ threads: 99 }) }),
  );
  const target = { on: "instance", service: "only", replica: 0 } as const;
  const common = { id: "d", start: milliseconds(0), duration: minutes(10), pattern: "constant" } as const;
  world.inject({ ...common, kind: "network-delay", target, intensity: 0.5 });
  world.advance(seconds(10));
  world.truth();
  world.advance(minutes(5));
  // 10 ms of work; 10 ms at half intensity on the way there, and on the way back.
  expect(world.truth().requests[0]?.mean).toBeCloseTo(30, 0);
});
