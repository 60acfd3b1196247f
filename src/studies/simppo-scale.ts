/** SIMPPO's section 7.4: more functions on more machines; what a change of members costs, and what is served. */
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { promiseAtMost, reproduceAtMost, shown } from "./claim.ts";
import {
  type ChurnConfig,
  type ChurnResult,
  episodesToReturn,
  overRuns,
  rewardDrop,
  runChurn,
} from "./simppo/churn.ts";
import { smoothedCurve } from "./simppo/comparison.ts";
import { profileOf, usualScene } from "./simppo/scene.ts";
import { mean, median } from "./statistics/index.ts";
import type { Estimate, PaperFigure, Study, StudyRow, UnitResult } from "./study.ts";

const ID = "simppo-scale";
type Results = readonly UnitResult<ChurnResult>[];

interface ScaleConfig extends Omit<ChurnConfig, "first"> {
  readonly sizes: readonly number[];
}

/** Table 4, five functions added and five taken away: part of the reward that is lost, episodes until it is back. */
const table: Readonly<
  Record<number, { readonly joined: number; readonly left: number | null; readonly back: number }>
> = {
  5: { joined: 0.202, left: null, back: 369.9 },
  20: { joined: 0.166, left: 0.103, back: 325.6 },
  50: { joined: 0.128, left: 0.066, back: 243 },
  110: { joined: 0.077, left: 0.048, back: 185.8 },
};
const CHANGE = 5;

export const simppoScale: Study<ChurnResult, ScaleConfig> = {
  id: ID,
  title: "SIMPPO: 5 to 110 functions (Table 4, Figure 11)",
  about:
    "Functions on machines of 8 cores, of which there are more with more functions. Agents learn together; five join, and five leave again. " +
    "A drop is what the first ten episodes after a change earn less than the last fifty before it. Policies are served before the first change, " +
    "and 99th percentiles compared benchmark by benchmark between 20 and 110 functions. Measured on the fluid rung.",
  world: "fluid",
  seeds: { quick: 1, full: 2, first: 761 },
  config: ({ quick }) => ({
    scene: { ...usualScene, cluster: "cloud" as const, rung: "fluid" as const },
    every: quick ? 12 : 120,
    changes: [CHANGE, -CHANGE],
    sizes: quick ? [5, 20] : [5, 20, 50, 110],
    serveEpisodes: quick ? 1 : 4,
  }),
  units: ({ sizes }) => sizes.map(String),
  runUnit: ({ unit, seed, config, kernels, progress }) => {
    const { sizes: _, ...rest } = config;
    const first = Number(unit);
    const scene = { ...rest.scene, functions: first + CHANGE };
    return runChurn({ variant: "simppo", seed, config: { ...rest, scene, first }, kernels, progress });
  },
  rows,
  figures,
};

const paper = (value: number | null, unit: string): PaperFigure | null =>
  value === null ? null : { low: value, high: value, unit, where: "Table 4" };

function rows(results: Results, config: ScaleConfig): readonly StudyRow[] {
  const byUnit = overRuns(results, seededRng(1).fork(ID));
  const over = (sizes: readonly number[], score: Parameters<typeof byUnit>[1]): Estimate =>
    byUnit(sizes.map(String), score);
  const small = config.sizes.includes(20) ? 20 : (config.sizes[0] as number);
  const large = config.sizes.at(-1) as number;
  const drop = (run: ChurnResult, change: number): number => rewardDrop(run, config, change);
  return [
    promiseAtMost(
      {
        id: "equal-latency",
        what: `99th percentiles with ${small} functions and with ${large}: by how much they differ, median of benchmarks`,
        paper: { low: 0, high: 0.019, unit: `of ${small}`, where: "section 7.4" },
        ours: over([small, large], {
          id: "equal-latency",
          unit: `of ${small}`,
          score: (few, many) => latencyDifference(few as ChurnResult, many as ChurnResult),
        }),
        claim: "Functions are as fast among 110 as among 20: 99th percentiles differ by at most 2 %.",
      },
      0.02,
    ),
    reproduceAtMost(
      {
        id: "trend",
        what: `part of the reward that is lost when five join: ${large} functions less 50`,
        paper: { low: -0.051, high: -0.051, unit: "of before", where: "Table 4" },
        ours: over(config.sizes.includes(50) ? [50, large] : [small, large], {
          id: "trend",
          unit: "of before",
          score: (few, many) => drop(many as ChurnResult, 0) - drop(few as ChurnResult, 0),
        }),
        claim: "The more functions there are, the less is lost when five join.",
      },
      { bound: -0.051, none: 0 },
    ),
    ...config.sizes.flatMap((size) => {
      const printed = table[size];
      return [
        shown({
          id: `joined-${size}`,
          what: `part of the reward that is lost when five join ${size}`,
          paper: paper(printed?.joined ?? null, "of before"),
          ours: over([size], { id: `joined-${size}`, unit: "of before", score: (run) => drop(run as ChurnResult, 0) }),
        }),
        shown({
          id: `left-${size}`,
          what: `part of the reward that is lost when five leave again, ${size} are left`,
          paper: paper(printed?.left ?? null, "of before"),
          ours: over([size], { id: `left-${size}`, unit: "of before", score: (run) => drop(run as ChurnResult, 1) }),
        }),
        shown({
          id: `back-${size}`,
          what: `episodes until agents are back within 2 %, five joined ${size}`,
          paper: paper(printed?.back ?? null, "episodes"),
          ours: over([size], {
            id: `back-${size}`,
            unit: "episodes",
            score: (run) => Math.min(config.every, episodesToReturn(run as ChurnResult, config, 0)),
          }),
          why: `they are given ${config.every}`,
        }),
        shown({
          id: `reward-${size}`,
          what: `reward of an episode in training, ${size} functions, before any change`,
          ours: over([size], {
            id: `reward-${size}`,
            unit: "",
            score: (run) => mean((run as ChurnResult).curve.slice(Math.floor(0.8 * config.every), config.every)),
          }),
        }),
      ];
    }),
  ];
}

/** Benchmark by benchmark, as the paper has it: several functions may be of one, and their mean counts. */
function latencyDifference(few: ChurnResult, many: ChurnResult): number {
  const byBenchmark = ({ served }: ChurnResult): Map<string, number> => {
    const all = new Map<string, number[]>();
    for (const { workload, p99 } of served) {
      const { name } = profileOf(workload);
      all.set(name, [...(all.get(name) ?? []), p99]);
    }
    return new Map([...all].map(([name, values]) => [name, mean(values)]));
  };
  const base = byBenchmark(few);
  return median(
    [...byBenchmark(many)].flatMap(([name, p99]) => {
      const own = base.get(name);
      return own === undefined ? [] : [Math.abs(p99 / own - 1)];
    }),
  );
}

function figures(results: Results, { sizes, every }: ScaleConfig): readonly Figure[] {
  return [
    {
      kind: "lines",
      id: "reward",
      title: "Reward of an episode, with few functions and with many",
      subtitle: `Mean over agents and seeds, smoothed over ten episodes; five join after ${every} episodes and leave after ${2 * every}`,
      x: { label: "episodes" },
      y: { label: "reward" },
      lines: sizes.map((size) => ({
        name: `${size} functions`,
        ...smoothedCurve(results.filter(({ unit }) => unit === String(size)).map(({ result }) => result.curve)),
      })),
    },
  ];
}
