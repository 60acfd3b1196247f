import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { functionId, idealInvoker, plainOptions } from "../../../test/fixtures/sim/simple-platform.ts";
import { milliseconds, seconds, unwrap, type WorkloadId } from "../../base/index.ts";
import { serverlessWorld } from "./event/event-world.ts";
import { fluidServerlessWorld } from "./fluid/fluid-world.ts";
import { functionMix } from "./functions.ts";
import { cloudInvokers } from "./invokers.ts";
import { poissonPattern } from "./patterns.ts";
import type { FunctionSpec } from "./spec.ts";
import type { ServerlessWorld } from "./world.ts";

const rungs = [
  { rung: "event", make: serverlessWorld },
  { rung: "fluid", make: fluidServerlessWorld },
] as const;

interface Deed {
  readonly kind: "set" | "wait" | "swap";
  readonly subject: number;
  readonly shares: number;
  readonly memory: number;
  readonly containers: number;
  readonly span: number;
}

const deeds = fc.array(
  fc.record<Deed>({
    kind: fc.constantFrom("set", "set", "wait", "swap"),
    subject: fc.nat(2),
    shares: fc.integer({ min: 128, max: 2_048 }),
    // Low enough to kill most, high enough to have no room.
    memory: fc.integer({ min: 60, max: 900 }),
    containers: fc.integer({ min: 0, max: 9 }),
    span: fc.integer({ min: 1, max: 9_000 }),
  }),
  { minLength: 3, maxLength: 25 },
);

const profiles = functionMix(3);
const specOf = (id: WorkloadId, i: number): FunctionSpec => ({
  id,
  profile: profiles[i] as (typeof profiles)[number],
  pattern: i === 1 ? { kind: "poisson", most: 12 } : { kind: "flat", rate: 15 },
  initial: { shares: 512, memory: 256, containers: 3 },
  scaling: i === 2 ? "on-demand" : "provisioned",
});

describe.each(rungs)("the $rung rung", ({ make }) => {
  test("whatever is done to it, every activation is somewhere, exactly once, and nothing is negative or over its room", () => {
    fc.assert(
      fc.property(deeds, fc.integer({ min: 1_000, max: 2_000 }), (plan, seed) => {
        const ids = ["a", "b", "c"].map(functionId);
        const world: ServerlessWorld = make(
          plainOptions({
            seed,
            keepAlive: seconds(5),
            invokers: ["x", "y"].map((name) =>
              idealInvoker({ name, cores: 3, memory: 1_500, bandwidth: 9_000, cache: 8 }),
            ),
            functions: ids.map(specOf),
          }),
        );
        const sums = new Map(ids.map((id) => [id, { arrived: 0, ended: 0 }]));
        for (const [number, deed] of plan.entries()) {
          const { kind, subject, shares, memory, containers, span } = deed;
          const id = ids[subject] as WorkloadId;
          if (kind === "set")
            unwrap(
              world.apply(
                id,
                { shares, memory, containers },
                { takes: milliseconds(span / 10), inTurn: span % 2 === 0 },
              ),
            );
          if (kind === "swap") {
            unwrap(world.remove(id));
            sums.delete(id);
            const next = functionId(`${id}-${number}`);
            ids[subject] = next;
            sums.set(next, { arrived: 0, ended: 0 });
            unwrap(world.add(specOf(next, subject)));
          }
          world.advance(milliseconds(world.now + span));
          for (const one of ids) {
            const truth = world.truth(one);
            const sum = sums.get(one) as { arrived: number; ended: number };
            sum.arrived += truth.arrived;
            sum.ended += truth.completed + truth.killed + truth.dropped + truth.refused;
            expect(sum.arrived).toBe(sum.ended + truth.inFlight);
            for (const [what, value] of Object.entries(truth))
              if (typeof value === "number") expect(value, what).toBeGreaterThanOrEqual(-1e-9);
            expect(truth.memoryUsed).toBeLessThanOrEqual(truth.memoryGranted + 1e-6);
            expect(world.read(one).at).toBeLessThanOrEqual(world.now);
          }
          for (const { room, memory: all, tenants } of world.invokers()) {
            expect(room).toBeGreaterThanOrEqual(0);
            expect(room).toBeLessThanOrEqual(all);
            if (tenants.length === 0) expect(room).toBe(all);
          }
          for (const { waiting, coldStart, execution } of world.takeActivations())
            expect(Math.min(waiting + 1e-3, coldStart, execution)).toBeGreaterThanOrEqual(0);
        }
      }),
      { seed: 22, numRuns: 40 },
    );
  });

  test("the cores that are used are no more than there are", () => {
    const ids = ["a", "b", "c"].map(functionId);
    const world = make(plainOptions({ invokers: [idealInvoker({ cores: 2 })], functions: ids.map(specOf) }));
    world.advance(seconds(5));
    for (const id of ids) world.truth(id);
    world.advance(seconds(65));
    const used = ids.reduce((sum, id) => sum + world.truth(id).cpuUsed, 0);
    // In the fluid rung a slot's newcomers are seen in the next one.
    expect(used).toBeLessThanOrEqual(make === serverlessWorld ? 120.001 : 121);
    expect(used).toBeGreaterThan(110);
  });

  test("the same seed gives the same bytes, another seed others; 130 functions on 20 invokers", () => {
    const invokers = cloudInvokers();
    const functions = functionMix(130).map((profile, i) => ({
      id: functionId(`f${i}`),
      profile,
      pattern: poissonPattern(profile, { invokers, functions: 130 }),
      initial: { shares: 512, memory: 256, containers: 2 },
    }));
    const run = (seed: number): string => {
      const world = make({ seed, invokers, functions, step: seconds(10) });
      const log: unknown[] = [];
      for (let step = 1; step <= 4; step++) {
        world.advance(seconds(5 * step));
        for (const [i, { id }] of functions.entries()) {
          if ((i + step) % 3 === 0)
            log.push(world.apply(id, { containers: 1 + ((i + step) % 4), shares: 128 * (1 + (i % 9)) }));
          log.push(world.read(id), { ...world.truth(id), latencies: null });
        }
        log.push(world.invokers());
      }
      return JSON.stringify(log);
    };
    const first = run(1_001);
    expect(run(1_001)).toBe(first);
    expect(run(1_002)).not.toBe(first);
  });
});

test("both rungs meet the same calls, whatever a controller does", () => {
  const id = functionId("a");
  const worlds = rungs.map(({ make }) => make(plainOptions({ functions: [specOf(id, 1)] })));
  unwrap((worlds[1] as ServerlessWorld).apply(id, { containers: 9, shares: 2_048 }));
  const arrivals = worlds.map((world) => {
    world.advance(seconds(200));
    return world.truth(id).arrived;
  });
  expect(arrivals[0]).toBeGreaterThan(500);
  expect(arrivals[0]).toBe(arrivals[1]);
});
