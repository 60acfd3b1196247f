import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { bytes, mebibytes, millicores, ratio } from "../../../base/index.ts";
import { mostPerEpisode, paperMode, sharpSwitchCost } from "./autoscale.ts";
import { allocationGap, reward, rewardParts } from "./reward.ts";

const paper = { ...paperMode, alpha: 0.5 };
const size = { replicas: 2, cpu: millicores(500), memory: mebibytes(512) };
/** Latency over its target as it is measured: what SP says, and the margin, which goes on where SP ends. */
const sloAt = (pressure: number) => {
  const preservation = pressure > 1 ? 1 / pressure : 1;
  return { preservation, margin: pressure > 1 ? preservation - 1 : (1 - pressure) / (1 + pressure) };
};
const measured = (preservation: number, cpu: number, memory: number) => ({ preservation, margin: 0, cpu, memory });
const staying = { allocation: size, previous: size };

describe("the paper's reward", () => {
  test.each([
    { what: "the SLO kept and all of it used", of: [1, 1, 1], earns: 2 },
    { what: "nothing kept and nothing used", of: [0, 0, 0], earns: 0 },
    // 0.5·1·2 + 0.5·(0.3 + 0.3): the rule-based autoscaler's 130 an episode
    { what: "the SLO kept at 30 % of both", of: [1, 0.3, 0.3], earns: 1.3 },
    { what: "half of the SLO kept at 80 % and 40 %", of: [0.5, 0.8, 0.4], earns: 0.5 + 0.6 },
  ])("for $what", ({ of: [sp = 0, cpu = 0, memory = 0], earns }) => {
    expect(reward(paper, { measures: measured(sp, cpu, memory), ...staying })).toBeCloseTo(earns, 12);
  });

  test("weighs the SLO by alpha", () => {
    const of = (alpha: number) => reward({ ...paper, alpha }, { measures: measured(0.5, 0.8, 0.4), ...staying });
    expect([of(0), of(0.25), of(1)]).toEqual([expect.closeTo(1.2, 12), expect.closeTo(1.15, 12), 1]);
  });

  test("asks nothing for a change, and ends at 200 an episode", () => {
    const input = { measures: measured(1, 1, 1), allocation: size, previous: { ...size, replicas: 20 } };
    expect(rewardParts(paper, input)).toEqual({ total: 2, slo: 1, utilisation: 1, switchCost: 0 });
    expect(mostPerEpisode({ episodeSteps: 100 })).toBe(200);
  });

  test("counts use beyond a target of utilisation in full, and not more", () => {
    const relaxed = { ...paper, utilisation: { cpu: ratio(0.6), memory: ratio(0.8) } };
    expect(reward(relaxed, { measures: measured(1, 0.3, 0.8), ...staying })).toBeCloseTo(1 + 0.5 * 1.5, 12);
    expect(reward(relaxed, { measures: measured(1, 0.9, 1), ...staying })).toBeCloseTo(2, 12);
  });
});

describe("head-room", () => {
  const careful = { ...paper, headroom: 0.05 };
  const sloPart = (pressure: number, task = careful) =>
    rewardParts(task, { measures: { ...sloAt(pressure), cpu: 0, memory: 0 }, ...staying }).slo;

  test("is earned in full up to a twentieth below the target, and the twentieth costs a twentieth", () => {
    expect(sloPart(0)).toBe(1);
    expect(sloPart(0.9)).toBe(1);
    expect(sloPart(0.949)).toBe(1);
    // 0.95 over what latency is of its target.
    expect(sloPart(0.96)).toBeCloseTo(0.95 / 0.96, 12);
    expect(sloPart(1)).toBeCloseTo(0.95, 12);
  });

  test("of none is the paper's, near the target and beyond it", () => {
    for (const pressure of [0.5, 1, 1.25, 4])
      expect(sloPart(pressure, paper)).toBeCloseTo(Math.min(1, 1 / pressure), 12);
  });

  test("makes a missed target cost more: the margin is SP − 1 there, which falls twice as fast at first", () => {
    // SP is 0.8: 0.95 · 0.8/1.2.
    expect(sloPart(1.25)).toBeCloseTo(0.95 * (0.8 / 1.2), 12);
    expect(sloPart(Number.POSITIVE_INFINITY)).toBe(0);
  });

  test("is not asked of those who cannot see the edge: a margin of 1 earns what SP says", () => {
    const far = { preservation: 1, margin: 1, cpu: 0, memory: 0 };
    expect(reward(careful, { measures: far, ...staying })).toBe(1);
  });
});

/** Evenly spread, which `fc.double` is not: most of its numbers are tiny. */
const between = (low: number, high: number) =>
  fc.integer({ min: 0, max: 1000 }).map((part) => low + (part / 1000) * (high - low));
const share = between(0, 1);
const allocationArbitrary = fc
  .record({
    replicas: fc.integer({ min: 1, max: 20 }),
    cpu: fc.integer({ min: 100, max: 4000 }),
    memory: fc.integer({ min: 64, max: 4096 }),
  })
  .map(({ replicas, cpu, memory }): Allocation => ({ replicas, cpu: millicores(cpu), memory: mebibytes(memory) }));
const taskArbitrary = fc.record({
  alpha: share,
  headroom: between(0, 0.1),
  switchCost: between(0, 2),
  utilisation: fc.oneof(
    fc.constant(paperMode.utilisation),
    fc.record({
      cpu: between(0.1, 1).map(ratio),
      memory: between(0.1, 1).map(ratio),
    }),
  ),
});

test("all else equal, a worse SP or margin never raises it and a higher utilisation never lowers it", () => {
  fc.assert(
    fc.property(
      taskArbitrary,
      fc.tuple(allocationArbitrary, allocationArbitrary),
      fc.tuple(share, share, share, share, between(-1, 1)),
      (task, [allocation, previous], [preservation, cpu, memory, other, margin]) => {
        const of = (change: object): number =>
          reward(task, { measures: { preservation, margin, cpu, memory, ...change }, allocation, previous });
        const now = of({});
        expect(of({ margin: Math.min(margin, 2 * other - 1) })).toBeLessThanOrEqual(now);
        expect(of({ preservation: Math.min(preservation, other) })).toBeLessThanOrEqual(now);
        expect(of({ cpu: Math.max(cpu, other) })).toBeGreaterThanOrEqual(now);
        expect(of({ memory: Math.max(memory, other) })).toBeGreaterThanOrEqual(now);
      },
    ),
    { seed: 2, numRuns: 500 },
  );
});

describe("the distance of two allocations", () => {
  test("is by totals: halving the replicas at the same size is half of both resources", () => {
    expect(allocationGap(size, { ...size, replicas: 1 })).toBe(1);
    expect(allocationGap(size, { ...size, cpu: millicores(400) })).toBeCloseTo(0.2, 12);
    expect(allocationGap(size, { replicas: 4, cpu: millicores(250), memory: mebibytes(256) })).toBe(0);
  });

  test("is the same in both directions, from 0 to 2, and finite at zero replicas", () => {
    fc.assert(
      fc.property(allocationArbitrary, allocationArbitrary, (one, other) => {
        const gap = allocationGap(one, other);
        expect(gap).toBe(allocationGap(other, one));
        expect(gap >= 0 && gap < 2).toBe(true);
      }),
      { seed: 4 },
    );
    expect(allocationGap(size, { ...size, replicas: 0 })).toBe(2);
    expect(allocationGap({ ...size, replicas: 0 }, { ...size, replicas: 0 })).toBe(0);
  });
});

/**
 * The smallest world with what makes alternating pay: work that is not done waits, latency is the wait, and use over
 * limit is what was done over what could have been. Memory has a working set that waits for nobody.
 */
interface SmallWorld {
  /** Millicore-steps of work a step. */
  readonly work: number;
  readonly workingSet: number;
  /** In steps. */
  readonly slo: number;
}

function earnedPerStep(
  task: Parameters<typeof reward>[0],
  { work, workingSet, slo }: SmallWorld,
  schedule: readonly Allocation[],
): number {
  let backlog = 0;
  let earned = 0;
  // Long enough that a queue which grows at all ends far beyond any SLO.
  const rounds = Math.ceil(2000 / schedule.length);
  const counted = Math.ceil(rounds / 10);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, allocation] of schedule.entries()) {
      const previous = schedule.at(index - 1) ?? allocation;
      const capacity = allocation.replicas * allocation.cpu;
      const done = Math.min(backlog + work, capacity);
      backlog += work - done;
      const { preservation, margin } = sloAt(backlog / capacity / slo);
      const measures = {
        preservation,
        margin,
        cpu: done / capacity,
        memory: Math.min(1, workingSet / (allocation.replicas * allocation.memory)),
      };
      // The first rounds lead from an empty queue to the rhythm.
      if (round >= rounds - counted) earned += reward(task, { measures, allocation, previous });
    }
  }
  return earned / (counted * schedule.length);
}

const byCpu = (a: Allocation, b: Allocation) => a.replicas * a.cpu - b.replicas * b.cpu;

describe("changing back and forth", () => {
  const worldArbitrary = fc.record({
    work: share,
    workingSet: share,
    slo: between(0.01, 5),
  });

  test("never beats the better of the two settings, at the sharp cost and however long the small one is kept", () => {
    let couldPay = 0;
    fc.assert(
      fc.property(
        taskArbitrary,
        fc.tuple(allocationArbitrary, allocationArbitrary),
        fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })),
        worldArbitrary,
        ({ alpha, headroom, utilisation }, pair, [small, large], { work, workingSet, slo }) => {
          const [less, more] = [...pair].sort(byCpu) as [Allocation, Allocation];
          // Work between nothing and a little beyond the larger setting; a working set of any size.
          const world = {
            work: work * 1.1 * more.replicas * more.cpu,
            workingSet: workingSet * 20 * mebibytes(4096),
            slo,
          };
          const schedule = [...Array<Allocation>(small).fill(less), ...Array<Allocation>(large).fill(more)];
          const task = { alpha, headroom, utilisation, switchCost: sharpSwitchCost * small };
          const better = Math.max(earnedPerStep(task, world, [less]), earnedPerStep(task, world, [more]));
          expect(earnedPerStep(task, world, schedule)).toBeLessThanOrEqual(better + 1e-9);
          if (earnedPerStep({ ...task, switchCost: 0 }, world, schedule) > better + 1e-6) couldPay += 1;
        },
      ),
      { seed: 6, numRuns: 1000 },
    );
    // The property means something only where it would pay without the cost.
    expect(couldPay).toBeGreaterThan(50);
  });

  test("pays with any less: the cost is sharp for every pair of settings", () => {
    let tried = 0;
    fc.assert(
      fc.property(allocationArbitrary, allocationArbitrary, fc.integer({ min: 1, max: 4 }), (one, other, small) => {
        const [less, more] = [one, other].sort(byCpu) as [Allocation, Allocation];
        const [a, b] = [less.replicas * less.cpu, more.replicas * more.cpu];
        const [low, high] = [less.replicas * less.memory, more.replicas * more.memory];
        if (!(a < 0.95 * b && low < 0.95 * high)) return;
        tried += 1;
        // A little more work than the small setting does, all of its memory in use, an SLO that just bears the wait.
        const work = a + (b - a) / (small + 2);
        const world = { work, workingSet: low, slo: (small * (work - a)) / a };
        const schedule = [...Array<Allocation>(small).fill(less), more];
        const task = { ...paper, alpha: 0.9, switchCost: 0.99 * sharpSwitchCost * small };
        const fixed = Math.max(earnedPerStep(task, world, [less]), earnedPerStep(task, world, [more]));
        expect(earnedPerStep(task, world, schedule)).toBeGreaterThan(fixed);
      }),
      { seed: 12, numRuns: 300 },
    );
    expect(tried).toBeGreaterThan(50);
  });

  test("costs at most half of the utilisation's share of the reward", () => {
    const all = { replicas: 20, cpu: millicores(4000), memory: mebibytes(4096) };
    const least = { replicas: 1, cpu: millicores(1), memory: bytes(1) };
    const { switchCost } = rewardParts(
      { ...paper, switchCost: sharpSwitchCost },
      { measures: measured(1, 1, 1), allocation: all, previous: least },
    );
    // 0.5 · (1 - 0.5) · 2
    expect(switchCost).toBeCloseTo(0.5, 4);
  });
});
