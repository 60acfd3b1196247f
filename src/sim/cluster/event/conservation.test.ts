import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  idealNode,
  phaseOf,
  plainApplication,
  shop,
  simpleWorld,
  steadyLoad,
} from "../../../../test/fixtures/sim/simple-cluster.ts";
import type { Allocation } from "../../../act/index.ts";
import {
  bytes,
  cores,
  mebibytes,
  millicores,
  milliseconds,
  parseWorkloadId,
  seconds,
  unwrap,
} from "../../../base/index.ts";
import { evaluationNodes } from "../processors.ts";
import { generateApplications, generateLoad, scaleLoad } from "../workloads/index.ts";
import type { ClusterWorld, WorkloadTruth } from "../world.ts";
import { eventWorld } from "./event-world.ts";

/** Impatient clients, short queues, memory that a burst can exceed: everything that can go wrong does. */
const fragile = plainApplication({
  phases: [phaseOf(30, { wait: 20 }), phaseOf(60, { width: 3 })],
  sizes: [0.5, 1, 3],
  sigma: 0.7,
  threads: 4,
  queue: 8,
  timeout: milliseconds(700),
  retries: 2,
  memory: { base: mebibytes(64), perRequest: mebibytes(16), cache: mebibytes(32), missPenalty: 2 },
  warmup: { factor: 2, span: seconds(60) },
});

interface Deed {
  readonly kind: "scale" | "resize" | "reshape" | "wait" | "update";
  readonly replicas: number;
  readonly cpu: number;
  readonly memory: number;
  readonly span: number;
}

const deeds = fc.array(
  fc.record<Deed>({
    kind: fc.constantFrom("scale", "resize", "reshape", "wait", "wait", "update"),
    replicas: fc.integer({ min: 0, max: 6 }),
    cpu: fc.integer({ min: 50, max: 4_000 }),
    memory: fc.integer({ min: 40, max: 600 }).map((n) => n * 1_048_576),
    span: fc.integer({ min: 1, max: 40_000 }),
  }),
  { minLength: 3, maxLength: 25 },
);

function doDeed(world: ClusterWorld, { kind, replicas, cpu, memory, span }: Deed): void {
  const size = { cpu: millicores(cpu), memory: bytes(memory) };
  const set: Partial<Allocation> | undefined =
    kind === "scale" ? { replicas } : kind === "resize" ? size : kind === "reshape" ? { replicas, ...size } : undefined;
  if (set) unwrap(world.apply({ kind: "set", workload: shop, set }));
  if (kind === "update") world.update(shop, { application: { ...fragile, sizes: [2, 4], threads: 2 + (span % 5) } });
  world.advance(milliseconds(world.now + span));
}

/** The sum over all looks; a world tells what has been since the last. */
class Ledger {
  arrived = 0;
  ended = 0;

  add(truth: WorkloadTruth): void {
    this.arrived += truth.arrived;
    this.ended += truth.completed + truth.timedOut + truth.dropped + truth.lost;
  }
}

test.each(["in-place", "recreate", "in-place-or-recreate"] as const)(
  "whatever is done to it (%s), every request is somewhere, exactly once, and nothing is negative",
  (resize) => {
    fc.assert(
      fc.property(deeds, fc.integer({ min: 1_000, max: 2_000 }), (plan, seed) => {
        const world = simpleWorld({
          application: fragile,
          load: { ...steadyLoad(25), dispersion: 6 },
          nodes: [idealNode("a", { cpu: cores(6), memory: mebibytes(1_500) }), idealNode("b", { cpu: cores(4) })],
          initial: { replicas: 2, cpu: cores(1), memory: mebibytes(256) },
          resize,
          seed,
        });
        const ledger = new Ledger();
        let before = world.now;
        for (const deed of plan) {
          doDeed(world, deed);
          expect(world.now).toBe(before + deed.span);
          before = world.now;
          const truth = world.truth(shop);
          ledger.add(truth);
          expect(ledger.arrived).toBe(ledger.ended + truth.inFlight);
          for (const [what, value] of Object.entries(truth))
            if (value !== null) expect(value, what).toBeGreaterThanOrEqual(0);
          expect(truth.cpuUsed).toBeLessThanOrEqual(truth.cpuLimit * 1.001 + 0.5);
          expect(truth.memoryUsed).toBeLessThanOrEqual(truth.memoryLimit + 1);
          for (const room of world.nodes(shop)) expect(Math.min(room.cpu!, room.memory!)).toBeGreaterThanOrEqual(0);
          const reading = world.read(shop);
          expect(reading.at).toBeLessThanOrEqual(world.now);
          for (const pod of reading.pods) expect(pod.createdAt).toBeLessThanOrEqual(world.now);
        }
      }),
      { seed: 21, numRuns: 40 },
    );
  },
);

test("in the end all that came has ended: nothing is stuck", () => {
  const world = simpleWorld({
    application: fragile,
    load: { id: "then-none", level: "low", perMinute: Float64Array.of(40, 40, 0, 0, 0, 0), dispersion: 3 },
    initial: { replicas: 2, cpu: cores(0.7), memory: mebibytes(350) },
  });
  world.advance(seconds(330));
  const { arrived, completed, timedOut, dropped, lost, inFlight } = world.truth(shop);
  expect(arrived).toBeGreaterThan(4_000);
  expect(Math.min(completed, timedOut, dropped, lost)).toBeGreaterThan(0);
  expect([inFlight, completed + timedOut + dropped + lost]).toEqual([0, arrived]);
});

test("time does not go back", () => {
  const world = simpleWorld();
  world.advance(seconds(10));
  expect(() => world.advance(seconds(9))).toThrow("time does not go back");
  expect(() => world.advance(milliseconds(Number.NaN))).toThrow("time does not go back");
});

describe("common random numbers", () => {
  const worldOf = (initial: { replicas: number; cpu: number }) =>
    simpleWorld({
      application: plainApplication({ phases: [phaseOf(20, { wait: 15 })], sigma: 1, sizes: [0.5, 1.5] }),
      load: { ...steadyLoad(20), dispersion: 4 },
      initial: { replicas: initial.replicas, cpu: cores(initial.cpu), memory: mebibytes(512) },
      seed: 1_234,
    });

  test("two controllers that do different things meet the same arrivals, at the same moments", () => {
    const [idle, busy] = [worldOf({ replicas: 1, cpu: 1 }), worldOf({ replicas: 5, cpu: 2 })];
    for (let at = 10; at <= 60_000; at += 10) {
      if (at % 5_000 === 0)
        unwrap(
          busy.apply({
            kind: "set",
            workload: shop,
            set: { replicas: 1 + (at % 7), cpu: millicores(300 + at), memory: mebibytes(300) },
          }),
        );
      for (const world of [idle, busy]) world.advance(milliseconds(at));
      expect(idle.truth(shop).arrived).toBe(busy.truth(shop).arrived);
    }
  });

  test("and requests of the same sizes: all done, both have done the same work", () => {
    const used = [worldOf({ replicas: 1, cpu: 8 }), worldOf({ replicas: 6, cpu: 3 })].map((world) => {
      world.advance(seconds(300));
      world.update(shop, { load: steadyLoad(0) });
      world.advance(seconds(360));
      const { inFlight, lost, timedOut, arrived, cpuUsed } = world.truth(shop);
      expect([inFlight, lost + timedOut]).toEqual([0, 0]);
      return [arrived, Math.round(cpuUsed * 1e6)];
    });
    expect(used[0]).toEqual(used[1]);
  });

  test("a load that begins later draws from a stream of its own", () => {
    const world = simpleWorld({ load: steadyLoad(20) });
    const arrivalsOfMinute = (from: number): number[] =>
      Array.from({ length: 60 }, (_, i) => {
        world.advance(seconds(from + i + 1));
        return world.truth(shop).arrived;
      });
    const first = arrivalsOfMinute(0);
    world.update(shop, { load: steadyLoad(20) });
    expect(arrivalsOfMinute(60)).not.toEqual(first);
  });

  test("another workload in the same world does not shift them", () => {
    const other = unwrap(parseWorkloadId("other"));
    const spec = {
      application: plainApplication({ sigma: 1 }),
      load: steadyLoad(20),
      slo: { kind: "none" } as const,
      initial: { replicas: 2, cpu: cores(1), memory: mebibytes(256) },
      resize: "in-place" as const,
    };
    const options = { seed: 9, start: milliseconds(0), nodes: [idealNode("only")] };
    const alone = eventWorld({ ...options, workloads: [{ id: shop, ...spec }] });
    const shared = eventWorld({
      ...options,
      workloads: [
        { id: other, ...spec },
        { id: shop, ...spec },
      ],
    });
    for (const world of [alone, shared]) world.advance(seconds(120));
    expect(shared.truth(shop)).toEqual(alone.truth(shop));
    expect(shared.truth(other).arrived).not.toBe(alone.truth(shop).arrived);
  });
});

test("the same seed gives the same bytes, another seed others", () => {
  const [application] = generateApplications({ seed: 1_000, count: 1 });
  const load = scaleLoad(generateLoad({ seed: 1_000, level: "high", days: 1 }), 20);
  const run = (seed: number): string => {
    const world = eventWorld({
      seed,
      start: milliseconds(1_700_000_000_000),
      nodes: evaluationNodes(),
      workloads: [
        {
          id: shop,
          application: application!,
          load,
          slo: { kind: "latency", quantile: 0.95, target: milliseconds(300) },
          initial: { replicas: 3, cpu: cores(0.5), memory: mebibytes(1_024) },
          resize: "recreate",
        },
      ],
    });
    const log: unknown[] = [];
    for (let step = 1; step <= 40; step++) {
      world.advance(milliseconds(1_700_000_000_000 + step * 15_000));
      if (step % 5 === 0)
        log.push(
          world.apply({
            kind: "set",
            workload: shop,
            set: { replicas: 1 + (step % 4), cpu: millicores(400 + 20 * step), memory: mebibytes(800 + step) },
          }),
        );
      log.push(world.read(shop), world.truth(shop), world.nodes(shop));
    }
    return JSON.stringify(log);
  };
  const first = run(1_001);
  expect(run(1_001)).toBe(first);
  expect(run(1_002)).not.toBe(first);
});
