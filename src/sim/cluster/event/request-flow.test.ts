import { describe, expect, test } from "vitest";
import {
  idealNode,
  oneBigPod,
  phaseOf,
  plainApplication,
  shop,
  simpleWorld,
  steadyLoad,
} from "../../../../test/fixtures/sim/simple-cluster.ts";
import { bytes, cores, mebibytes, milliseconds, seconds, unwrap } from "../../../base/index.ts";
import type { Load } from "../workloads/index.ts";

const onePod = (cpu: number) => ({ replicas: 1, cpu: cores(cpu), memory: mebibytes(512) });

/** So many requests per second in the first minute, and none after it. */
const oneMinute = (perSecond: number): Load => ({
  id: "burst",
  level: "low",
  perMinute: Float64Array.of(perSecond, ...new Array<number>(59).fill(0)),
  dispersion: 1,
});

describe("a full pod", () => {
  test("refuses what neither its threads nor its queue have room for", () => {
    // Nothing is ever done: two in service, three waiting, all others refused.
    const application = plainApplication({ phases: [phaseOf(0, { wait: 1e9 })], threads: 2, queue: 3 });
    const world = simpleWorld({ application, load: steadyLoad(10) });
    world.advance(seconds(60));
    const { arrived, inFlight, dropped } = world.truth(shop);
    expect([inFlight, dropped]).toEqual([5, arrived - 5]);
  });

  test("serves in the order of arrival", () => {
    // One thread, 100 ms each, far too many at once: the wait grows by 100 ms with every place in the queue.
    const application = plainApplication({ phases: [phaseOf(100)], threads: 1 });
    const world = simpleWorld({
      application,
      load: oneMinute(20),
      slo: { kind: "latency", quantile: 1, target: seconds(1) },
    });
    world.advance(seconds(130));
    const { arrived, completed, latency } = world.truth(shop);
    expect(completed).toBe(arrived);
    // The last of about 1,200 requests comes at 60 s and is done when all are: 100 ms each. First come, first served
    // makes it the slowest.
    expect(latency).toBeGreaterThan(arrived * 100 - 60_100);
    expect(latency).toBeLessThan(arrived * 100 - 58_000);
  });
});

describe("clients", () => {
  test("give up after their patience, and their wait counts for nothing", () => {
    const application = plainApplication({ phases: [phaseOf(0, { wait: 5_000 })], timeout: seconds(2) });
    const world = simpleWorld({ application, load: oneMinute(10) });
    world.advance(seconds(70));
    const truth = world.truth(shop);
    expect(truth).toMatchObject({ completed: 0, timedOut: truth.arrived, inFlight: 0, latency: null, withinSlo: 0 });
  });

  test("that gave up are still worked for: the pod does not know", () => {
    const application = plainApplication({ phases: [phaseOf(300)], threads: 1, queue: 0, timeout: milliseconds(200) });
    const world = simpleWorld({ application, load: oneMinute(1) });
    world.advance(seconds(70));
    const { arrived, dropped, timedOut, cpuUsed } = world.truth(shop);
    expect(timedOut).toBe(arrived - dropped);
    expect(cpuUsed).toBeCloseTo(0.3 * timedOut, 6);
  });

  test("that gave up in the queue are not worked for", () => {
    // One thread is blocked for ever by the first; the others leave the queue without having cost anything.
    const application = plainApplication({ phases: [phaseOf(10, { wait: 1e9 })], threads: 1, timeout: seconds(5) });
    const world = simpleWorld({ application, load: oneMinute(10) });
    world.advance(seconds(70));
    const { arrived, timedOut, cpuUsed } = world.truth(shop);
    expect(timedOut).toBe(arrived);
    expect(cpuUsed).toBeCloseTo(0.01, 9);
  });

  test("take their memory with them when they leave the queue", () => {
    const memory = { base: mebibytes(64), perRequest: mebibytes(10), cache: bytes(0), missPenalty: 1 };
    const application = plainApplication({
      phases: [phaseOf(0, { wait: 1e9 })],
      threads: 1,
      timeout: seconds(5),
      memory,
    });
    const world = simpleWorld({ application, load: oneMinute(4) });
    world.advance(seconds(110));
    // The one that blocks the thread is left of about 240.
    expect(world.read(shop).pods[0]?.memory).toBe(74 * 1_048_576);
  });

  test("try again after a refusal as often as they may, and each attempt reaches the ingress", () => {
    const attemptsPerRequest = (retries: number): number => {
      const world = simpleWorld({
        application: plainApplication({ retries }),
        initial: { ...oneBigPod, replicas: 0 },
        load: steadyLoad(20),
      });
      world.advance(seconds(300));
      const { arrived, dropped, inFlight } = world.truth(shop);
      expect(dropped + inFlight).toBe(arrived);
      return (world.read(shop).offered ?? 0) / 20;
    };
    expect(attemptsPerRequest(0)).toBeCloseTo(1, 0);
    expect(Math.abs(attemptsPerRequest(2) - 3)).toBeLessThan(0.5);
  });

  test("have their latency counted from the first attempt", () => {
    // No pod for ten seconds: who comes in the last of them is refused, comes back within a second, and is answered.
    const application = plainApplication({ retries: 1 });
    const world = simpleWorld({
      application,
      load: steadyLoad(50),
      initial: { ...oneBigPod, replicas: 0 },
      slo: { kind: "latency", quantile: 1, target: seconds(1) },
    });
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 1 } }));
    world.advance(seconds(12));
    const { latency } = world.truth(shop);
    expect(latency).toBeGreaterThan(500);
    expect(latency).toBeLessThan(1_011);
  });

  test("that give up and come back are seen at the ingress each time, and end only once", () => {
    const application = plainApplication({ phases: [phaseOf(0, { wait: 3_000 })], timeout: seconds(1), retries: 1 });
    const world = simpleWorld({ application, load: steadyLoad(10) });
    world.advance(seconds(120));
    const { failed, offered, latency } = world.read(shop);
    // Who gives up for good has waited a second, up to a second between, and another one.
    expect(latency).toBeGreaterThan(2_000);
    expect(latency).toBeLessThan(3_000);
    expect((failed ?? 0) / 20).toBeCloseTo(1, 0);
    expect((offered ?? 0) / 20).toBeCloseTo(1, 0);
    const { arrived, timedOut, inFlight } = world.truth(shop);
    expect(timedOut + inFlight).toBe(arrived);
  });

  test("who come back make an overload worse and longer", () => {
    const answered = (retries: number): number => {
      const application = plainApplication({
        phases: [phaseOf(100)],
        threads: 20,
        queue: 20,
        timeout: seconds(1),
        retries,
      });
      const perMinute = Float64Array.of(6, 30, 6, 6, 6, 6);
      const load: Load = { id: "spike", level: "high", perMinute, dispersion: 1 };
      const world = simpleWorld({ application, load, initial: onePod(1) });
      world.advance(seconds(120));
      world.truth(shop);
      world.advance(seconds(150));
      const { completed, arrived } = world.truth(shop);
      return completed / arrived;
    };
    expect(answered(3)).toBeLessThan(answered(0) - 0.1);
  });
});

describe("balancing", () => {
  const tail = (balancing: "two-choices" | "random"): number => {
    const world = simpleWorld({
      application: plainApplication({ phases: [phaseOf(50)], sigma: 0.8, threads: 1 }),
      load: steadyLoad(80),
      initial: { replicas: 6, cpu: cores(2), memory: mebibytes(512) },
      metrics: { missing: 0, sloWindow: seconds(1e6), interval: seconds(1e5) },
      balancing,
      seed: 1_003,
    });
    world.advance(seconds(3_600));
    return world.truth(shop).latency ?? Number.NaN;
  };

  test("the less busy of two pods halves the tail of any pod at random", () => {
    expect(tail("two-choices")).toBeLessThan(0.6 * tail("random"));
  });

  test("spreads evenly", () => {
    const world = simpleWorld({
      load: steadyLoad(200),
      initial: { replicas: 4, cpu: cores(4), memory: mebibytes(512) },
    });
    world.advance(seconds(120));
    const uses = world.read(shop).pods.map(({ cpu }) => cpu ?? 0);
    // 200/s of 10 ms are 2 cores, half a core for each of four.
    for (const use of uses) expect(Math.abs(use - 500)).toBeLessThan(40);
  });
});

test("parallel phases are as many times faster as they are wide, and no faster than the pod has threads and cores", () => {
  const latency = (width: number, options: { threads?: number; nodeCores?: number } = {}): number => {
    const world = simpleWorld({
      application: plainApplication({ phases: [phaseOf(80, { width })], threads: options.threads ?? 64 }),
      load: steadyLoad(0.05),
      nodes: [idealNode("only", { cpu: cores(options.nodeCores ?? 64) })],
      initial: { replicas: 1, cpu: cores(options.nodeCores ?? 64), memory: mebibytes(512) },
      slo: { kind: "latency", quantile: 0.5, target: seconds(1) },
      metrics: { missing: 0, sloWindow: seconds(1e6) },
    });
    world.advance(seconds(1_000));
    return world.truth(shop).latency ?? Number.NaN;
  };
  expect(latency(1)).toBeCloseTo(80, 3);
  expect(latency(4)).toBeCloseTo(20, 3);
  expect(latency(4, { threads: 2 })).toBeCloseTo(40, 3);
  expect(latency(8, { nodeCores: 2 })).toBeCloseTo(40, 3);
});

test("a version with fewer threads uses fewer cores from the moment it is there", () => {
  const application = plainApplication({ phases: [phaseOf(80, { width: 4 })] });
  const world = simpleWorld({
    application,
    load: steadyLoad(0.1),
    slo: { kind: "latency", quantile: 0.5, target: seconds(1) },
  });
  world.advance(seconds(300));
  expect(world.truth(shop).latency).toBeCloseTo(20, 3);
  world.update(shop, { application: { ...application, threads: 2 } });
  world.advance(seconds(600));
  expect(world.truth(shop).latency).toBeCloseTo(40, 3);
});

test("requests that came before an update are finished as they were begun", () => {
  const application = plainApplication({ phases: [phaseOf(0, { wait: 10_000 })] });
  const world = simpleWorld({ application, load: oneMinute(10) });
  world.advance(seconds(59));
  world.update(shop, {
    application: plainApplication({ phases: [phaseOf(1), phaseOf(2), phaseOf(3)], threads: 8 }),
    load: steadyLoad(0),
  });
  const { inFlight, completed } = world.truth(shop);
  expect(inFlight).toBeGreaterThan(60);
  world.advance(seconds(70));
  expect(world.truth(shop)).toMatchObject({ completed: inFlight, inFlight: 0, cpuUsed: 0 });
  expect(completed).toBeGreaterThan(400);
});

test("bytes read and sent show up as shares of what a node grants a pod", () => {
  const phase = phaseOf(5, { io: bytes(1_250_000), network: bytes(625_000) });
  const world = simpleWorld({ application: plainApplication({ phases: [phase] }), load: steadyLoad(40) });
  world.advance(seconds(300));
  const { io, network } = world.read(shop).use;
  // 40 × 1.25 MB/s of 125 MB/s, and half of it.
  expect(Math.abs((io ?? 0) - 0.4)).toBeLessThan(0.06);
  expect((network ?? 0) / (io ?? 1)).toBeCloseTo(0.5, 9);
});
