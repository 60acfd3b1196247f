import { expect, test } from "vitest";
import { bootstrapRows, keepsPromise, pairsOf, sweepRows } from "./bootstrap-rows.ts";
import { type Life, lifeOf, total } from "./life.ts";

interface Made {
  readonly reward: number;
  readonly violations: number;
  readonly cpuUsed?: number;
  readonly cost?: number;
  readonly stage?: string;
}

/** Four equal episodes. */
const made = ({ reward, violations, cpuUsed = 5, cost = 1, stage = "SERVING" }: Made): Life => {
  const rest = { steps: 100, cpuLimit: 10, memoryUsed: 1, memoryLimit: 2, oomKills: 0 };
  return lifeOf(
    Array.from({ length: 4 }, () => ({ reward, violations, cpuUsed, cost, stage, ...rest })),
    2_000,
  );
};

const scene = {
  rules: made({ reward: 130, violations: 10 }),
  "no-bootstrap": made({ reward: 100, violations: 100, cpuUsed: 4 }),
  "aware-paper": made({ reward: 150, violations: 20 }),
  aware: made({ reward: 150, violations: 5, cpuUsed: 8, cost: 0.5 }),
};

test("a seed's scenes are summed before methods are compared", () => {
  const lives = [[scene, { ...scene, aware: made({ reward: 50, violations: 15 }) }]];
  expect(pairsOf(lives, ["aware", "rules"], (life) => total(life, "violations"))).toEqual([
    { numerator: 4 * 20, denominator: 4 * 20 },
  ]);
});

test("the promise is kept up to two percent above the twin, all of its life counted", () => {
  const twin = made({ reward: 1, violations: 100 });
  expect(keepsPromise(made({ reward: 1, violations: 102 }), twin)).toBe(true);
  expect(keepsPromise(made({ reward: 1, violations: 103 }), twin)).toBe(false);
  expect(keepsPromise(made({ reward: 1, violations: 0 }), made({ reward: 1, violations: 0 }))).toBe(true);
});

test("rows compare whom they say, in the direction they say", () => {
  const rows = new Map(bootstrapRows([[scene], [scene]], { endEpisodes: 2 }).map((row) => [row.id, row]));
  const found = (id: string) => rows.get(id)?.ours.mean;
  expect(found("aware-cpu")).toBeCloseTo(100, 3);
  // One step is added to each side: 401 ÷ 21.
  expect(found("aware-violations")).toBeCloseTo(401 / 21, 6);
  expect(found("aware-reward")).toBeCloseTo(50, 3);
  expect(found("aware-lifetime-share")).toBe(1);
  expect(found("aware-paper-lifetime-share")).toBe(0);
  expect(found("aware-end-cost")).toBeCloseTo(0.5, 6);
  expect(found("aware-end-reward")).toBeCloseTo((100 * 20) / 130, 3);
  expect(found("aware-updates")).toBe(2_000);
  expect(rows.get("aware-violations")?.holds).toBe(true);
  expect(rows.get("aware-memory")?.holds).toBe(false);
  // The promise is made of AWARE as it is built here.
  expect(rows.get("aware-lifetime-violations")?.kind).toBe("promise");
  expect(rows.get("aware-paper-lifetime-violations")?.kind).toBe("shown");
});

test("an end state that costs the same does not cost less", () => {
  const same = { ...scene, aware: scene.rules };
  expect(bootstrapRows([[same]], { endEpisodes: 2 }).find(({ id }) => id === "aware-end-cost")?.holds).toBe(false);
});

test("the sweep says how a threshold above the rules' level keeps the learner OFFLINE", () => {
  const swept = {
    "alpha-0.3": made({ reward: 1, violations: 9, cpuUsed: 8 }),
    "alpha-0.7": made({ reward: 1, violations: 4 }),
    "threshold-0.8": made({ reward: 1, violations: 1, stage: "ONLINE" }),
    "threshold-1.1": made({ reward: 1, violations: 1, stage: "OFFLINE" }),
  };
  const rows = sweepRows([swept], { sweep: { episodes: 4, alphas: [0.3, 0.7], thresholds: [0.8, 1.1] } });
  const means = Object.fromEntries(rows.map(({ id, ours }) => [id, Number(ours.mean.toFixed(4))]));
  expect(means).toEqual({
    "sweep-alpha-violations": Number((37 / 17).toFixed(4)),
    "sweep-alpha-cpu": 1.6,
    "sweep-threshold-0.8": 0,
    "sweep-threshold-1.1": 1,
  });
  const thresholds = rows.filter(({ kind }) => kind === "reproduction");
  expect(thresholds.map(({ id, holds }) => [id, holds])).toEqual([
    ["sweep-threshold-0.8", true],
    ["sweep-threshold-1.1", true],
  ]);
});
