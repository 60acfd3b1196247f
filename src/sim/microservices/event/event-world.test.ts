import { expect, test } from "vitest";
import {
  simpleApplication,
  simpleService,
  simpleWorld,
  steady,
} from "../../../../test/fixtures/sim/simple-application.ts";
import type { Injection } from "../../../act/faults/index.ts";
import { milliseconds, minutes, resources, seconds, seededRng } from "../../../base/index.ts";
import type { Span } from "../../../observe/telemetry/index.ts";
import { applications, call, hotelReservation, socialNetwork } from "../applications/index.ts";
import { firmNodes } from "../nodes.ts";
import { microserviceWorld } from "./event-world.ts";

const stressor = (change: Partial<Injection>): Injection => ({
  id: "s",
  kind: "cpu",
  target: { on: "instance", service: "profile", replica: 0 },
  start: seconds(5),
  duration: minutes(5),
  pattern: "constant",
  intensity: 1,
  ...change,
});

test("requests are conserved at every look, under stress, drops, time-outs, scaling and resizing", () => {
  for (const application of applications) {
    const world = microserviceWorld({
      seed: 3,
      application,
      load: steady(60),
      designRate: 20,
      timeout: milliseconds(400),
      tracing: { sampling: 0 },
    });
    const rng = seededRng(7);
    const sums = application.requests.map(() => ({ arrived: 0, ended: 0 }));
    for (let second = 1; second <= 20; second++) {
      const { name } = application.services[rng.int(application.services.length)] as { name: string };
      world.inject(
        stressor({
          id: `${second}`,
          kind: (["cpu", "memory-bandwidth", "io-bandwidth", "network-delay"] as const)[second % 4]!,
          target: { on: "instance", service: name, replica: 0 },
          start: world.now,
          duration: seconds(3),
        }),
      );
      world.scale(name, 1 + rng.int(3));
      world.setLimits(`${name}-0`, { cpu: 0.1 + rng.next(), memory: 500 + 5_000 * rng.next() });
      world.advance(seconds(second));
      for (const [type, truth] of world.truth().requests.entries()) {
        const sum = sums[type] as { arrived: number; ended: number };
        sum.arrived += truth.arrived;
        sum.ended += truth.completed + truth.timedOut + truth.dropped;
        expect(truth.inFlight).toBeGreaterThanOrEqual(0);
        expect(sum.arrived).toBe(sum.ended + truth.inFlight);
      }
    }
    expect(sums.every(({ ended }) => ended > 0)).toBe(true);
  }
});

test("two runs with one seed are the same to the last digit, and another seed is not", () => {
  const run = (seed: number) => {
    const world = microserviceWorld({ seed, application: hotelReservation, load: steady(150) });
    world.inject(stressor({}));
    world.advance(seconds(12));
    return { truth: world.truth(), spans: world.takeSpans(), instances: world.readInstances() };
  };
  expect(run(5)).toEqual(run(5));
  expect(run(5).truth).not.toEqual(run(6).truth);
});

test("what a controller does changes neither the arrivals nor the work of requests", () => {
  const run = (replicas: number) => {
    const world = microserviceWorld({ seed: 5, application: hotelReservation, load: steady(50) });
    world.scale("search", replicas);
    world.advance(seconds(10));
    return world.truth().requests.map(({ arrived }) => arrived);
  };
  expect(run(3)).toEqual(run(1));
});

test("a full queue refuses, and the refusal comes back to the client at once", () => {
  // One thread, a queue of 16, half of what comes can be served.
  const world = microserviceWorld(simpleWorld(200));
  world.advance(minutes(1));
  const { arrived, completed, dropped, inFlight, p99 } = world.truth().requests[0] as never as Record<string, number>;
  expect(completed! + dropped! + inFlight!).toBe(arrived);
  expect(completed! / arrived!).toBeCloseTo(0.5, 1);
  expect(dropped! / arrived!).toBeCloseTo(0.5, 1);
  // Nobody waits for more than 17 times 10 ms, give or take.
  expect(p99).toBeLessThan(17 * 10 * 2);
});

test("clients give up after their patience, and the services go on all the same", () => {
  const application = simpleApplication({ threads: 400 });
  const options = simpleWorld(150, { application, limits: { only: { cpu: 1 } }, timeout: milliseconds(500) });
  const world = microserviceWorld(options);
  world.advance(minutes(1));
  const truth = world.truth();
  expect(truth.requests[0]?.timedOut).toBeGreaterThan(1_000);
  // The limit of one core is used up, most of it for nobody.
  expect(truth.cpuUsed).toBeGreaterThan(58);
});

test("a slow service fills the pool of who calls it: the caller's latency shows it, its CPU does not", () => {
  const services = [
    { ...simpleService, name: "front", work: 1, threads: 4 },
    { ...simpleService, name: "back", work: 5, threads: 64 },
  ];
  const application = {
    name: "chain",
    services,
    requests: [{ name: "r", weight: 1, root: call("front", [call("back")]) }],
  };
  const world = microserviceWorld({
    ...simpleWorld(100, { application, limits: { front: { cpu: 4 }, back: { cpu: 1 } } }),
    nodes: firmNodes().slice(0, 2),
  });
  world.advance(seconds(30));
  const before = { front: world.readService("front"), truth: world.truth() };
  world.inject(stressor({ target: { on: "instance", service: "back", replica: 0 }, start: world.now, intensity: 0.6 }));
  world.advance(seconds(60));
  const after = { front: world.readService("front"), truth: world.truth() };
  expect(after.front.latency as number).toBeGreaterThan(3 * (before.front.latency as number));
  expect(after.front.use.cpu as number).toBeLessThan(1.2 * (before.front.use.cpu as number));
  expect(after.truth.requests[0]?.p99 as number).toBeGreaterThan(3 * (before.truth.requests[0]?.p99 as number));
});

test("memory stress breaks latency while CPU use stays flat; more bandwidth for the container mends it", () => {
  const application = hotelReservation;
  const world = microserviceWorld({ seed: 2, application, load: steady(200), tracing: { sampling: 0 } });
  const usedBy = () => world.readInstances().find(({ instance }) => instance === "recommendation-0");
  const p99 = () => world.truth().requests[1]?.p99 as number;
  world.advance(seconds(20));
  const calm = { p99: p99(), cpu: usedBy()?.use?.cpu as number };
  const target = { on: "instance", service: "recommendation", replica: 0 } as const;
  world.inject(stressor({ kind: "memory-bandwidth", target, start: world.now, intensity: 0.5 }));
  world.advance(seconds(40));
  const stressed = { p99: p99(), cpu: usedBy()?.use?.cpu as number };
  expect(stressed.p99).toBeGreaterThan(1.3 * calm.p99);
  expect(Math.abs(stressed.cpu / calm.cpu - 1)).toBeLessThan(0.2);
  const reading = usedBy();
  const more = world.setLimits("recommendation-0", { memory: reading?.upper.memory as number });
  expect(more.ok).toBe(true);
  world.advance(seconds(45));
  world.truth();
  world.advance(seconds(65));
  expect(p99()).toBeLessThan(1.15 * calm.p99);
});

test("an injection ends by itself, and what it did passes", () => {
  const world = microserviceWorld({ seed: 2, application: hotelReservation, load: steady(200) });
  const p99 = () => world.truth().requests[1]?.p99 as number;
  world.advance(seconds(20));
  const calm = p99();
  world.inject(stressor({ start: world.now, duration: seconds(10) }));
  world.advance(seconds(30));
  expect(p99()).toBeGreaterThan(1.5 * calm);
  world.advance(seconds(40));
  world.truth();
  world.advance(seconds(60));
  expect(p99()).toBeLessThan(1.2 * calm);
});

test("an injected load adds three times the requests at full intensity, of its type only", () => {
  const world = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(200), designRate: 800 });
  const target = { on: "requests", request: "login" } as const;
  world.inject(stressor({ kind: "workload-variation", target, start: milliseconds(0) }));
  world.advance(seconds(1));
  world.truth();
  world.advance(seconds(61));
  const [search, , login] = world.truth().requests.map(({ arrived }) => arrived / 60) as [number, number, number];
  expect(Math.abs(search / 50 - 1)).toBeLessThan(0.1);
  expect(Math.abs(login / 200 - 1)).toBeLessThan(0.1);
});

test("a tenant of a whole node slows down whoever lives there", () => {
  const nodes = firmNodes().slice(0, 1);
  const world = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(200), nodes });
  world.advance(seconds(20));
  const calm = world.truth().requests[1]?.p50 as number;
  world.inject(stressor({ kind: "memory-bandwidth", target: { on: "node", node: "x86-0" }, start: world.now }));
  world.advance(seconds(40));
  expect(world.truth().requests[1]?.p50 as number).toBeGreaterThan(1.05 * calm);
});

test("a limit takes effect after the latency of its partition, a container after a cold or a warm start", () => {
  const world = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(10) });
  const limitOf = () => world.readInstances().find(({ instance }) => instance === "geo-0")?.limits;
  const before = limitOf()?.memory as number;
  expect(world.setLimits("geo-0", { memory: before * 2 }).ok).toBe(true);
  world.advance(milliseconds(5));
  expect(limitOf()?.memory).toBe(before);
  // 42.4 ms with a deviation of 11.
  world.advance(milliseconds(100));
  expect(limitOf()?.memory).toBe(before * 2);
  const readyAt = () => world.readInstances().filter(({ service, isReady }) => service === "geo" && isReady).length;
  expect(world.scale("geo", 2)).toEqual({ ok: true, value: 2 });
  world.advance(seconds(1));
  expect(readyAt()).toBe(1);
  world.advance(seconds(4));
  expect(readyAt()).toBe(2);
  // Fifteen nodes have the image now or one of them twice: those starts are warm.
  expect(world.scale("geo", 1).ok).toBe(true);
  expect(world.scale("geo", 16).ok).toBe(true);
  world.advance(seconds(5));
  expect(readyAt()).toBeGreaterThanOrEqual(1);
  world.advance(seconds(9));
  expect(readyAt()).toBe(16);
});

test("limits stay within bounds and within what the node has", () => {
  const world = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(10) });
  const reading = world.readInstances().find(({ instance }) => instance === "geo-0");
  const set = world.setLimits("geo-0", { cpu: 1e9, io: 1e-9 });
  expect(set).toMatchObject({ ok: true, value: { cpu: reading?.upper.cpu, io: reading?.lower.io } });
  expect(world.setLimits("geo-0", { cpu: Number.NaN })).toMatchObject({ ok: false });
  expect(world.setLimits("nobody-0", {})).toMatchObject({ failure: { code: "microservices.unknown-target" } });
  const tight = { name: "tiny", processor: "xeon", capacity: [8, 1e6, 1e3, 1e4, 1e4] } as const;
  const full = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(10), nodes: [tight] });
  expect(full.setLimits("geo-0", { cpu: 2 })).toMatchObject({ failure: { code: "microservices.no-room" } });
  expect(full.scale("geo", 9)).toMatchObject({ failure: { code: "microservices.no-room" } });
});

test("spans are one trace per request: a root without a parent, children within their parents, background as consumers", () => {
  const tracing = { skew: 0, loss: 0 };
  const world = microserviceWorld({ seed: 4, application: socialNetwork, load: steady(40), tracing });
  world.advance(seconds(10));
  const traces = new Map<string, Span[]>();
  for (const span of world.takeSpans()) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
  expect(world.takeSpans()).toEqual([]);
  let whole = 0;
  for (const spans of traces.values()) {
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const roots = spans.filter(({ parentId }) => parentId === undefined);
    if (roots.length === 0) continue; // still under way when we looked
    whole++;
    expect(roots).toHaveLength(1);
    for (const span of spans) {
      const parent = span.parentId === undefined ? undefined : byId.get(span.parentId);
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      if (parent === undefined) continue;
      expect(span.startUs).toBeGreaterThanOrEqual(parent.startUs);
      if (span.kind === "server") expect(span.endUs).toBeLessThanOrEqual(parent.endUs);
    }
  }
  expect(whole).toBeGreaterThan(300);
  const composed = [...traces.values()].flat().filter(({ operation }) => operation === "compose-post");
  expect(composed.some(({ kind, service }) => kind === "consumer" && service === "write-home-timeline-service")).toBe(
    true,
  );
});

test("sampling, loss and room for spans are what they are set to", () => {
  const count = (tracing: object) => {
    const world = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(200), tracing });
    world.advance(seconds(20));
    return world.takeSpans().length;
  };
  const all = count({ loss: 0 });
  expect(count({ loss: 0, sampling: 0.1 }) / all).toBeCloseTo(0.1, 1);
  expect(count({ loss: 0.2 }) / all).toBeCloseTo(0.8, 1);
  expect(count({ sampling: 0 })).toBe(0);
  expect(count({ capacity: 100 })).toBe(100);
});

test("telemetry has Table 3.1's counters and five uses, late, and the same reading as every other world", () => {
  const world = microserviceWorld({ seed: 4, application: hotelReservation, load: steady(200) });
  world.advance(seconds(10));
  const reading = world.readInstances().find(({ instance }) => instance === "mongodb-rate-0");
  expect(Object.keys(reading?.use ?? {})).toEqual([...resources]);
  for (const value of Object.values(reading?.counters ?? { none: -1 })) expect(value).toBeGreaterThanOrEqual(0);
  expect(reading?.counters?.fsReadSeconds).toBeGreaterThan(0);
  expect(world.now - (reading?.at as number)).toBeGreaterThanOrEqual(500);
  const service = world.readService("frontend");
  expect(service.offered as number).toBeGreaterThan(150);
  expect(service.pods).toHaveLength(1);
  const [search] = world.readRequests();
  expect(Math.abs((search?.offered as number) / 50 - 1)).toBeLessThan(0.3);
  expect(search?.p99 as number).toBeGreaterThan(search?.p50 as number);
});
