import { expect, test } from "vitest";
import { functionId, idealInvoker, plainOptions } from "../../../test/fixtures/sim/simple-platform.ts";
import { seconds, type WorkloadId } from "../../base/index.ts";
import { ManagedFunction } from "./containers.ts";
import { Contention } from "./contention.ts";
import { serverlessWorld } from "./event/event-world.ts";
import { fluidServerlessWorld } from "./fluid/fluid-world.ts";
import { functionMix } from "./functions.ts";
import { Interference, type OwnedCohort } from "./interference.ts";
import { fillFunction } from "./spec.ts";

const [profile] = functionMix(1) as readonly [ReturnType<typeof functionMix>[number]];
const initial = { shares: 512, memory: 256, containers: 3 };

interface At {
  readonly computing?: number;
  readonly transferring?: number;
  /** MB/s of each that computes, and of each that transfers. */
  readonly bandwidth?: number;
  readonly rate?: number;
}

function cohort(name: string, { computing = 0, transferring = 0, bandwidth = 0, rate = 0 }: At): OwnedCohort {
  const own = {
    ...profile,
    io: { time: 1, rate },
    compute: { time: 1, bandwidth, workingSet: 0 },
  };
  const filled = fillFunction({ id: functionId(name), profile: own, pattern: { kind: "flat", rate: 1 }, initial });
  if (!filled.ok) throw new Error(filled.failure.message);
  const owner = new ManagedFunction(0, filled.value, { invokers: 1, now: 0 });
  return { owner, profile: own, shares: 512, computing, transferring, computeSpeed: 1, ioSpeed: 1, cores: 0 };
}

/** So long beside each other on an invoker of two cores, 100 MB/s of bandwidth and 100 MB/s of input and output. */
function workOf(cohorts: readonly OwnedCohort[], starting = 0) {
  const spec = { ...idealInvoker({ name: "x", cores: 2, memory: 4_000, bandwidth: 100, cache: 100 }), io: 100 };
  new Contention(spec).solve(cohorts, starting);
  const interference = new Interference(spec);
  interference.add(cohorts, { starting, passed: 1_000 });
  return interference.take(2_000);
}

const rounded = (share: number): number => Math.round(share * 1e6) / 1e6;
const lossesOf = (work: ReturnType<typeof workOf>) =>
  work.losses.map(({ workload, by, resource, share }) => [workload, by, resource, rounded(share)]);

test("what is short of cores is put down to all who want them, by what they want, the loser among them", () => {
  // Four want a core each and there are two: everybody has half of one, and three quarters of that is a's doing.
  const work = workOf([cohort("a", { computing: 3 }), cohort("b", { computing: 1 })]);
  expect(lossesOf(work)).toEqual([
    ["a", "a", "cpu", 0.375],
    ["a", "b", "cpu", 0.125],
    ["b", "a", "cpu", 0.375],
    ["b", "b", "cpu", 0.125],
  ]);
  // Over two seconds, of which they were there one.
  expect(work.tenants.map(({ wanted, used, busy }) => [wanted, rounded(used), busy])).toEqual([
    [1.5, 0.75, 1.5],
    [0.5, 0.25, 0.5],
  ]);
});

test("what starts take of the cores is nobody's", () => {
  // Two and a start on two cores, by shares of 512 and 1,024: one core for both, one for the start; a third of the want is its.
  const work = workOf([cohort("a", { computing: 2 })], 1);
  expect(lossesOf(work)).toEqual([
    ["a", "a", "cpu", rounded(1 / 3)],
    ["a", null, "cpu", rounded(1 / 6)],
  ]);
});

test("memory bandwidth, network and storage are put down by traffic, and nothing is where there is enough", () => {
  expect(lossesOf(workOf([cohort("a", { computing: 1 }), cohort("b", { computing: 1 })]))).toEqual([]);
  // 160 and 40 MB/s wanted of 100; max-min by cores gives 60 and 40, so only a loses: 100 of 160.
  const memory = workOf([cohort("a", { computing: 1, bandwidth: 160 }), cohort("b", { computing: 1, bandwidth: 40 })]);
  expect(lossesOf(memory)).toEqual([
    ["a", "a", "memory", 0.5],
    ["a", "b", "memory", 0.125],
  ]);
  // 4 · 40 and 1 · 40 MB/s of 100: by number, so each has half of what it wants.
  const io = workOf([cohort("a", { transferring: 4, rate: 40 }), cohort("b", { transferring: 1, rate: 40 })]);
  expect(lossesOf(io)).toEqual([
    ["a", "a", "io", 0.4],
    ["a", "b", "io", 0.1],
    ["b", "a", "io", 0.4],
    ["b", "b", "io", 0.1],
  ]);
});

test("a world keeps it where it is asked to, each look begins anew, and it changes nothing of what happens", () => {
  const ids = ["a", "b"].map(functionId);
  const profiles = functionMix(2);
  const worldWith = (tellsWork: boolean, make = serverlessWorld as typeof fluidServerlessWorld) =>
    make({
      ...plainOptions({
        seed: 5,
        invokers: [idealInvoker({ name: "x", cores: 2, memory: 9_000, bandwidth: 9_000, cache: 8 })],
        functions: ids.map((id: WorkloadId, i) => ({
          id,
          profile: profiles[i] as (typeof profiles)[number],
          pattern: { kind: "flat", rate: 6 },
          initial: { shares: 512, memory: 512, containers: 6 },
        })),
      }),
      tellsWork,
    });
  const [told, silent] = [worldWith(true), worldWith(false)];
  for (const world of [told, silent]) world.advance(seconds(30));
  expect(told.truth(ids[0] as WorkloadId)).toEqual(silent.truth(ids[0] as WorkloadId));
  const [work] = told.work() ?? [];
  const used = work?.tenants.reduce((sum, tenant) => sum + tenant.used, 0) ?? 0;
  expect(used).toBeGreaterThan(1);
  expect(used).toBeLessThanOrEqual(2 + 1e-9);
  expect(work?.losses.length).toBeGreaterThan(0);
  expect(told.work()).toEqual([{ invoker: "x", tenants: [], losses: [] }]);
  expect(silent.work()).toBeNull();
  expect(worldWith(true, fluidServerlessWorld).work()).toBeNull();
});
