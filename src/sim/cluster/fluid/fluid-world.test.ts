import fc from "fast-check";
import { expect, test } from "vitest";
import {
  idealNode,
  phaseOf,
  plainApplication,
  shop,
  steadyLoad,
} from "../../../../test/fixtures/sim/simple-cluster.ts";
import { actuatorConformance, startingAllocation } from "../../../act/actuator.conformance.ts";
import type { Action } from "../../../act/index.ts";
import { bytes, cores, mebibytes, millicores, milliseconds, seconds, unwrap } from "../../../base/index.ts";
import { simActuator } from "../actuator.ts";
import type { WorkloadSpec } from "../spec.ts";
import type { ClusterWorld } from "../world.ts";
import { fluidWorld } from "./fluid-world.ts";

/** Impatient clients, short queues, memory that a burst can exceed. */
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
const roomy = { replicas: 2, cpu: cores(2), memory: mebibytes(512) };

function world(options: Partial<WorkloadSpec> & { seed?: number } = {}): ClusterWorld {
  const { seed = 1_001, ...spec } = options;
  const slo = { kind: "latency" as const, quantile: 0.99, target: seconds(1) };
  return fluidWorld({
    seed,
    start: milliseconds(0),
    nodes: [idealNode("only")],
    workloads: [
      { id: shop, application: fragile, load: steadyLoad(10), slo, initial: roomy, resize: "in-place", ...spec },
    ],
    metrics: { missing: 0 },
  });
}

const step = (of: ClusterWorld, count = 1) => of.advance(milliseconds(of.now + 15_000 * count));

actuatorConformance("the fluid world", () => ({
  workload: shop,
  actuator: simActuator(world({ initial: startingAllocation })),
}));

test.each(["in-place", "recreate", "in-place-or-recreate"] as const)(
  "whatever is done to it (%s), arrived is answered, failed or in flight, and nothing is negative",
  (resize) => {
    const deed = fc.record({
      replicas: fc.integer({ min: 0, max: 6 }),
      cpu: fc.constantFrom(100, 500, 2_000),
      memory: fc.constantFrom(48, 128, 512),
      span: fc.integer({ min: 1, max: 40_000 }),
      rate: fc.constantFrom(null, 0, 5, 60),
    });
    fc.assert(
      fc.property(fc.array(deed, { minLength: 3, maxLength: 12 }), (deeds) => {
        const tried = world({ resize });
        let open = 0;
        for (const { replicas, cpu, memory, span, rate } of deeds) {
          const size = { cpu: millicores(cpu), memory: mebibytes(memory) };
          unwrap(tried.apply({ kind: "set", workload: shop, set: { replicas, ...size } }));
          if (rate !== null) tried.update(shop, { load: steadyLoad(rate) });
          tried.advance(milliseconds(tried.now + span));
          const truth = tried.truth(shop);
          open += truth.arrived - truth.completed - truth.timedOut - truth.dropped - truth.lost;
          expect(truth.inFlight).toBe(open);
          for (const [what, value] of Object.entries(truth))
            if (value !== null) expect(value, what).toBeGreaterThanOrEqual(0);
          expect(truth.cpuUsed).toBeLessThanOrEqual(truth.cpuLimit * 1.02 + 0.05);
          expect(truth.memoryUsed).toBeLessThanOrEqual(truth.memoryLimit * 1.000_1 + 1);
        }
      }),
      { numRuns: 40, seed: 1_001 },
    );
  },
);

test("what is in flight goes away when nobody comes any more", () => {
  const tried = world({ initial: { ...roomy, replicas: 1, cpu: millicores(500) }, load: steadyLoad(20) });
  step(tried, 8);
  expect(tried.truth(shop).inFlight).toBeGreaterThan(3);
  tried.update(shop, { load: steadyLoad(0) });
  step(tried, 8);
  // Rounding to whole requests may leave one of each kind of ending open.
  expect(tried.truth(shop).inFlight).toBeLessThanOrEqual(4);
});

test("the same seed gives the same bytes; another one other arrivals", () => {
  const run = (seed: number) => {
    const tried = world({ seed });
    const told: unknown[] = [];
    for (let i = 0; i < 20; i++) {
      step(tried);
      unwrap(tried.apply({ kind: "set", workload: shop, set: { replicas: 1 + (i % 4) } }));
      told.push(tried.read(shop), tried.truth(shop));
    }
    return JSON.stringify(told);
  };
  expect(run(7)).toBe(run(7));
  expect(run(7)).not.toBe(run(8));
});

test("whoever controls it meets the same arrivals, and however finely it is stepped", () => {
  const arrivals = (act: (of: ClusterWorld, i: number) => void, parts = 1) => {
    const tried = world();
    return Array.from({ length: 12 }, (_, i) => {
      act(tried, i);
      let arrived = 0;
      for (let part = 0; part < parts; part++) {
        tried.advance(milliseconds(tried.now + 15_000 / parts));
        arrived += tried.truth(shop).arrived;
      }
      return arrived;
    });
  };
  const still = arrivals(() => {});
  const wild = arrivals((of, i) => {
    const action: Action = {
      kind: "set",
      workload: shop,
      set: { replicas: i % 5, cpu: millicores(200 + 300 * (i % 3)), memory: mebibytes(100) },
    };
    unwrap(of.apply(action));
  });
  expect(wild).toEqual(still);
  expect(arrivals(() => {}, 3)).toEqual(still);
});

test("a pod that is too small for its process never runs, and nobody is answered", () => {
  const tried = world({ initial: { ...roomy, memory: mebibytes(32) } });
  step(tried, 8);
  const truth = tried.truth(shop);
  expect(truth.completed).toBe(0);
  expect(truth.oomKills).toBeGreaterThan(2);
  expect(truth.dropped).toBeGreaterThan(0.9 * truth.arrived - 60);
  expect(tried.read(shop).pods.every(({ readyAt }) => readyAt === null)).toBe(true);
});

test("memory for fewer requests than come together kills pods; memory for all of them does not", () => {
  const kills = (memory: number) => {
    const tried = world({ initial: { ...roomy, replicas: 1, memory: bytes(memory) }, load: steadyLoad(15) });
    step(tried, 40);
    return tried.truth(shop).oomKills;
  };
  // 12 places of at most 3 × 16 MiB beside the 64 of the process; and room for one large request.
  expect(kills(64 * 1_048_576 + 12 * 48 * 1_048_576)).toBe(0);
  expect(kills(64 * 1_048_576 + 50 * 1_048_576)).toBeGreaterThan(5);
});

test("more CPU means shorter latencies until threads are the limit; less is throttled", () => {
  const latency = (cpu: number) => {
    const tried = world({ initial: { ...roomy, replicas: 1, cpu: millicores(cpu) }, load: steadyLoad(3) });
    step(tried, 20);
    return tried.truth(shop).latency as number;
  };
  const [small, middle, large] = [latency(500), latency(1_500), latency(4_000)];
  expect(small).toBeGreaterThan(1.2 * middle);
  expect(middle).toBeGreaterThan(large);
  expect(latency(6_000) / large).toBeGreaterThan(0.85);
});

test("time does not go back, and an unknown workload is named", () => {
  const tried = world();
  step(tried);
  expect(() => tried.advance(milliseconds(1))).toThrow(RangeError);
  const nobody = "nobody" as typeof shop;
  expect(() => tried.read(nobody)).toThrow(/nobody/);
  expect(tried.apply({ kind: "set", workload: nobody, set: { replicas: 1 } })).toMatchObject({
    ok: false,
    failure: { code: "actuator.unknown-workload" },
  });
});
