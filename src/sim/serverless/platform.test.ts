import { describe, expect, test } from "vitest";
import {
  functionId,
  idealInvoker,
  only,
  plainFunction,
  plainOptions,
  plainSpec,
} from "../../../test/fixtures/sim/simple-platform.ts";
import { milliseconds, seconds, unwrap } from "../../base/index.ts";
import { serverlessWorld } from "./event/event-world.ts";
import { fluidServerlessWorld } from "./fluid/fluid-world.ts";
import { functionProfiles } from "./functions.ts";
import type { ServerlessOptions } from "./spec.ts";
import type { ServerlessWorld } from "./world.ts";

const rungs = [
  { rung: "event", make: serverlessWorld },
  { rung: "fluid", make: fluidServerlessWorld },
] as const;

const setting = (containers: number, memory = 256) => ({ shares: 1_024, memory, containers });
const silent = { kind: "flat", rate: 0 } as const;
const [one, two] = [functionId("one"), functionId("two")];

describe.each(rungs)("the $rung rung", ({ make }) => {
  const platform = (parts: Partial<ServerlessOptions> = {}): ServerlessWorld => make(plainOptions(parts));
  const activeOf = (world: ServerlessWorld, id = only): number =>
    world.invokers().reduce((sum, { tenants }) => sum + (tenants.find((t) => t.workload === id)?.active ?? 0), 0);
  const sparesOf = (world: ServerlessWorld, id = only): number =>
    world.invokers().reduce((sum, { tenants }) => sum + (tenants.find((t) => t.workload === id)?.spare ?? 0), 0);

  test("containers go home while there is room, then on to the next", () => {
    const invokers = ["a", "b", "c"].map((name) => idealInvoker({ name, memory: 1_000 }));
    const world = platform({ invokers, functions: [plainSpec({ pattern: silent, initial: setting(5, 400) })] });
    expect(
      world
        .invokers()
        .map(({ tenants }) => tenants[0]?.active ?? 0)
        .sort(),
    ).toEqual([1, 2, 2]);
    expect(
      world
        .invokers()
        .map(({ room }) => room)
        .sort(),
    ).toEqual([200, 200, 600].sort());
  });

  test("a container beyond all room waits until somebody gives some back", () => {
    const world = platform({
      invokers: [idealInvoker({ memory: 1_000 })],
      functions: [
        plainSpec({ id: one, pattern: silent, initial: setting(3, 300) }),
        plainSpec({ id: two, pattern: silent, initial: setting(1, 300) }),
      ],
    });
    world.advance(seconds(5));
    expect([activeOf(world, one), activeOf(world, two)]).toEqual([3, 0]);
    unwrap(world.apply(one, { containers: 1 }));
    world.advance(seconds(10));
    // One of the two that were paused gave way.
    expect([activeOf(world, one), sparesOf(world, one), activeOf(world, two)]).toEqual([1, 1, 1]);
  });

  test("who is scaled in stays warm for the keep-alive, and comes back without a cold start", () => {
    const world = platform({
      keepAlive: seconds(60),
      functions: [plainSpec({ pattern: silent, initial: setting(4) })],
    });
    unwrap(world.apply(only, { containers: 1 }));
    world.advance(seconds(1));
    expect([activeOf(world), sparesOf(world)]).toEqual([1, 3]);
    unwrap(world.apply(only, { containers: 2 }));
    world.advance(milliseconds(1_200));
    expect([activeOf(world), sparesOf(world), world.read(only).ready]).toEqual([2, 2, 1]);
    world.advance(seconds(3));
    expect(world.read(only).ready).toBe(2);
    world.advance(seconds(61));
    expect([activeOf(world), sparesOf(world)]).toEqual([2, 0]);
  });

  test("a start takes Docker's time, the language's and the function's own", () => {
    const started = (parts: Parameters<typeof plainFunction>[0]): number => {
      const world = platform({
        functions: [plainSpec({ pattern: silent, profile: plainFunction(parts), initial: setting(0) })],
      });
      unwrap(world.apply(only, { containers: 40 }));
      for (let at = 100; ; at += 20) {
        world.advance(milliseconds(at));
        if (world.truth(only).containerSeconds > 0) return at;
      }
    };
    const [python, java] = [started({}), started({ language: "java" })];
    // The same draws for Docker, the first of forty; 650 ms more of runtime.
    expect(java - python).toBeGreaterThan(620);
    expect(java - python).toBeLessThan(680);
    expect(python).toBeGreaterThan(450);
    expect(started({ init: 1_000 }) - python).toBeGreaterThan(970);
  });

  test("with no container, the first call starts one and says so; those soon after find it warm", () => {
    const world = platform({
      keepAlive: seconds(600),
      functions: [plainSpec({ pattern: { kind: "flat", rate: 2 }, initial: setting(0) })],
    });
    world.advance(seconds(60));
    const records = world.takeActivations();
    const cold = records.filter(({ coldStart }) => coldStart > 0);
    expect(cold.length).toBe(1);
    expect(cold[0]?.coldStart).toBeGreaterThan(500);
    expect(records.length).toBeGreaterThan(80);
    expect(world.truth(only).coldStarts).toBe(1);
  });

  test("on demand, containers come with the calls, up to the limit, and rest as spares", () => {
    const functions = [
      plainSpec({ pattern: { kind: "flat", rate: 40 }, initial: setting(6), scaling: "on-demand" as const }),
    ];
    const world = platform({ functions });
    expect(activeOf(world)).toBe(0);
    world.advance(seconds(60));
    expect(activeOf(world) + sparesOf(world)).toBe(6);
    expect(world.truth(only).completed).toBeGreaterThan(2_000);
  });

  test("less memory than is comfortable slows, less than the peak kills", () => {
    const run = (memory: number) => {
      const profile = plainFunction({ memory: { peak: 100, comfortable: 200 } });
      const pattern = { kind: "flat", rate: 2 } as const;
      const world = platform({ functions: [plainSpec({ profile, pattern, initial: setting(4, memory) })] });
      world.advance(seconds(300));
      return world.truth(only);
    };
    expect(run(200).p50).toBeCloseTo(100, 3);
    // Half of what lies between peak and comfort is missing: half of the most.
    expect(run(150).p50).toBeCloseTo(150, 3);
    expect(run(150).killed).toBe(0);
    const starved = run(80);
    expect(starved.killed).toBeGreaterThan(100);
    expect(starved.completed).toBe(0);
    // At the peak itself, half of them are above it.
    const { killed, completed } = run(100);
    expect(killed / (killed + completed)).toBeGreaterThan(0.4);
    expect(killed / (killed + completed)).toBeLessThan(0.6);
  });

  test("one function's scale-out slows another on the same machine", () => {
    const latencyBeside = (containers: number): number => {
      const world = platform({
        invokers: [idealInvoker({ cores: 4 })],
        functions: [
          plainSpec({ id: one, pattern: { kind: "flat", rate: 10 }, initial: setting(4) }),
          plainSpec({ id: two, pattern: { kind: "flat", rate: 400 }, initial: setting(containers) }),
        ],
      });
      world.advance(seconds(60));
      return world.truth(one).p50 as number;
    };
    expect(latencyBeside(1)).toBeLessThan(105);
    expect(latencyBeside(12)).toBeGreaterThan(300);
  });

  test("a decision takes effect after its own time and the platform's; in turn, each waits for the one before", () => {
    const functions = [one, two].map((id) => plainSpec({ id, pattern: silent, initial: setting(1) }));
    const world = platform({ functions });
    const charge = { takes: seconds(1), inTurn: true };
    expect(unwrap(world.apply(one, { shares: 2_048 }, charge))).toBe(1_060);
    expect(unwrap(world.apply(two, { shares: 2_048 }, charge))).toBe(2_060);
    // Beside the queue, nobody waits.
    expect(unwrap(world.apply(two, { memory: 300 }, { takes: milliseconds(240), inTurn: false }))).toBe(300);
    world.advance(milliseconds(1_059));
    expect([world.setting(one).shares, world.setting(two).memory]).toEqual([1_024, 300]);
    world.advance(milliseconds(2_060));
    expect([world.setting(one).shares, world.setting(two).shares]).toEqual([2_048, 2_048]);
  });

  test("functions come and go; who stays keeps its calls", () => {
    const spec = (id: typeof one) => plainSpec({ id, pattern: { kind: "flat", rate: 20 }, initial: setting(3) });
    const [alone, shared] = [platform({ functions: [spec(one)] }), platform({ functions: [spec(one)] })];
    for (const world of [alone, shared]) world.advance(seconds(10));
    unwrap(shared.add(spec(two)));
    for (const world of [alone, shared]) world.advance(seconds(30));
    const { completed, arrived } = shared.truth(two);
    expect(arrived).toBeGreaterThan(300);
    expect(completed).toBeGreaterThan(250);
    unwrap(shared.remove(two));
    for (const world of [alone, shared]) world.advance(seconds(60));
    expect(shared.truth(one)).toEqual(alone.truth(one));
    expect(shared.functions).toEqual([one]);
    expect(activeOf(shared, two) + sparesOf(shared, two)).toBe(0);
    expect(shared.add(spec(one))).toMatchObject({ ok: false, failure: { code: "serverless.function" } });
    expect(shared.remove(two)).toMatchObject({ ok: false, failure: { code: "serverless.unknown-function" } });
  });

  test("a reading is late, and says use over grant, tails by part and rates", () => {
    const functions = [
      plainSpec({ profile: functionProfiles.primes, pattern: { kind: "flat", rate: 4 }, initial: setting(8, 320) }),
    ];
    const world = platform({ functions, metrics: { missing: 0, noise: 0, delay: 200 } });
    world.advance(milliseconds(60_100));
    const { at, use, offered, latency, execution, waiting, coldStart, ready } = world.read(only);
    expect(at).toBe(59_000);
    expect(offered).toBeGreaterThan(2.5);
    // Four a second for 0.72 s, eight cores granted.
    expect(use.cpu).toBeGreaterThan(0.2);
    expect(use.cpu).toBeLessThan(0.55);
    expect(use.memory).toBeGreaterThan(0.2);
    expect(execution).toBeGreaterThan(700);
    expect(latency as number).toBeGreaterThanOrEqual(execution as number);
    expect(latency as number).toBeLessThanOrEqual((execution as number) + (waiting as number) + 1e-9);
    expect([coldStart, ready]).toEqual([0, 8]);
  });

  test("settings and functions that cannot be are refused with a code", () => {
    const world = platform();
    for (const set of [
      { shares: 100 },
      { memory: 0 },
      { containers: 1.5 },
      { containers: 1_001 },
      { shares: Number.NaN },
    ])
      expect(world.apply(only, set)).toMatchObject({ ok: false, failure: { code: "serverless.setting" } });
    expect(world.apply(one, { shares: 200 })).toMatchObject({
      ok: false,
      failure: { code: "serverless.unknown-function" },
    });
    expect(() => platform({ invokers: [] })).toThrow("no invokers");
    expect(() => platform({ functions: [plainSpec(), plainSpec()] })).toThrow("the same id");
    expect(() => world.advance(milliseconds(-1))).toThrow("time does not go back");
  });
});
