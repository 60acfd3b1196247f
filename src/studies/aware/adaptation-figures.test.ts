import { expect, test } from "vitest";
import type { MethodOutcome, WorkloadOutcome } from "./adaptation.ts";
import { costOf, stillRewards, workloadsBySeed } from "./adaptation-figures.ts";
import { adaptationRows } from "./adaptation-rows.ts";
import type { Life } from "./life.ts";

interface Lived {
  readonly reward: readonly number[];
  readonly violations?: readonly number[];
  /** CPU used of a limit of 100, in each episode; memory is half of it. */
  readonly used?: number;
}

function life({ reward, violations, used = 50 }: Lived): Life {
  const each = (value: number) => reward.map(() => value);
  return {
    reward,
    violations: violations ?? each(0),
    cpuUsed: each(used),
    cpuLimit: each(100),
    memoryUsed: each(used / 2),
    memoryLimit: each(100),
    cost: each(1),
    oomKills: each(0),
    stages: reward.map(() => "N").join(""),
    updates: 0,
  };
}

const work = { perUpdate: 10, perEpisode: 3 };
const outcome = (lived: Lived, still: readonly number[] | null = null): MethodOutcome => ({
  life: life(lived),
  updates: lived.reward.map((_, episode) => 100 * (episode + 1)),
  work,
  still: still && life({ reward: still }),
});

const level = { window: 2, level: 2, within: 0.1 };

/** The rules earn 100 in every episode, so that relative rewards are percentages. */
const workload: WorkloadOutcome = {
  application: "a",
  rules: life({ reward: [100, 100, 100, 100, 100, 100] }),
  converged: life({ reward: [120, 120, 120, 120, 120, 120], used: 80 }),
  convergedBy: "tl",
  methods: {
    firm: outcome({ reward: [10, 20, 30, 40, 50, 50] }),
    tl: outcome({ reward: [20, 60, 85, 96, 100, 100], violations: [9, 7, 5, 3, 1, 0], used: 30 }, [30, 60]),
    "tl-plus": outcome({ reward: [20, 95, 95, 96, 100, 100], violations: [9, 3, 2, 1, 1, 0] }, [30, 60]),
    aware: outcome({ reward: [80, 80, 80, 80, 80, 80], violations: [1, 0, 0, 0, 0, 0], used: 79 }, [108, 120]),
  },
};

test("an adaptation costs what happened until the level was reached that the best one ended on", () => {
  // TL's windows: 40, 72.5, 90.5, and 90 is asked for (of 120 that could be earned, all of them): two episodes.
  expect(costOf(workload, "tl", level)).toEqual({
    episodes: 2,
    episodesToOwn: 2,
    work: 200 * 10 + 2 * 3,
    violations: 9 + 7,
    allViolations: 25,
    cpuDeficit: 50,
    memoryDeficit: 25,
    end: 100,
  });
});

test("a method that ends low is there at once by its own level, and never by the others'", () => {
  const { episodes, episodesToOwn, violations, cpuDeficit } = costOf(workload, "aware", level);
  expect([episodes, episodesToOwn]).toEqual([4, 0]);
  expect(violations).toBe(1);
  expect(cpuDeficit).toBeCloseTo(1, 10);
});

test("hours in which nobody could earn more do not count against a method", () => {
  const dull = (reward: readonly number[]) => [50, 50, ...reward.slice(2)];
  const moved: WorkloadOutcome = {
    ...workload,
    rules: life({ reward: [10, 10, 10, 10, 10, 10] }),
    converged: life({ reward: dull(workload.converged.reward) }),
    methods: { tl: outcome({ reward: [50, 48, 120, 120, 120, 120] }) },
  };
  expect(costOf(moved, "tl", level).episodes).toBe(0);
  // Where the rules were better then, more could be had.
  expect(costOf({ ...moved, rules: life({ reward: [100, 100, 10, 10, 10, 10] }) }, "tl", level).episodes).toBe(2);
});

test("without learning a policy is held against the converged one in the same episodes", () => {
  expect(stillRewards(workload, "tl")).toEqual({ still: 90, converged: 240 });
});

const results = [1, 2, 3].map((seed) => ({
  seed,
  unit: "split/0",
  result: { pool: "split" as const, workloads: [workload] },
}));

test("the units of one seed and pool are one list", () => {
  const more = [
    ...results,
    ...results.slice(0, 1),
    { ...results[0], result: { pool: "held-out" as const, workloads: [] } },
  ];
  const seeds = workloadsBySeed(more as typeof results, "split");
  expect(seeds.map(({ length }) => length)).toEqual([2, 1, 1]);
});

test("rows divide sums of a seed's workloads, with one added to counts", () => {
  const rows = new Map(adaptationRows(results, { level }).map((row) => [row.id, row]));
  // TL 2 episodes and AWARE 4, which never gets there: (2 + 1)/(4 + 1). By its own level it is there at once.
  expect(rows.get("faster-tl")).toMatchObject({ ours: { n: 3, unit: "×" }, holds: false });
  expect(rows.get("faster-tl")?.ours.mean).toBeCloseTo(3 / 5, 6);
  expect(rows.get("faster-own-tl")?.ours.mean).toBeCloseTo(3, 6);
  // Violations 16 and 1.
  expect(rows.get("violations-tl")?.ours.mean).toBeCloseTo(17 / 2, 6);
  expect(rows.get("violations-tl")?.holds).toBe(true);
  // An episode of TL's is 100 updates of 10, and 3: 2006/1003 and 4012/1003 of them.
  expect(rows.get("cycles-tl")?.ours.mean).toBeCloseTo(100 * (1 - 5 / 3), 5);
  // 30 percentage points of CPU for TL+ in its one episode, 1 for AWARE.
  expect(rows.get("deficit-cpu")?.ours.mean).toBeCloseTo(31 / 2, 6);
  // 228 of 240 is 5 % less, 90 of 240 is 62.5 % less.
  expect(rows.get("drop-aware")).toMatchObject({ holds: true });
  expect(rows.get("drop-aware")?.ours.mean).toBeCloseTo(5, 6);
  expect(rows.get("drop-tl")?.ours.mean).toBeCloseTo(62.5, 6);
  // AWARE ends on 80 where TL ends on 100: fast, and to a level that the others pass.
  expect(rows.get("end-reward")?.kind).toBe("shown");
  expect(rows.get("end-reward")?.ours.mean).toBeCloseTo(20, 6);
  expect(rows.has("held-out-faster-tl")).toBe(false);
});

test("applications with unseen segments have rows of their own", () => {
  const held = results.map(({ result, ...job }) => ({ ...job, result: { ...result, pool: "held-out" as const } }));
  const ids = adaptationRows([...results, ...held], { level }).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(["held-out-faster-tl", "held-out-drop-aware"]));
});
