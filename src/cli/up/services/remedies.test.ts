import { expect, test } from "vitest";
import { milliseconds } from "../../../base/index.ts";
import type { Suspect } from "../../../control/localize/index.ts";
import { type Interval, Remedies, type ServiceTurn } from "./remedies.ts";

const HAD = { cpu: 1, memory: 100, llc: 2, io: 50, network: 60, replicas: 1 };
const turn = (has: Partial<typeof HAD>, change: Partial<ServiceTurn> = {}): ServiceTurn => ({
  service: "geo",
  by: "learner",
  had: HAD,
  has: { ...HAD, ...has },
  ...change,
});
const suspect = { instance: "geo-0", service: "geo", reason: "it takes long" } as Suspect;
const interval = (at: number, change: Partial<Interval> = {}): Interval => ({
  at,
  isActing: true,
  broken: new Set(["search"]),
  suspects: [suspect],
  turns: [],
  ...change,
});
const calm = new Set<string>();

test("what is given to a service while an SLO is broken is one remedy, from the first limit to the last", () => {
  const remedies = new Remedies();
  remedies.note(interval(1_000, { turns: [turn({ cpu: 2 })] }));
  remedies.note(interval(2_000, { turns: [turn({ cpu: 4 }, { had: { ...HAD, cpu: 2 } })] }));
  expect(remedies.list).toMatchObject([
    { service: "geo", instance: "geo-0", by: "learner", isDone: true, from: 1_000, until: 2_000, endedAt: null },
  ]);
  expect(remedies.list[0]).toMatchObject({ requests: ["search"], why: "it takes long" });
  expect(remedies.list[0]?.changes).toEqual([{ what: "cpu", from: 1, to: 4 }]);
});

test("a violation is over since the first of three intervals without one, and the next is another remedy", () => {
  const remedies = new Remedies();
  remedies.note(interval(1_000, { turns: [turn({ cpu: 2 })] }));
  remedies.note(interval(2_000, { broken: calm }));
  // A relapse: what came before it was luck.
  remedies.note(interval(3_000));
  for (const at of [4_000, 5_000, 6_000]) {
    expect(remedies.list[0]?.endedAt).toBeNull();
    remedies.note(interval(at, { broken: calm }));
  }
  expect(remedies.list[0]?.endedAt).toBe(4_000);
  remedies.note(interval(7_000, { turns: [turn({ cpu: 3 })] }));
  expect(remedies.list.map(({ id, endedAt }) => [id, endedAt])).toEqual([
    ["remedy-2", null],
    ["remedy-1", 4_000],
  ]);
});

test("fitting limits while nobody is harmed is counted and no remedy; more replicas by Kubernetes are one at any time", () => {
  const remedies = new Remedies();
  remedies.note(interval(1_000, { broken: calm, turns: [turn({ cpu: 0.5 }), turn({ cpu: 1.5 })] }));
  // A little more while somebody is harmed is a fit as well.
  remedies.note(interval(1_500, { turns: [turn({ cpu: 1.2 })] }));
  expect([remedies.fitted, remedies.list]).toEqual([3, []]);
  remedies.note(interval(2_000, { broken: calm, turns: [turn({ replicas: 3 }, { by: "fallback" })] }));
  expect(remedies.list).toMatchObject([
    { service: "geo", instance: null, by: "fallback", changes: [{ what: "replicas", from: 1, to: 3 }] },
  ]);
});

test("where nobody may act it is told what would have been done", () => {
  const remedies = new Remedies();
  remedies.note(interval(1_000, { isActing: false, turns: [turn({ cpu: 2 })] }));
  expect(remedies.list).toMatchObject([{ isDone: false, changes: [{ what: "cpu", from: 1, to: 2 }] }]);
});

test("the check of a promise belongs to the remedy that began with it, and only fifty remedies are kept", () => {
  const remedies = new Remedies();
  const check = (promisedAt: number, measured: number, expected = 14) =>
    remedies.check({
      instance: "geo-0",
      request: "search",
      promisedAt: milliseconds(promisedAt),
      checkedAt: milliseconds(0),
      expected: milliseconds(expected),
      measured: milliseconds(measured),
      error: milliseconds(measured - expected),
    });
  remedies.note(interval(10_000, { turns: [turn({ cpu: 2 })] }));
  check(20_000, 5);
  check(10_000, 5, 0);
  expect(remedies.list[0]?.saving).toBeNull();
  check(9_500, 12);
  check(10_000, 1);
  expect(remedies.list[0]?.saving).toEqual({ expectedMs: 14, measuredMs: 12 });
  for (let k = 0; k < 60; k++) {
    for (const at of [1, 2, 3]) remedies.note(interval(20_000 * (k + 1) + at, { broken: calm }));
    remedies.note(interval(20_000 * (k + 1) + 5_000, { turns: [turn({ cpu: 2 })] }));
  }
  expect(remedies.list).toHaveLength(50);
  expect(remedies.list[0]?.id).toBe("remedy-61");
});
