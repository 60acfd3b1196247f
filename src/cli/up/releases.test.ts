import { expect, test } from "vitest";
import { minutes } from "../../base/index.ts";
import { isolatedLatency, meanWork, processors } from "../../sim/index.ts";
import { PROCESSOR } from "./demo-cluster.ts";
import { demoWorkloads } from "./demo-workloads.ts";
import { RELEASE_LASTS, Releases, runningAfter } from "./releases.ts";

const HOUR = 3_600_000;
const workloads = demoWorkloads(1, 6);
const named = (id: string) => {
  const found = workloads.find((workload) => workload.id === id);
  if (found === undefined) throw new Error(`no workload ${id}`);
  return found;
};

test("changes are released in turn, and each is taken back by the release after it", () => {
  const [a, b] = ["a", "b"].map((what) => ({ what, needs: "", application: named("web-shop").application }));
  if (a === undefined || b === undefined) throw new Error("two changes");
  const plan = { first: minutes(180), changes: [a, b] };
  const at = (hours: number) => {
    const { count, change, since } = runningAfter(plan, hours * HOUR);
    return [count, change?.what ?? null, since / HOUR];
  };
  expect(RELEASE_LASTS).toBe(8 * HOUR);
  expect(at(0)).toEqual([0, null, 0]);
  expect(at(2.999)).toEqual([0, null, 0]);
  expect([3, 11, 19, 27, 35].map(at)).toEqual([
    [1, "a", 3],
    [2, null, 11],
    [3, "b", 19],
    [4, null, 27],
    [5, "a", 35],
  ]);
  expect(at(34.999)).toEqual([4, null, 27]);
});

test("the four have the paper's scenarios that their software knows; drawn ones have none", () => {
  const needs = (id: string) => named(id).releases.changes.map((change) => change.needs);
  // 15 ms of CPU per kB of text, on 583 B before and 3,333 B after; matrices' products grow with the cube of their side.
  expect(named("ml-serving").releases.changes.map(({ what }) => what)).toEqual([
    "JSON of 250 B to 1 kB becomes 2 to 5 kB",
    "matrices of 50 × 50 become 150 × 150",
  ]);
  expect(needs("ml-serving")).toEqual([
    "2 times the CPU per request",
    "4.7 times the CPU per request and 1.2 times the memory",
  ]);
  expect(needs("web-shop")).toEqual(["2.7 times the CPU per request and 2 times the memory"]);
  expect(workloads.slice(4).every(({ releases }) => releases.changes.length === 0)).toBe(true);
});

test("every release can keep its SLO on an idle pod, with the room that the studies leave", () => {
  const { speed, sigma } = processors[PROCESSOR];
  for (const { slo, application, releases } of workloads.slice(0, 4)) {
    if (slo.kind !== "latency") continue;
    // Targets are whole milliseconds.
    for (const one of [application, ...releases.changes.map((change) => change.application)])
      expect(slo.target + 0.5).toBeGreaterThanOrEqual(
        1.2 * isolatedLatency(one, 0.99, { speed: speed * Math.exp(-1.645 * sigma) }),
      );
  }
});

test("a release is told when it comes, is what runs from then on, and is there at once after a restart", () => {
  const startedAt = 1_000_000;
  const ml = named("ml-serving");
  const releases = new Releases(workloads, { startedAt, now: startedAt });
  expect(releases.softwareOf(ml)).toBe(ml.application);
  expect(releases.documentOf(ml.id)).toEqual({ version: "2.3", since: startedAt, needs: null });
  expect(releases.moveTo(startedAt + 3 * HOUR - 1, workloads)).toEqual([]);
  expect(releases.moveTo(startedAt + 3 * HOUR, workloads)).toEqual([ml]);
  expect(releases.moveTo(startedAt + 3 * HOUR + 1, workloads)).toEqual([]);
  expect(releases.announcement(ml.id)).toBe(
    "release 2.4: JSON of 250 B to 1 kB becomes 2 to 5 kB; it needs 2 times the CPU per request",
  );
  expect(releases.cause(ml.id)).toBe("release 2.4 needs 2 times the CPU per request");
  const again = new Releases(workloads, { startedAt, now: startedAt + 3 * HOUR + 1 });
  expect(again.documentOf(ml.id)).toEqual({
    version: "2.4",
    since: startedAt + 3 * HOUR,
    needs: "2 times the CPU per request",
  });
  expect(again.softwareOf(ml)).toEqual(releases.softwareOf(ml));
  expect(meanWork(again.softwareOf(ml)).cpu).toBeGreaterThan(1.9 * meanWork(ml.application).cpu);
  expect(again.moveTo(startedAt + 11 * HOUR, workloads).map(({ id }) => id)).toContain(ml.id);
  expect(again.announcement(ml.id)).toBe("release 2.5 takes 2.4's change back: it needs what 2.3 did");
  expect(again.cause(ml.id)).toBeNull();
});
