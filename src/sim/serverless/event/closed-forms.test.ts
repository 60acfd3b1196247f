import { describe, expect, test } from "vitest";
import {
  functionId,
  idealInvoker,
  only,
  plainFunction,
  plainPlatform,
  plainSpec,
} from "../../../../test/fixtures/sim/simple-platform.ts";
import { milliseconds, seconds } from "../../../base/index.ts";
import type { ServerlessOptions } from "../spec.ts";

const relativeError = (ours: number, theory: number): number => Math.abs(ours - theory) / theory;

/** Mean activations on the platform: looked at every 97 ms, which nothing in it is in step with. */
function meanInside(options: Partial<ServerlessOptions>, hours: number): number {
  const world = plainPlatform(options);
  let sum = 0;
  let looks = 0;
  for (let at = 60_000; at < hours * 3_600_000; at += 97) {
    world.advance(milliseconds(at));
    sum += world.truth(only).inFlight;
    looks++;
  }
  return sum / looks;
}

describe("queues that theory knows", () => {
  test("M/M/3: containers are servers, Erlang's C", () => {
    // Offered load a = 24/s · 100 ms = 2.4 of 3 containers.
    const a = 2.4;
    const last = (a ** 3 / 6) * (3 / (3 - a));
    const theory = a + ((last / (1 + a + a ** 2 / 2 + last)) * a) / (3 - a);
    const functions = [
      plainSpec({
        pattern: { kind: "flat", rate: 24 },
        initial: { shares: 1_024, memory: 256, containers: 3 },
      }),
    ];
    expect(relativeError(meanInside({ functions, spread: "exponential" }, 2), theory)).toBeLessThan(0.05);
  });

  test("M/G/1 with processor sharing: containers for everybody on one core, ρ/(1−ρ), whatever the sizes look like", () => {
    const functions = [
      plainSpec({
        profile: plainFunction({ variation: 1.2 }),
        pattern: { kind: "flat", rate: 7 },
        initial: { shares: 1_024, memory: 64, containers: 500 },
      }),
    ];
    const inside = meanInside({ functions, invokers: [idealInvoker({ cores: 1 })] }, 4);
    expect(relativeError(inside, 0.7 / 0.3)).toBeLessThan(0.05);
  });

  test("M/D/1: Pollaczek and Khinchine, half of what exponential work would wait", () => {
    const functions = [
      plainSpec({
        pattern: { kind: "flat", rate: 8 },
        initial: { shares: 1_024, memory: 256, containers: 1 },
      }),
    ];
    expect(relativeError(meanInside({ functions }, 2), 0.8 + 0.8 ** 2 / (2 * (1 - 0.8)))).toBeLessThan(0.05);
  });

  test("waiting for storage takes no core: M/G/∞ beside a single core that is idle", () => {
    const functions = [
      plainSpec({
        profile: plainFunction({ io: { time: 250, rate: 0 }, compute: { time: 0, bandwidth: 0, workingSet: 0 } }),
        pattern: { kind: "flat", rate: 20 },
        initial: { shares: 1_024, memory: 64, containers: 200 },
      }),
    ];
    const inside = meanInside({ functions, spread: "exponential", invokers: [idealInvoker({ cores: 1 })] }, 1);
    expect(relativeError(inside, 5)).toBeLessThan(0.03);
  });
});

describe("shares", () => {
  const [light, heavy] = [functionId("light"), functionId("heavy")];
  const greedy = { kind: "flat", rate: 200 } as const;

  test("two functions that always want the core get it by their shares: 512 against 1,536 is one to three", () => {
    // Each has one container that is always busy, so each wants the whole core all the time.
    const world = plainPlatform({
      invokers: [idealInvoker({ cores: 1 })],
      functions: [
        plainSpec({ id: light, pattern: greedy, initial: { shares: 512, memory: 64, containers: 1 } }),
        plainSpec({ id: heavy, pattern: greedy, initial: { shares: 1_536, memory: 64, containers: 1 } }),
      ],
    });
    world.advance(seconds(10));
    world.truth(light);
    world.truth(heavy);
    world.advance(seconds(110));
    const [one, three] = [world.truth(light), world.truth(heavy)];
    expect(one.cpuUsed).toBeCloseTo(25, 6);
    expect(three.cpuUsed).toBeCloseTo(75, 6);
    // 100 ms of work at a quarter and three quarters of a core.
    expect([one.completed, three.completed]).toEqual([250, 750]);
  });

  test("while there are cores for all, shares do nothing", () => {
    const latencyOf = (shares: number): number | null => {
      const world = plainPlatform({
        invokers: [idealInvoker({ cores: 2 })],
        functions: [
          plainSpec({ id: light, pattern: greedy, initial: { shares, memory: 64, containers: 1 } }),
          plainSpec({ id: heavy, pattern: greedy, initial: { shares: 2_048, memory: 64, containers: 1 } }),
        ],
      });
      world.advance(seconds(20));
      return world.takeActivations().find(({ workload }) => workload === light)?.execution ?? null;
    };
    expect(latencyOf(128)).toBeCloseTo(100, 4);
    expect(latencyOf(2_048)).toBeCloseTo(100, 4);
  });
});

describe("what machines are short of besides cores", () => {
  /** Execution of a call with three others of its kind at work all the time. */
  const crowded = (profile: ReturnType<typeof plainFunction>, invoker: Parameters<typeof idealInvoker>[0]): number => {
    const world = plainPlatform({
      invokers: [idealInvoker(invoker)],
      functions: [
        plainSpec({
          profile,
          pattern: { kind: "flat", rate: 300 },
          initial: { shares: 1_024, memory: 64, containers: 4 },
        }),
      ],
    });
    world.advance(seconds(10));
    return world.takeActivations().findLast(({ outcome }) => outcome === "completed")?.execution ?? Number.NaN;
  };

  test("four that draw 5 GB/s each from 10 GB/s take twice as long, and their cores stay busy", () => {
    const profile = plainFunction({ compute: { time: 100, bandwidth: 5_000, workingSet: 0 } });
    expect(crowded(profile, { bandwidth: 10_000 })).toBeCloseTo(200, 3);
  });

  test("working sets four times the cache double the traffic (misses grow by the square root), and so the time", () => {
    const profile = plainFunction({ compute: { time: 100, bandwidth: 2_500, workingSet: 8 } });
    expect(crowded(profile, { bandwidth: 10_000, cache: 32 })).toBeCloseTo(100, 3);
    expect(crowded(profile, { bandwidth: 10_000, cache: 8 })).toBeCloseTo(200, 3);
  });

  test("four uploads of 50 MB/s through 100 MB/s take twice as long", () => {
    const profile = plainFunction({
      io: { time: 100, rate: 50 },
      compute: { time: 0.001, bandwidth: 0, workingSet: 0 },
    });
    expect(crowded(profile, { io: 100 })).toBeCloseTo(200, 1);
  });
});

test("CPU used is work done, and memory used is what idle and busy containers hold", () => {
  const world = plainPlatform({ functions: [plainSpec({ initial: { shares: 512, memory: 128, containers: 2 } })] });
  world.advance(seconds(600));
  const truth = world.truth(only);
  expect(relativeError(truth.cpuUsed, truth.completed * 0.1)).toBeLessThan(0.001);
  expect(truth.cpuGranted).toBeCloseTo(600, 6);
  expect(truth.memoryGranted).toBeCloseTo(600 * 2 * 128, 4);
  // Ten a second for 100 ms: one busy container of two on average, at 40 MiB (peaks spread evenly around it), one at 24.
  expect(relativeError(truth.memoryUsed, 600 * (40 + 24))).toBeLessThan(0.02);
});
