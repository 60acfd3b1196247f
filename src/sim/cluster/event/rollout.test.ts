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
  milliseconds,
  minutes,
  parseWorkloadId,
  seconds,
  unwrap,
} from "../../../base/index.ts";
import type { Application } from "../workloads/index.ts";
import type { ClusterWorld } from "../world.ts";
import { eventWorld } from "./event-world.ts";

const small: Allocation = { replicas: 2, cpu: cores(1), memory: mebibytes(256) };
const readyPods = (world: ClusterWorld) => world.read(shop).pods.filter(({ readyAt }) => readyAt !== null);
const names = (world: ClusterWorld) => world.read(shop).pods.map(({ pod }) => pod);
/** How long a resize in place takes. */
const RESIZE = 410;
const advanceBy = (world: ClusterWorld, ms: number) => world.advance(milliseconds(world.now + ms));

describe("scaling", () => {
  test("a new pod is there at once, ready after its start-up, and shorter where the image is already", () => {
    const world = simpleWorld({ initial: small });
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 3 } }));
    // Ten seconds to start; half of that on a node that has run it before.
    advanceBy(world, 4_990);
    expect([names(world), readyPods(world).length]).toEqual([["shop-0", "shop-1", "shop-2"], 2]);
    advanceBy(world, 20);
    expect(world.read(shop).pods.map(({ readyAt }) => readyAt)).toEqual([0, 0, 5_000]);
  });

  test("a first start on a node takes the whole start-up", () => {
    const world = simpleWorld({ initial: { ...small, replicas: 1 }, nodes: [idealNode("a"), idealNode("b")] });
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 2 } }));
    advanceBy(world, 9_990);
    expect(readyPods(world)).toHaveLength(1);
    advanceBy(world, 20);
    expect(readyPods(world)).toHaveLength(2);
  });

  test("those that are not ready go first, then the youngest", () => {
    const world = simpleWorld({ initial: { ...small, replicas: 3 } });
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 4 } }));
    advanceBy(world, 1_000);
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 2 } }));
    expect(names(world)).toEqual(["shop-0", "shop-1"]);
  });

  test("a stopped pod finishes what it has, and no longer than the grace period", () => {
    const finish = (wait: number) => {
      const application = plainApplication({ phases: [phaseOf(1, { wait })] });
      const world = simpleWorld({ application, initial: { ...small, replicas: 1 }, load: steadyLoad(5) });
      world.advance(seconds(60));
      world.truth(shop);
      world.update(shop, { load: steadyLoad(0) });
      unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 0 } }));
      advanceBy(world, 29_000);
      const holds = world.truth(shop).cpuLimit;
      advanceBy(world, 2_000);
      return { holds, truth: world.truth(shop) };
    };
    const quick = finish(2_000);
    // Two seconds of one core, then it is gone.
    expect(quick.holds).toBeGreaterThan(1.5);
    expect(quick.holds).toBeLessThan(2.1);
    expect(quick.truth).toMatchObject({ inFlight: 0, lost: 0 });
    const slow = finish(45_000);
    expect(slow.holds).toBeCloseTo(29, 6);
    expect(slow.truth.lost).toBeGreaterThan(20);
    expect(slow.truth).toMatchObject({ inFlight: 0, podsStopped: 1 });
  });

  test("without a pod every request is refused", () => {
    const world = simpleWorld({ initial: { ...small, replicas: 0 }, load: steadyLoad(50) });
    world.advance(seconds(10));
    const truth = world.truth(shop);
    expect(truth.dropped).toBe(truth.arrived);
    expect(truth.arrived).toBeGreaterThan(400);
    expect(truth).toMatchObject({ latency: null, withinSlo: 0, cost: 0 });
  });

  test("the bill is what is reserved, at the list price, and the disruptions", () => {
    const world = simpleWorld({ initial: small, load: steadyLoad(0) });
    world.advance(minutes(60));
    // Two cores and half a GiB for an hour.
    const hour = 2 * 0.04048 + ((2 * 256 * 1_048_576) / 1e9) * 0.004445;
    expect(world.truth(shop).cost).toBeCloseTo(hour, 9);
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 1 } }));
    expect(world.truth(shop).cost).toBeCloseTo(0.0007, 9);
  });
});

describe("room on the nodes", () => {
  test("a pod that fits nowhere waits, and starts when another makes room", () => {
    const other = unwrap(parseWorkloadId("other"));
    const spec = {
      application: plainApplication(),
      load: steadyLoad(0),
      slo: { kind: "none" } as const,
      initial: { replicas: 2, cpu: cores(2), memory: mebibytes(256) },
      resize: "in-place" as const,
    };
    const world = eventWorld({
      seed: 1,
      start: milliseconds(0),
      nodes: [idealNode("a", { cpu: cores(4) }), idealNode("b", { cpu: cores(5) })],
      workloads: [
        { id: shop, ...spec },
        { id: other, ...spec },
      ],
    });
    // Nine cores, eight taken; a third pod of two does not fit although one core is free.
    expect(world.nodes(shop).map(({ cpu }) => cpu)).toEqual([2_000, 3_000]);
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 3 } }));
    advanceBy(world, 60_000);
    expect(readyPods(world)).toHaveLength(2);
    expect(world.truth(shop).cpuLimit).toBeCloseTo(4 * 60, 6);
    unwrap(world.apply({ kind: "set", workload: other, set: { replicas: 1 } }));
    advanceBy(world, 11_000);
    expect(readyPods(world)).toHaveLength(3);
  });

  test("memory is room too", () => {
    const nodes = [idealNode("a", { memory: mebibytes(700) })];
    const world = simpleWorld({ initial: small, nodes, load: steadyLoad(0) });
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 3 } }));
    advanceBy(world, 60_000);
    expect(world.read(shop).pods.map(({ readyAt }) => readyAt !== null)).toEqual([true, true, false]);
  });

  test("pods spread to where most is left", () => {
    const nodes = [idealNode("a", { cpu: cores(8) }), idealNode("b", { cpu: cores(8) })];
    const world = simpleWorld({ initial: { ...small, replicas: 4 }, nodes, load: steadyLoad(0) });
    const other = unwrap(parseWorkloadId("shop"));
    unwrap(world.apply({ kind: "set", workload: other, set: { replicas: 2 } }));
    // The two that are left are the oldest, one on each node: 7 cores are free on both.
    unwrap(world.apply({ kind: "set", workload: other, set: { cpu: cores(8), memory: small.memory } }));
    advanceBy(world, RESIZE);
    expect(world.read(shop).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([8_000, 8_000]);
  });

  /** Two workloads of two small pods on nodes of the given cores. */
  const neighbours = (nodeCores: readonly number[], resize: "in-place" | "in-place-or-recreate" = "in-place") => {
    const other = unwrap(parseWorkloadId("other"));
    const spec = {
      application: plainApplication(),
      load: steadyLoad(0),
      slo: { kind: "none" } as const,
      initial: small,
      resize,
    };
    const world = eventWorld({
      seed: 1,
      start: milliseconds(0),
      nodes: nodeCores.map((count, i) => idealNode(`node-${i}`, { cpu: cores(count) })),
      workloads: [
        { id: shop, ...spec },
        { id: other, ...spec },
      ],
    });
    const pods = () => world.read(shop).pods.map(({ cpuLimit, resize: state }) => [cpuLimit, state]);
    return { world, other, pods };
  };

  test("a pod grows in place after the kubelet's moment where there is room, and later where there is none yet", () => {
    const { world, other, pods } = neighbours([7]);
    // Seven cores, four held: one pod can grow by two, the other must wait.
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(3), memory: small.memory } }));
    advanceBy(world, RESIZE - 10);
    expect(pods()).toEqual([
      [1_000, "in-progress"],
      [1_000, "deferred"],
    ]);
    advanceBy(world, 20);
    expect(pods()).toEqual([
      [3_000, undefined],
      [1_000, "deferred"],
    ]);
    // Room appears, and the waiting one takes it by itself.
    unwrap(world.apply({ kind: "set", workload: other, set: { replicas: 1 } }));
    expect(pods()[1]).toEqual([1_000, "in-progress"]);
    advanceBy(world, RESIZE);
    expect(pods()).toEqual([
      [3_000, undefined],
      [3_000, undefined],
    ]);
  });

  test("what the node could never hold is refused: the pod stays as it is, also when the node is empty", () => {
    const { world, other, pods } = neighbours([4]);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(5), memory: small.memory } }));
    unwrap(world.apply({ kind: "set", workload: other, set: { replicas: 0 } }));
    advanceBy(world, 600_000);
    expect(pods()).toEqual([
      [1_000, "infeasible"],
      [1_000, "infeasible"],
    ]);
    // Asked for something that fits, it is resized.
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(2), memory: small.memory } }));
    advanceBy(world, RESIZE);
    expect(pods()).toEqual([
      [2_000, undefined],
      [2_000, undefined],
    ]);
  });

  test("what is granted is held and paid for from the grant on, and what is given up until it is written", () => {
    const { world } = neighbours([16]);
    const paidFor = () => {
      world.truth(shop);
      advanceBy(world, RESIZE);
      return world.truth(shop).cpuLimit;
    };
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(3), memory: small.memory } }));
    expect(paidFor()).toBeCloseTo(2 * 3 * 0.41, 9);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(1), memory: small.memory } }));
    expect(paidFor()).toBeCloseTo(2 * 3 * 0.41, 9);
    expect(paidFor()).toBeCloseTo(2 * 1 * 0.41, 9);
  });

  test("a size that changes on the way is taken in a second turn where it needs more room than was granted", () => {
    const { world, pods } = neighbours([16]);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(2), memory: small.memory } }));
    advanceBy(world, 200);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(4), memory: small.memory } }));
    advanceBy(world, 220);
    expect(pods().map(([cpu]) => cpu)).toEqual([2_000, 2_000]);
    advanceBy(world, RESIZE);
    expect(pods()).toEqual([
      [4_000, undefined],
      [4_000, undefined],
    ]);
  });

  test("where a new pod is the way out, it comes after five minutes without room, on a node that has it", () => {
    // The first node holds one pod of each, so neither can grow to three cores there; the second has room for both.
    const { world, pods } = neighbours([4, 4, 4, 4], "in-place-or-recreate");
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 4 } }));
    advanceBy(world, 30_000);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(4), memory: small.memory } }));
    advanceBy(world, 290_000);
    unwrap(world.apply({ kind: "hold", workload: shop }));
    const stuck = pods().filter(([, state]) => state === "deferred").length;
    expect(stuck).toBeGreaterThan(0);
    const before = world.read(shop).pods.map(({ pod }) => pod);
    advanceBy(world, 20_000);
    unwrap(world.apply({ kind: "hold", workload: shop }));
    advanceBy(world, 60_000);
    expect(world.read(shop).pods.map(({ pod }) => pod)).not.toEqual(before);
  });

  test("only the named ones grow; what a pod that starts gets is what was asked for", () => {
    const world = simpleWorld({ initial: small, load: steadyLoad(0) });
    unwrap(
      world.apply({ kind: "set", workload: shop, set: { cpu: cores(3), memory: small.memory }, followers: ["shop-1"] }),
    );
    advanceBy(world, RESIZE);
    expect(world.read(shop).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([1_000, 3_000]);
    expect(world.allocation(shop).cpu).toBe(3_000);
    // One that waited is named later, when no value changes any more; naming nobody changes nothing.
    unwrap(world.apply({ kind: "set", workload: shop, set: {}, followers: [] }));
    advanceBy(world, RESIZE);
    expect(world.read(shop).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([1_000, 3_000]);
    unwrap(world.apply({ kind: "set", workload: shop, set: {}, followers: ["shop-0"] }));
    advanceBy(world, RESIZE);
    expect(world.read(shop).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([3_000, 3_000]);
  });
});

describe("replacing pods", () => {
  const resized = { cpu: cores(2), memory: mebibytes(512) };

  test("one at a time, the new one first, so that there are never fewer ready pods than asked for", () => {
    const world = simpleWorld({ initial: { ...small, replicas: 4 }, resize: "recreate", load: steadyLoad(20) });
    unwrap(world.apply({ kind: "set", workload: shop, set: resized }));
    for (let i = 0; i < 60; i++) {
      advanceBy(world, 500);
      expect(readyPods(world).length).toBeGreaterThanOrEqual(4);
      expect(names(world).length).toBeLessThanOrEqual(5);
    }
    expect(world.read(shop).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([2_000, 2_000, 2_000, 2_000]);
    expect(world.truth(shop)).toMatchObject({ lost: 0, dropped: 0, podsStarted: 4, podsStopped: 4 });
  });

  test("only those that are to follow; the others keep their size, and pods that start later do not", () => {
    const world = simpleWorld({ initial: { ...small, replicas: 3 }, resize: "recreate", load: steadyLoad(0) });
    unwrap(world.apply({ kind: "set", workload: shop, set: resized, followers: ["shop-1"] }));
    advanceBy(world, 60_000);
    expect(world.read(shop).pods.map(({ pod, cpuLimit }) => [pod, cpuLimit])).toEqual([
      ["shop-0", 1_000],
      ["shop-2", 1_000],
      ["shop-3", 2_000],
    ]);
    unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 4 } }));
    expect(world.read(shop).pods.at(-1)).toMatchObject({ pod: "shop-4", cpuLimit: 2_000 });
  });

  test("without room for one more, an old one goes first, and never two at once", () => {
    const world = simpleWorld({
      initial: { ...small, replicas: 3 },
      resize: "recreate",
      nodes: [idealNode("full", { cpu: cores(3.5) })],
      load: steadyLoad(5),
    });
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(0.9), memory: mebibytes(128) } }));
    for (let i = 0; i < 80; i++) {
      advanceBy(world, 500);
      expect(readyPods(world).length).toBeGreaterThanOrEqual(2);
    }
    expect(readyPods(world).map(({ cpuLimit }) => cpuLimit)).toEqual([900, 900, 900]);
  });

  test("a second size on the way replaces what is not yet of it, and ends there", () => {
    const world = simpleWorld({ initial: small, resize: "recreate", load: steadyLoad(0) });
    unwrap(world.apply({ kind: "set", workload: shop, set: resized }));
    advanceBy(world, 7_000);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(3), memory: mebibytes(300) } }));
    advanceBy(world, 60_000);
    expect(world.read(shop).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([3_000, 3_000]);
    const before = names(world);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(3), memory: mebibytes(300) } }));
    advanceBy(world, 60_000);
    expect(names(world)).toEqual(before);
  });
});

describe("memory", () => {
  const hungry = (perRequest: number, options: Partial<Application> = {}) =>
    plainApplication({
      phases: [phaseOf(1, { wait: 1_000 })],
      memory: { base: mebibytes(100), perRequest: mebibytes(perRequest), cache: bytes(0), missPenalty: 1 },
      ...options,
    });

  test("requests beyond the limit kill the pod: what is in it is lost, and it starts anew with a growing delay", () => {
    const world = simpleWorld({ application: hungry(20), load: steadyLoad(50), initial: { ...small, replicas: 1 } });
    // (256 − 100) / 20: seven fit, the eighth kills. The first restart is at once (5 s of start-up).
    world.advance(seconds(1));
    const first = world.read(shop);
    expect(first.ooms).toHaveLength(1);
    expect(first.ooms[0]).toMatchObject({ pod: "shop-0", memoryLimit: 256 * 1_048_576 });
    expect(first.pods[0]).toMatchObject({ readyAt: null, restarts: 1 });
    expect(world.truth(shop).lost).toBe(8);
    world.advance(seconds(120));
    const kills = world.read(shop).ooms.map(({ at }) => at);
    const killed = [first.ooms[0]?.at ?? 0, ...kills];
    const gaps = killed.slice(1).map((at, i) => Math.round((at - killed[i]!) / 1_000));
    // 5 s of start-up, plus nothing, 10, 20, 40 s.
    expect(gaps).toEqual([5, 15, 25, 45]);
  });

  test("while it waits to be started again it holds its limits, uses none of them and is not measured", () => {
    const world = simpleWorld({ application: hungry(0), initial: { ...small, replicas: 1 }, load: steadyLoad(0) });
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: small.cpu, memory: mebibytes(90) } }));
    // Killed at once and after 5 s of start-up; from then on for 10 s there is no process.
    world.advance(seconds(5.5));
    world.truth(shop);
    world.advance(seconds(14.5));
    const { memoryUsed, memoryLimit } = world.truth(shop);
    expect([memoryUsed, memoryLimit]).toEqual([0, 9 * mebibytes(90)]);
    world.advance(seconds(300));
    expect(world.read(shop).use.memory).toBeNull();
  });

  test("after ten minutes without a kill the delay begins anew", () => {
    const restartAfter = (quiet: number): number => {
      const world = simpleWorld({ application: hungry(0), initial: { ...small, replicas: 1 }, load: steadyLoad(0) });
      const kill = () => {
        unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: small.cpu, memory: mebibytes(90) } }));
        advanceBy(world, RESIZE);
        unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: small.cpu, memory: small.memory } }));
      };
      kill();
      advanceBy(world, 5_001 + quiet);
      kill();
      const killedAt = world.now;
      advanceBy(world, 60_000);
      return (world.read(shop).pods[0]?.readyAt ?? 0) - killedAt;
    };
    expect([restartAfter(590_000), restartAfter(610_000)]).toEqual([15_000, 5_000]);
  });

  test("reading twice at one moment tells of the same kills, a later reading of none", () => {
    const world = simpleWorld({ application: hungry(20), load: steadyLoad(50), initial: { ...small, replicas: 1 } });
    world.advance(seconds(1));
    expect(world.read(shop).ooms).toHaveLength(1);
    expect(world.read(shop).ooms).toHaveLength(1);
    advanceBy(world, 1);
    expect(world.read(shop).ooms).toHaveLength(0);
  });

  test("a limit below what is in use kills when it is written, one below the base for ever", () => {
    const world = simpleWorld({ application: hungry(0), initial: { ...small, replicas: 1 } });
    world.advance(seconds(30));
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: small.cpu, memory: mebibytes(90) } }));
    advanceBy(world, RESIZE);
    expect(world.read(shop).ooms).toHaveLength(1);
    world.advance(seconds(200));
    expect(readyPods(world)).toHaveLength(0);
    unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: small.cpu, memory: mebibytes(120) } }));
    world.advance(minutes(20));
    expect(readyPods(world)).toHaveLength(1);
  });

  test("a cache that is short costs CPU in proportion", () => {
    const cpuPerRequest = (limit: number): number => {
      const world = simpleWorld({
        application: plainApplication({
          memory: { base: mebibytes(100), perRequest: bytes(0), cache: mebibytes(200), missPenalty: 3 },
        }),
        initial: { replicas: 1, cpu: cores(64), memory: mebibytes(limit) },
      });
      world.advance(seconds(200));
      const { cpuUsed, completed } = world.truth(shop);
      return (1_000 * cpuUsed) / completed;
    };
    expect(cpuPerRequest(400)).toBeCloseTo(10, 1);
    expect(cpuPerRequest(200)).toBeCloseTo(20, 1);
    expect(cpuPerRequest(100)).toBeCloseTo(30, 1);
  });

  test("use and limit are integrated over time", () => {
    const world = simpleWorld({ initial: small, load: steadyLoad(0) });
    world.advance(seconds(100));
    const { memoryUsed, memoryLimit, cpuLimit } = world.truth(shop);
    expect([memoryUsed, memoryLimit, cpuLimit]).toEqual([2 * 64 * 1_048_576 * 100, 2 * 256 * 1_048_576 * 100, 200]);
  });
});

test("a new pod works slowly at first", () => {
  const application = plainApplication({ warmup: { factor: 3, span: seconds(60) } });
  const world = simpleWorld({ application, initial: { ...small, replicas: 0 }, load: steadyLoad(100) });
  unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 1 } }));
  unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(60), memory: mebibytes(1_024) } }));
  const perRequest = (): number => {
    const { cpuUsed, completed } = world.truth(shop);
    return (1_000 * cpuUsed) / completed;
  };
  world.advance(seconds(13));
  // From three times 10 ms down to 10 ms over a minute: 29.5 ms on average over the first three seconds.
  expect(Math.abs(perRequest() - 29.5)).toBeLessThan(0.5);
  world.advance(seconds(71));
  world.truth(shop);
  world.advance(seconds(80));
  expect(perRequest()).toBeCloseTo(10, 1);
});

test("an action that is none is refused with a code", () => {
  const world = simpleWorld();
  const nobody = unwrap(parseWorkloadId("nobody"));
  expect(world.apply({ kind: "set", workload: nobody, set: { replicas: 1 } })).toMatchObject({
    ok: false,
    failure: { code: "actuator.unknown-workload" },
  });
  for (const replicas of [-1, 0.5, Number.NaN])
    expect(world.apply({ kind: "set", workload: shop, set: { replicas } })).toMatchObject({
      ok: false,
      failure: { code: "world.action" },
    });
  expect(() => world.read(nobody)).toThrow("there is no workload nobody");
});
