import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../../act/index.ts";
import { dimensions } from "../../act/index.ts";
import type { WorkloadId } from "../../base/index.ts";
import { mebibytes, millicores, milliseconds, perSecond, ratio } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Observation } from "../tasks/index.ts";
import type { ShieldInput } from "./shield.ts";
import { defaultShield, isNear, keepWithinBand, limitNoise, nearness, noShield, shielded, steadied } from "./shield.ts";

const sizes = (replicas: number, cpu: number, memory: number): Allocation => ({
  replicas,
  cpu: millicores(cpu),
  memory: mebibytes(memory),
});

/** The margin of a latency that is this share of its target. */
const marginAt = (pressure: number) => (1 - pressure) / (1 + pressure);

function observed(pressure: number, held: Observation["held"] = []): ShieldInput["observation"] {
  const preservation = Math.min(1, 1 / pressure);
  const measures = { cpu: 0.5, memory: 0.5, io: 0, network: 0, preservation, margin: marginAt(pressure), load: 10 };
  return { measures, held };
}

function reading(memoryUsed: number, change: Partial<WorkloadReading> = {}): WorkloadReading {
  const memoryLimit = mebibytes(400);
  const pod = {
    pod: "a",
    createdAt: milliseconds(0),
    readyAt: milliseconds(0),
    cpuLimit: millicores(500),
    memoryLimit,
    cpu: millicores(250),
    memory: mebibytes(memoryUsed),
    restarts: 0,
  };
  return {
    workload: "shop" as WorkloadId,
    at: milliseconds(0),
    spec: sizes(4, 500, 400),
    pods: [pod, { ...pod, pod: "b", memory: null }],
    use: { cpu: ratio(0.5), memory: ratio(0.5), io: ratio(0), network: ratio(0) },
    latency: milliseconds(50),
    offered: perSecond(10),
    completed: perSecond(10),
    failed: perSecond(0),
    ooms: [],
    ...change,
  };
}

const have = sizes(4, 500, 400);
const fallback = sizes(6, 300, 300);
const want = sizes(2, 400, 200);
const input = (change: Partial<ShieldInput> = {}): ShieldInput => ({
  want,
  have,
  fallback,
  reading: reading(100),
  observation: observed(0.5),
  experience: { usualNearness: 0.6, memoryPeak: 0, excess: 0 },
  ...change,
});

describe("the shield", () => {
  test("lets a wish pass while all is well", () => {
    expect(shielded(input(), defaultShield)).toEqual({ allocation: want, raised: [] });
  });

  test("with the SLO missed raises each value to the fallback's, and keeps what is higher", () => {
    const shield = shielded(input({ observation: observed(1.01) }), defaultShield);
    expect(shield).toEqual({ allocation: sizes(6, 400, 300), raised: ["slo-missed"] });
  });

  test("near the SLO lets nothing shrink further than the fallback would", () => {
    // Usual is 0.6, so near is from 0.8 on. The lower of what is there and what the fallback wants: 4 and 300.
    expect(shielded(input({ observation: observed(0.81) }), defaultShield)).toEqual({
      allocation: sizes(4, 400, 200),
      raised: ["slo-near"],
    });
    expect(shielded(input({ observation: observed(0.79) }), defaultShield).raised).toEqual([]);
  });

  test.each([
    ["out-of-memory", { ooms: [{ pod: "a", at: milliseconds(0), memoryLimit: mebibytes(400) }] }, 100],
    ["memory-near-limit", {}, 361],
  ] as const)("raises to the fallback's on %s", (rule, change, used) => {
    const shield = shielded(input({ reading: reading(used, change) }), { ...defaultShield, memoryMargin: null });
    expect(shield).toEqual({ allocation: sizes(6, 400, 300), raised: [rule] });
  });

  test("raises to the fallback's where a measurement had to be taken from before", () => {
    expect(shielded(input({ observation: observed(0.5, ["cpu"]) }), defaultShield).raised).toEqual([
      "measurements-missing",
    ]);
  });

  test("gives no pod less memory than pods needed lately and some more, or than the fallback would give", () => {
    const having = (peak: number) => {
      const experience = { usualNearness: 0.6, memoryPeak: mebibytes(peak), excess: 0 };
      return shielded(input({ want: sizes(2, 400, 100), experience }), defaultShield);
    };
    expect(having(200)).toEqual({ allocation: sizes(2, 400, 230), raised: ["memory-needed"] });
    expect(having(900)).toEqual({ allocation: sizes(2, 400, 300), raised: ["memory-needed"] });
  });

  test("lets nobody go below the fallback's CPU once more violations were had than it would have had", () => {
    const having = (excess: number) =>
      shielded(input({ experience: { usualNearness: 0.6, memoryPeak: 0, excess } }), defaultShield);
    expect(having(1.9)).toEqual({ allocation: want, raised: [] });
    // Memory is not what was overspent.
    expect(having(2)).toEqual({ allocation: sizes(6, 400, 200), raised: ["savings-spent"] });
  });

  test("switched off does nothing at all", () => {
    const experience = { usualNearness: 0.6, memoryPeak: mebibytes(900), excess: 99 };
    const worst = input({ observation: observed(3, ["cpu"]), reading: reading(399), experience });
    expect(shielded(worst, noShield)).toEqual({ allocation: want, raised: [] });
  });

  test("never lowers a wish, and with the SLO missed never leaves it below the fallback's", () => {
    const allocation = fc
      .record({ replicas: fc.nat(20), cpu: fc.nat(4_000), memory: fc.nat(4_000) })
      .map(({ replicas, cpu, memory }) => sizes(replicas, cpu, memory));
    fc.assert(
      fc.property(allocation, allocation, fc.double({ min: 0.1, max: 3, noNaN: true }), (wish, other, pressure) => {
        const observation = observed(pressure);
        const { allocation: safe } = shielded(input({ want: wish, fallback: other, observation }), defaultShield);
        for (const dimension of dimensions) {
          expect(safe[dimension]).toBeGreaterThanOrEqual(wish[dimension]);
          if (observation.measures.preservation < 1) expect(safe[dimension]).toBeGreaterThanOrEqual(other[dimension]);
        }
      }),
    );
  });
});

test.each([0.25, 0.8, 1, 2])("nearness is latency over target: %d", (pressure) => {
  expect(nearness(observed(pressure))).toBeCloseTo(pressure);
});

test("nearness of a workload that answers nothing is beyond all measure", () => {
  const { measures } = observed(1);
  expect(nearness({ measures: { ...measures, preservation: 0, margin: -1 } })).toBe(Number.POSITIVE_INFINITY);
});

test("near is half of the way from what is usual to the target, wherever that is", () => {
  const half = (usual: number) => ({ share: 0.5, usual });
  expect(isNear(observed(0.91), half(0.8))).toBe(true);
  expect(isNear(observed(0.89), half(0.8))).toBe(false);
  expect(isNear(observed(0.61), half(0.2))).toBe(true);
  // A fallback that usually misses its SLO leaves no way to go.
  expect(isNear(observed(0.99), half(1.4))).toBe(false);
});

describe("a wish that differs little", () => {
  const bounds = {
    replicas: { min: 1, max: 16 },
    cpu: { min: millicores(100), max: millicores(1600) },
    memory: { min: mebibytes(64), max: mebibytes(1024) },
  };
  const at = (cpu: number, memory: number, replicas: number) => Float32Array.of(cpu, memory, replicas);

  test("changes nothing, each value by itself", () => {
    // 400 millicores, 256 MiB and 4 replicas are the middles of their ranges.
    const middle = { have: sizes(4, 400, 256), tolerance: 0.05 };
    expect(steadied({ bounds }, at(0.04, -0.04, 0), middle)).toEqual(sizes(4, 400, 256));
    // A coordinate of 0.5 is 100·16^0.75 millicores.
    expect(steadied({ bounds }, at(0.5, -0.04, 0), middle)).toEqual(sizes(4, 800, 256));
  });

  test("does not flip between two counts of replicas at the edge between them", () => {
    // 16^x: the edge between 4 and 5 is at 4.5 replicas, a coordinate of 0.0850.
    const wish = (x: number, have: number) =>
      steadied({ bounds }, at(0, 0, x), { have: sizes(have, 400, 256), tolerance: 0.05 }).replicas;
    expect([wish(0.08, 4), wish(0.09, 4), wish(0.13, 4), wish(0.14, 4)]).toEqual([4, 4, 4, 5]);
    expect([wish(0.09, 5), wish(0.08, 5), wish(0.04, 5), wish(0.03, 5)]).toEqual([5, 5, 5, 4]);
  });
});

test("the band holds every coordinate by itself, and the whole range at its ends", () => {
  const action = Float32Array.of(-1, 0.1, 1);
  keepWithinBand(action, Float32Array.of(0, 0, 0.9), 0.25);
  expect([...action]).toEqual([-0.25, Math.fround(0.1), 1]);
});

test("noise is cut at its limit, and near the SLO takes no CPU away", () => {
  const calm = Float32Array.of(0, 0, 0);
  const noisy = Float32Array.of(-0.75, -0.125, 0.75);
  const far = noisy.slice();
  limitNoise(far, calm, { limit: 0.5, isNear: false });
  expect([...far]).toEqual([-0.5, -0.125, 0.5]);
  limitNoise(noisy, calm, { limit: 0.5, isNear: true });
  // The second coordinate is memory, which latency does not wait for.
  expect([...noisy]).toEqual([0, -0.125, 0.5]);
});
