import fc from "fast-check";
import { expect, test } from "vitest";
import { CpuClock } from "./cpu-clock.ts";

const clockOf = (limit: number, options: { phase?: number; cores?: number } = {}): CpuClock =>
  new CpuClock({ at: 0, phase: options.phase ?? 100, limit, cores: options.cores ?? 64 });

test("60 ms of CPU at 0.2 cores is throttled twice and takes 220 ms from the start of a period", () => {
  const clock = clockOf(0.2);
  clock.demand = 1;
  // 20 ms in each of the periods that begin at 0, 100 and 200.
  expect(clock.timeOf(60)).toBeCloseTo(220, 9);
  clock.advance(220);
  expect([clock.virtual, clock.used]).toEqual([60, 60]);
});

test("the same work that begins in the middle of a period takes as long as the phase makes it", () => {
  const clock = clockOf(0.2, { phase: 10 });
  clock.demand = 1;
  // 10 ms until the period ends, 20 in each of the two from 10 and 110, and the last 10 from 210.
  expect(clock.timeOf(60)).toBeCloseTo(220, 9);
  const late = clockOf(0.2, { phase: 95 });
  late.demand = 1;
  // 20 ms at once, 20 from 95, 20 from 195.
  expect(late.timeOf(60)).toBeCloseTo(215, 9);
});

test("a quota that is not used in its period is not kept", () => {
  const clock = clockOf(0.2);
  clock.advance(1_000);
  clock.demand = 1;
  expect(clock.timeOf(30)).toBeCloseTo(1_110, 9);
});

test("parallel threads spend the quota as many times faster", () => {
  const clock = clockOf(1);
  clock.demand = 4;
  // 100 core-ms a period: all four run 25 ms of each.
  clock.advance(100);
  expect([clock.virtual, clock.used]).toEqual([25, 100]);
  expect(clock.timeOf(30)).toBeCloseTo(105, 9);
});

test("threads beyond the cores share them equally", () => {
  const clock = clockOf(64, { cores: 2 });
  clock.demand = 8;
  clock.advance(40);
  expect([clock.virtual, clock.used]).toEqual([10, 80]);
});

test("a higher limit is granted in full at once", () => {
  const clock = clockOf(0.1);
  clock.demand = 1;
  clock.advance(50);
  expect(clock.used).toBeCloseTo(10, 9);
  clock.setLimit(0.3);
  clock.advance(100);
  expect(clock.used).toBeCloseTo(40, 9);
});

/** The same by walking through every period, a tiny step at a time, with none of the closed forms. */
function walked(changes: readonly { at: number; demand: number }[], until: number, setup: Setup): number {
  const { limit, phase, cores } = setup;
  const step = 0.01;
  let left = limit * 100;
  let demand = 0;
  let virtual = 0;
  for (let i = 0; i < Math.round(until / step); i++) {
    const t = i * step;
    for (const change of changes) if (Math.abs(change.at - t) < step / 2) demand = change.demand;
    if (i > 0 && Math.abs((t - phase) % 100) < step / 2) left = limit * 100;
    const burn = Math.min(demand, cores);
    if (burn === 0) continue;
    const ran = Math.min(step, left / burn);
    left -= ran * burn;
    virtual += (ran * burn) / demand;
  }
  return virtual;
}

interface Setup {
  readonly limit: number;
  readonly phase: number;
  readonly cores: number;
}

test("any sequence of demands gets as far as a walk through every period does", () => {
  const setup = fc.record({
    limit: fc.integer({ min: 1, max: 30 }).map((n) => n / 10),
    phase: fc.integer({ min: 1, max: 100 }),
    cores: fc.integer({ min: 1, max: 4 }),
  });
  const change = fc.record({ after: fc.integer({ min: 1, max: 180 }), demand: fc.integer({ min: 0, max: 6 }) });
  fc.assert(
    fc.property(setup, fc.array(change, { minLength: 1, maxLength: 6 }), (options, steps) => {
      const clock = new CpuClock({ at: 0, ...options });
      const changes: { at: number; demand: number }[] = [];
      let now = 0;
      for (const { after, demand } of steps) {
        now += after;
        changes.push({ at: now, demand });
        clock.advance(now);
        clock.demand = demand;
      }
      const end = now + 250;
      clock.advance(end);
      expect(Math.abs(clock.virtual - walked(changes, end, options))).toBeLessThan(0.2);
    }),
    { seed: 5, numRuns: 40 },
  );
});

test("what it says when something will be done, it has done by then and not before", () => {
  const amounts = fc.double({ min: 0.001, max: 500, noNaN: true });
  const limits = fc.double({ min: 0.05, max: 8, noNaN: true });
  fc.assert(
    fc.property(amounts, limits, fc.integer({ min: 1, max: 12 }), (amount, limit, demand) => {
      const clock = new CpuClock({ at: 0, phase: 37, limit, cores: 4 });
      clock.demand = demand;
      const done = clock.timeOf(amount);
      const before = new CpuClock({ at: 0, phase: 37, limit, cores: 4 });
      before.demand = demand;
      before.advance(done * 0.999);
      expect(before.virtual).toBeLessThan(amount);
      clock.advance(done);
      expect(clock.virtual).toBeCloseTo(amount, 6);
    }),
    { seed: 6, numRuns: 300 },
  );
});
