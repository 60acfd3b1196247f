import fc from "fast-check";
import { expect, test } from "vitest";
import { CodedError, mebibytes } from "../../../base/index.ts";
import type { Application } from "./application.ts";
import { generateApplications, generateHeldOut, splitApplications } from "./generate.ts";
import { segments } from "./segments.ts";

const unordered = ({ segments: names }: Application) => [...names].sort().join("+");
const anySeed = fc.integer({ min: 0, max: 2 ** 31 });

test("a seed gives a thousand applications, no two of which do the same work", () => {
  const applications = generateApplications({ seed: 7 });
  expect(applications).toHaveLength(1_000);
  expect(new Set(applications.map(unordered)).size).toBe(1_000);
  expect(new Set(applications.map(({ id }) => id)).size).toBe(1_000);
  expect(new Set(applications.flatMap(({ segments: names }) => names)).size).toBe(16);
  expect([...new Set(applications.map(({ segments: names }) => names.length))].sort()).toEqual([1, 2, 3, 4]);
});

test("the same seed gives the same applications, however many are asked for; another seed gives others", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const many = generateApplications({ seed, count: 60 });
      expect(generateApplications({ seed, count: 20 })).toEqual(many.slice(0, 20));
      expect(generateApplications({ seed: seed + 1, count: 60 })).not.toEqual(many);
    }),
    { numRuns: 10 },
  );
});

test("how an application is served depends on its segments and the seed, not on when it was drawn", () => {
  const known = new Map(generateApplications({ seed: 3 }).map((application) => [unordered(application), application]));
  const again = generateHeldOut({ seed: 3 }).train.filter((application) => known.has(unordered(application)));
  expect(again.length).toBeGreaterThan(50);
  for (const application of again) {
    const twin = known.get(unordered(application));
    expect(application.threads).toBe(twin?.threads);
    expect(application.startup).toEqual(twin?.startup);
    expect(application.memory.base).toBe(twin?.memory.base);
  }
});

test("everything drawn is finite and within what the studies' clusters can hold", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      for (const application of generateApplications({ seed, count: 50 })) {
        const { phases, sizes, memory, threads, queue, timeout } = application;
        const cpu = phases.reduce((sum, phase) => sum + phase.cpu, 0);
        expect(cpu).toBeGreaterThanOrEqual(5);
        expect(cpu).toBeLessThanOrEqual(160);
        for (const phase of phases) {
          expect(Number.isFinite(phase.wait) && phase.wait >= 0).toBe(true);
          expect([1, 2, 4]).toContain(phase.width);
          expect(Number.isFinite(phase.io + phase.network)).toBe(true);
        }
        expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeCloseTo(1, 10);
        expect(Math.min(...sizes)).toBeGreaterThan(0);
        expect(application.sigma).toBeGreaterThanOrEqual(0.15);
        expect(application.sigma).toBeLessThanOrEqual(0.5);
        expect(queue).toBeGreaterThanOrEqual(threads);
        expect(timeout).toBeGreaterThanOrEqual(1_000);
        expect(timeout).toBeLessThanOrEqual(10_000);
        expect(memory.base + (threads + queue) * memory.perRequest).toBeLessThanOrEqual(mebibytes(2_048));
        expect(memory.missPenalty).toBeGreaterThanOrEqual(1);
        expect(memory.missPenalty).toBeLessThanOrEqual(3);
      }
    }),
    { numRuns: 20 },
  );
});

test("there are 4,844 different ones: 4,844 can be had, and one more is refused", () => {
  const all = generateApplications({ seed: 1, count: 4_844 });
  expect(new Set(all.map(unordered)).size).toBe(4_844);
  for (const count of [4_845, -1, 2.5, Number.NaN]) {
    expect(() => generateApplications({ seed: 1, count })).toThrow(CodedError);
  }
});

test("a split leaves 800 to train on and the other 200 to test on, by the seed", () => {
  const applications = generateApplications({ seed: 11 });
  const { train, test: tested } = splitApplications(applications, 5);
  expect([train.length, tested.length]).toEqual([800, 200]);
  expect(new Set([...train, ...tested])).toEqual(new Set(applications));
  expect(splitApplications(applications, 5).test).toEqual(tested);
  expect(splitApplications(applications, 6).test).not.toEqual(tested);
});

test("held-out segments are in no application that is trained on, and in every unseen one", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const { heldOut, train, recombined, unseen } = generateHeldOut({ seed, count: 200 });
      const uses = (application: Application) => heldOut.some((name) => application.segments.includes(name));
      expect(new Set(heldOut).size).toBe(2);
      expect(segments.map(({ name }) => name)).toEqual(expect.arrayContaining([...heldOut]));
      expect([train.length, recombined.length, unseen.length]).toEqual([160, 20, 20]);
      expect([...train, ...recombined].some(uses)).toBe(false);
      expect(unseen.every(uses)).toBe(true);
      expect(new Set([...train, ...recombined, ...unseen].map(unordered)).size).toBe(200);
    }),
    { numRuns: 10 },
  );
});
