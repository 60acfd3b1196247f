import { expect, test } from "vitest";
import type { FleetDocument, FleetHost, FleetMember } from "../../../src/contract/index.ts";
import {
  awayWords,
  fleetHeadline,
  inTheWay,
  lostBy,
  missedWords,
  missesSlo,
  presenceWords,
  worstWords,
} from "./fleet.ts";

const T0 = Date.UTC(2026, 0, 5, 6);
const none = { steps: 0, missed: 0, preservation: null, use: {}, reward: null };

const member = (workload: string, change: Partial<FleetMember> = {}): FleetMember => ({
  workload,
  title: workload.toUpperCase(),
  agent: `${workload}-agent`,
  isPresent: true,
  since: T0,
  joins: 1,
  attainment: 0.7,
  stage: "SERVING",
  acting: "learner",
  lately: { ...none, steps: 30, missed: 9, preservation: 0.9 },
  twin: { ...none, steps: 30, missed: 12 },
  series: { preservation: [], reward: [], use: {} },
  ...change,
});

const host: FleetHost = {
  name: "x",
  cores: 4,
  memory: 1,
  reserved: 0,
  tenants: ["a", "b"].map((workload) => ({ workload, active: 1, spare: 0, wanted: 1, used: 1 })),
  losses: [
    { workload: "a", by: "a", resource: "cpu", share: 0.1 },
    { workload: "a", by: "b", resource: "cpu", share: 0.05 },
    { workload: "a", by: "b", resource: "memory", share: 0.03 },
    { workload: "a", by: "b", resource: "io", share: 0.01 },
    { workload: "b", by: null, resource: "cpu", share: 0.02 },
  ],
};

const fleet = (members: readonly FleetMember[], hosts: FleetDocument["hosts"] = [host]): FleetDocument => ({
  at: T0,
  since: T0,
  latelyMs: 300_000,
  members,
  changes: [],
  series: { at: [], reward: [], twinReward: null, present: [] },
  hosts,
});

test("an SLO is missed where more steps missed it than the error budget allows; who is away misses none", () => {
  const missed = (count: number, change = {}) =>
    missesSlo(member("a", { lately: { ...none, steps: 30, missed: count }, ...change }));
  // 30 % of 30 steps are 9.
  expect([missed(9), missed(10), missed(30, { isPresent: false })]).toEqual([false, true, false]);
});

test("the headline counts who is here and who misses", () => {
  const bad = member("b", { lately: { ...none, steps: 30, missed: 20 } });
  const away = member("c", { isPresent: false, since: T0 + 300_000, joins: 2 });
  expect(fleetHeadline({ fleet: fleet([member("a"), bad, away]), noun: "functions" })).toBe(
    "2 of 3 functions are here, 1 misses its SLO",
  );
  expect(fleetHeadline({ fleet: fleet([member("a"), member("b")]), noun: "workloads" })).toBe(
    "All 2 workloads are here, all keep their SLO",
  );
  expect(awayWords(fleet([member("a"), away]))).toBe("Away: C since 06:05.");
  expect(awayWords(fleet([member("a")]))).toBe("Nobody is away.");
  expect(presenceWords(away)).toBe("away since 06:05, came 2 times");
  expect(presenceWords(member("a"))).toBe("here since 06:00");
});

test("what is lost to one is added up over resources, and named by those that matter", () => {
  const lost = lostBy("a", host);
  expect(lost?.share).toBeCloseTo(0.19, 12);
  expect(lost?.of).toBe("CPU");
  expect(lost?.to.map(({ by, of }) => [by, of])).toEqual([
    ["a", "CPU"],
    ["b", "CPU and memory bandwidth"],
  ]);
  expect(lostBy("a", { losses: null })).toBeNull();
  // Neither the workload itself nor containers that start are another.
  expect(inTheWay(fleet([])).map(({ workload, by, share }) => [workload, by, Math.round(100 * share)])).toEqual([
    ["a", "b", 9],
  ]);
});

test("the worst is said in a sentence, that there is none as well, and nothing where nobody can tell", () => {
  const titleOf = (workload: string): string => workload.toUpperCase();
  expect(worstWords(fleet([]), titleOf)).toBe(
    "Most in the way: B costs A 9.0 % of its speed on x (CPU and memory bandwidth).",
  );
  const little = { ...host, losses: [{ workload: "a", by: "b", resource: "cpu" as const, share: 0.005 }] };
  expect(worstWords(fleet([], [little]), titleOf)).toBe("Nobody is noticeably in another's way.");
  expect(worstWords(fleet([], null), titleOf)).toBeNull();
  expect(worstWords(fleet([], [{ ...host, losses: null }]), titleOf)).toBeNull();
});

test("misses are said beside the twin's, where it has any steps", () => {
  expect(missedWords(member("a"))).toBe("missed 9 of 30 steps, twin 12");
  expect(missedWords(member("a", { twin: null }))).toBe("missed 9 of 30 steps");
  expect(missedWords(member("a", { lately: none }))).toBe("");
});
