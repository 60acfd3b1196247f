/** SIMPPO's Figures 7 and 8: functions come and go, and what new agents begin with. */
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { promiseAtMost, reproduceAtLeast, reproduceAtMost, shown } from "./claim.ts";
import {
  type ChurnConfig,
  type ChurnResult,
  type ChurnVariant,
  episodesToReturn,
  NEVER,
  overRuns,
  rewardDrop,
  runChurn,
} from "./simppo/churn.ts";
import { smoothedCurve } from "./simppo/comparison.ts";
import { usualScene } from "./simppo/scene.ts";
import { mean } from "./statistics/index.ts";
import type { Study, StudyRow, UnitResult } from "./study.ts";

const ID = "simppo-churn";
type Results = readonly UnitResult<ChurnResult>[];

export const simppoChurn: Study<ChurnResult, ChurnConfig> = {
  id: ID,
  title: "SIMPPO: functions that come and go (Figures 7 and 8)",
  about:
    "Twelve functions learn together; then five join, three times, and five leave, an equal number of episodes apart. New agents begin with the " +
    "model of their kind of function (SIMPPO) or from nothing (without sharing). A drop is what the first ten episodes after a change earn " +
    "less than the last fifty before it; agents are back when ten episodes earn within 2 % of that. Measured on the fluid rung.",
  world: "fluid",
  seeds: { quick: 1, full: 3, first: 731 },
  config: ({ quick }) => ({
    scene: { ...usualScene, functions: 27, rung: "fluid" as const },
    first: 12,
    every: quick ? 16 : 150,
    changes: quick ? [5, -5] : [5, 5, 5, -5],
  }),
  units: () => ["simppo", "simppo-no-sharing"] satisfies readonly ChurnVariant[],
  runUnit: ({ unit, seed, config, kernels, progress }) =>
    runChurn({ variant: unit as ChurnVariant, seed, config, kernels, progress }),
  rows,
  figures,
};

function rows(results: Results, config: ChurnConfig): readonly StudyRow[] {
  const over = overRuns(results, seededRng(1).fork(ID));
  const joins = config.changes.flatMap((change, i) => (change > 0 ? [i] : []));
  const leaves = config.changes.flatMap((change, i) => (change < 0 ? [i] : []));
  const drop = (changes: readonly number[]) => (run: ChurnResult) =>
    mean(changes.map((i) => rewardDrop(run, config, i)));
  const back = (run: ChurnResult): number => mean(joins.map((i) => episodesToReturn(run, config, i)));
  return [
    reproduceAtMost(
      {
        id: "drop-joining",
        what: "part of the reward that is lost when five functions join, SIMPPO",
        paper: { low: 0.166, high: 0.166, unit: "of before", where: "section 7.1" },
        ours: over(["simppo"], { id: "drop-joining", unit: "of before", score: drop(joins) }),
        claim: "At most 16.6 % of the reward is lost when five functions join.",
      },
      { bound: 0.166 },
    ),
    reproduceAtMost(
      {
        id: "drop-leaving",
        what: "part of the reward that is lost when five functions leave, SIMPPO",
        paper: { low: 0.113, high: 0.113, unit: "of before", where: "section 7.1" },
        ours: over(["simppo"], { id: "drop-leaving", unit: "of before", score: drop(leaves) }),
        claim: "At most 11.3 % of the reward is lost when five functions leave.",
      },
      { bound: 0.113 },
    ),
    reproduceAtLeast(
      {
        id: "drop-sharing",
        what: "by how much the drop is smaller with sharing, when functions join",
        paper: { low: 0.2, high: 0.548, unit: "of without", where: "section 7.1" },
        ours: over(["simppo", "simppo-no-sharing"], {
          id: "drop-sharing",
          unit: "of without",
          score: (shared, without) =>
            1 - drop(joins)(shared as ChurnResult) / Math.max(1e-3, drop(joins)(without as ChurnResult)),
        }),
        claim: "With sharing the drop is at least 20 % smaller.",
      },
      { bound: 0.2, none: 0 },
    ),
    promiseAtMost(
      {
        id: "back",
        what: "episodes until agents are back where they were, five joined, SIMPPO",
        paper: { low: 300, high: 300, unit: "episodes", where: "section 7.1" },
        ours: over(["simppo"], { id: "back", unit: "episodes", score: back }),
        claim: "A fleet is back within 2 % of its reward at most 300 episodes after five functions joined.",
      },
      300,
    ),
    shown({
      id: "back-without",
      what: "episodes until agents are back where they were, five joined, without sharing",
      paper: { low: 600, high: 600, unit: "episodes", where: "section 7.1" },
      ours: over(["simppo-no-sharing"], { id: "back-without", unit: "episodes", score: back }),
      why: `those that are not back within ${config.every} count as ${NEVER}`,
    }),
  ];
}

function figures(results: Results, { every, changes }: ChurnConfig): readonly Figure[] {
  return [
    {
      kind: "lines",
      id: "reward",
      title: "Reward of an episode, as functions come and go",
      subtitle: `Mean over agents and seeds, smoothed over ten episodes; members change every ${every} episodes: ${changes.map((change) => (change > 0 ? `+${change}` : change)).join(", ")}`,
      x: { label: "episodes" },
      y: { label: "reward" },
      lines: (["simppo", "simppo-no-sharing"] as const).map((unit) => ({
        name: unit === "simppo" ? "SIMPPO" : "without sharing",
        ...smoothedCurve(results.filter((result) => result.unit === unit).map(({ result }) => result.curve)),
      })),
    },
  ];
}
