import { expect, test } from "vitest";
import type { ServiceAction } from "../../../act/index.ts";
import { failure, type Limits, milliseconds } from "../../../base/index.ts";
import type { ServiceDecision } from "../../../control/loop/index.ts";
import { type Interval, Remedies } from "./remedies.ts";

const LIMITS: Limits = { cpu: 1, memory: 100, llc: 2, io: 50, network: 60 };
const before = { limits: new Map([["geo-0", LIMITS]]), replicas: new Map([["geo", 1]]) };
const decision = (action: ServiceAction, done: ServiceAction = action): ServiceDecision => ({
  at: milliseconds(0),
  controller: "firm",
  proposal: { action, measuredAt: milliseconds(0), why: "it was asked" },
  verdict: { changed: [] },
  done,
});
const cpu = (to: number): ServiceAction => ({ kind: "set-limits", instance: "geo-0", limits: { cpu: to } });
const interval = (at: number, change: Partial<Interval> = {}): Interval => ({
  ...{ at, by: "learner", isActing: true, broken: new Set(["search"]), suspects: [], decisions: [], before },
  ...change,
});

test("what is given to one container while an SLO is broken is one remedy, from the first limit to the last", () => {
  const remedies = new Remedies();
  remedies.note(interval(1_000, { decisions: [decision(cpu(2))] }));
  const later = { ...before, limits: new Map([["geo-0", { ...LIMITS, cpu: 2 }]]) };
  remedies.note(interval(2_000, { decisions: [decision(cpu(4))], before: later }));
  expect(remedies.list).toMatchObject([
    { instance: "geo-0", by: "learner", isDone: true, from: 1_000, until: 2_000, endedAt: null, requests: ["search"] },
  ]);
  expect(remedies.list[0]?.changes).toEqual([{ what: "cpu", from: 1, to: 4 }]);
});

test("a violation is over since the first of three intervals without one, and the next is another remedy", () => {
  const remedies = new Remedies();
  const calm = new Set<string>();
  remedies.note(interval(1_000, { decisions: [decision(cpu(2))] }));
  remedies.note(interval(2_000, { broken: calm }));
  // A relapse: what came before it was luck.
  remedies.note(interval(3_000));
  for (const at of [4_000, 5_000, 6_000]) {
    expect(remedies.list[0]?.endedAt).toBeNull();
    remedies.note(interval(at, { broken: calm }));
  }
  expect(remedies.list[0]?.endedAt).toBe(4_000);
  remedies.note(interval(7_000, { decisions: [decision(cpu(3))] }));
  expect(remedies.list.map(({ id, endedAt }) => [id, endedAt])).toEqual([
    ["remedy-2", null],
    ["remedy-1", 4_000],
  ]);
});

test("fitting limits while nobody is harmed is counted and no remedy; more replicas by Kubernetes are one at any time", () => {
  const remedies = new Remedies();
  const broken = new Set<string>();
  remedies.note(interval(1_000, { broken, decisions: [decision(cpu(0.5)), decision(cpu(1.5))] }));
  // A little more while somebody is harmed is a fit as well.
  remedies.note(interval(1_500, { decisions: [decision(cpu(1.2))] }));
  expect([remedies.fitted, remedies.list]).toEqual([3, []]);
  const more: ServiceAction = { kind: "scale-service", service: "geo", replicas: 3 };
  remedies.note(interval(2_000, { broken, by: "fallback", decisions: [decision(more)] }));
  expect(remedies.list).toMatchObject([
    { service: "geo", instance: null, by: "fallback", changes: [{ what: "replicas", from: 1, to: 3 }] },
  ]);
});

test("where nobody may act it is told what would have been done, and what the guard refused is not told at all", () => {
  const remedies = new Remedies();
  const observing = { ...decision(cpu(2), { kind: "hold" }), failure: failure("services.observe-only", "no") };
  remedies.note(interval(1_000, { isActing: false, decisions: [observing] }));
  remedies.note(interval(2_000, { decisions: [decision(cpu(9), { kind: "hold" })] }));
  expect(remedies.list).toMatchObject([{ isDone: false, changes: [{ what: "cpu", from: 1, to: 2 }] }]);
});

test("the check of a promise belongs to the remedy that began with it, and only fifty remedies are kept", () => {
  const remedies = new Remedies();
  const check = (promisedAt: number, measured: number, expected = 14) =>
    remedies.check(
      {
        ...{ instance: "geo-0", request: "search", promisedAt: milliseconds(0), checkedAt: milliseconds(0) },
        ...{
          expected: milliseconds(expected),
          measured: milliseconds(measured),
          error: milliseconds(measured - expected),
        },
      },
      promisedAt,
    );
  remedies.note(interval(1_000, { decisions: [decision(cpu(2))] }));
  check(2_000, 5);
  check(1_000, 5, 0);
  expect(remedies.list[0]?.saving).toBeNull();
  check(1_000, 12);
  check(1_000, 1);
  expect(remedies.list[0]?.saving).toEqual({ expectedMs: 14, measuredMs: 12 });
  for (let k = 0; k < 60; k++) {
    for (const at of [1, 2, 3]) remedies.note(interval(10_000 * (k + 1) + at, { broken: new Set() }));
    remedies.note(interval(10_000 * (k + 1) + 5_000, { decisions: [decision(cpu(2))] }));
  }
  expect(remedies.list).toHaveLength(50);
  expect(remedies.list[0]?.id).toBe("remedy-61");
});
