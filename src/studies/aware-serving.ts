/** AWARE's Figure 9: a converged policy meets a series of updates; does watching and retraining pay? */
import type { Figure } from "../adapters/plot/index.ts";
import { methodTitles } from "./aware/bootstrap-figures.ts";
import { pairsOf, type SceneLives } from "./aware/bootstrap-rows.ts";
import { curveOver, meanOver, percentLess, percentMore, timesAsMany } from "./aware/compare.ts";
import type { AwareConfig } from "./aware/config.ts";
import { awareConfig } from "./aware/config.ts";
import type { Life } from "./aware/life.ts";
import { stageShare, total, utilisation } from "./aware/life.ts";
import type { SeriesConfig, SeriesResult } from "./aware/serving-series.ts";
import { playSeries } from "./aware/serving-series.ts";
import type { ClaimRow } from "./claim.ts";
import { promiseAtLeast, reproduceAtLeast, reproduceAtMost, shown } from "./claim.ts";
import type { PaperFigure, Study, StudyRow, UnitResult } from "./study.ts";

export interface ServingConfig extends AwareConfig {
  readonly series: SeriesConfig;
}

type Results = readonly UnitResult<SeriesResult>[];

export const awareServing: Study<SeriesResult, ServingConfig> = {
  id: "aware-serving",
  title: "AWARE: serving through updates (Figure 9)",
  about:
    "Two policies are trained to convergence on one workload per seed, its kind in turn: by Algorithm 1 behind the shield, " +
    "and by Algorithm 1 alone. Then updates come, drawn from the paper's seven scenarios where they apply to its application, " +
    "and all methods meet the same requests. AWARE as built here, policies that were retrained for each version beforehand, " +
    "and a policy that is left as it is act behind the shield; AWARE as published (Algorithm 1), the same for high stakes " +
    "(while it retrains, the rules act) and their twin without retraining act without, and set limits where the others' actions are multiples of the need. Each is compared with the twin from " +
    "which only the retraining tells it apart. " +
    "The SLO is set once, for the slowest version. The thresholds of retraining are swept on four of ten seeds.",
  world: "event",
  seeds: { quick: 2, full: 10 },
  config: ({ quick }) => ({
    ...awareConfig({ quick }),
    series: {
      converge: quick ? 16 : 60,
      before: quick ? 1 : 3,
      updates: quick ? 2 : 3,
      each: quick ? 4 : 20,
      retrain: quick ? 4 : 30,
      thresholds: [2, 5, 10, 20],
      sweptOfTen: quick ? 0 : 4,
    },
  }),
  units: () => ["series"],
  runUnit: playSeries,
  rows: (results, { series }) => [
    convergedRow(results),
    ...retrainingRows(results, { method: "aware", twin: "no-retraining-shield", title: "AWARE" }),
    ...retrainingRows(results, { method: "aware-paper", twin: "no-retraining", title: "AWARE as published" }),
    ...retrainingRows(results, {
      method: "aware-paper-high",
      twin: "no-retraining",
      title: "AWARE as published, for high stakes,",
    }),
    shieldRow(results),
    retrainedRow(results),
    ...sweepRows(results, series),
  ],
  figures: (results, { series }) => [rewardFigure(results, series), barFigure(results)],
};

const METHODS = [
  "rules",
  "no-retraining",
  "no-retraining-shield",
  "aware-paper",
  "aware-paper-high",
  "aware",
  "converged",
];
const inPaper = (low: number, unit: string): PaperFigure => ({ low, high: low, unit, where: "Fig. 9, section 5.3" });
const scenesOf = (results: Results): readonly (readonly SceneLives[])[] => results.map(({ result }) => [result.lives]);

function convergedRow(results: Results): StudyRow {
  const row = {
    id: "aware-reward-converged",
    what: "AWARE against the converged policy, both behind the shield: how much less reward",
  };
  const ours = percentLess(
    pairsOf(scenesOf(results), ["aware", "converged"], (life) => total(life, "reward")),
    row,
  );
  return reproduceAtMost({ ...row, paper: inPaper(3.6, "%"), ours, claim: "at most 3.6 % less" }, { bound: 3.6 });
}

interface Twins {
  readonly method: string;
  /** The same policy behind the same shield, or without one like the method: only the retraining differs. */
  readonly twin: string;
  readonly title: string;
}

function retrainingRows(results: Results, { method, twin, title }: Twins): StudyRow[] {
  const lives = scenesOf(results);
  const head = (name: string, what: string): Pick<ClaimRow, "id" | "what"> => ({
    id: `${method}-${name}`,
    what: `${title} against the same without retraining: ${what}`,
  });
  const fewer = head("violations", "how many times fewer violations");
  const more = (name: string, label: string, { bound, figure }: { bound: number; figure(life: Life): number }) => {
    const row = head(name, label);
    const ours = percentMore(pairsOf(lives, [method, twin], figure), row);
    const claim = `at least ${bound} % more`;
    return reproduceAtLeast({ ...row, paper: inPaper(bound, "%"), ours, claim }, { bound, none: 0 });
  };
  return [
    reproduceAtLeast(
      {
        ...fewer,
        paper: inPaper(3.1, "×"),
        ours: timesAsMany(
          pairsOf(lives, [twin, method], (life) => total(life, "violations")),
          fewer,
        ),
        claim: "at least 3.1×",
      },
      { bound: 3.1, none: 1 },
    ),
    more("cpu", "CPU utilisation", { bound: 9.6, figure: (life) => utilisation(life, "cpu") }),
    more("memory", "memory utilisation", { bound: 14.8, figure: (life) => utilisation(life, "memory") }),
    more("reward", "reward per episode", { bound: 8.6, figure: (life) => total(life, "reward") }),
  ];
}

/** What training and serving behind the shield are worth where nothing is retrained: no figure of the paper's. */
function shieldRow(results: Results): StudyRow {
  const row = {
    id: "shield-violations",
    what: "no retraining, trained and serving without the shield: how many times as many violations as with it",
  };
  const ours = timesAsMany(
    pairsOf(scenesOf(results), ["no-retraining", "no-retraining-shield"], (life) => total(life, "violations")),
    row,
  );
  return promiseAtLeast({ ...row, paper: null, ours, claim: "at least 1×" }, 1);
}

/** Where AWARE never retrains, it is its twin without retraining, and the rows above compare nothing. */
function retrainedRow(results: Results): StudyRow {
  const id = "aware-retrained";
  const shares = results.map(({ result }) => ((result.lives.aware as Life).updates > 0 ? 1 : 0));
  return shown({
    id,
    what: "AWARE: share of workloads on which it retrained at all",
    ours: meanOver(shares, { id, unit: "of workloads" }),
    why: "whether there is retraining to compare",
  });
}

/** Section 5.3, without numbers: a threshold below 5 leads to constant retraining, higher ones towards no retraining. */
function sweepRows(results: Results, { thresholds }: SeriesConfig): StudyRow[] {
  return thresholds.flatMap((below) => {
    const swept = results.filter(({ result }) => result.lives[`below-${below}`] !== undefined);
    if (swept.length === 0) return [];
    const lives = swept.map(({ result }) => result.lives);
    const share = { id: `sweep-serving-${below}`, unit: "of episodes" };
    const reward = {
      id: `sweep-reward-${below}`,
      what: `reward with a retraining threshold of ${below}, against no retraining`,
    };
    const shares = lives.map((scene) => stageShare(scene[`below-${below}`] as Life, "S"));
    const what = `share of episodes in SERVING with a retraining threshold of ${below}`;
    const serving: ClaimRow = {
      id: share.id,
      what,
      paper: null,
      ours: meanOver(shares, share),
      claim: below < 5 ? "at most 0.5: mostly retraining" : "at least 0.5: mostly serving",
    };
    const earned: ClaimRow = {
      ...reward,
      paper: null,
      ours: percentMore(
        pairsOf(
          lives.map((scene) => [scene]),
          [`below-${below}`, "no-retraining"],
          (life) => total(life, "reward"),
        ),
        reward,
      ),
      claim: "at least 0 % more",
    };
    const bound = { bound: 0.5 };
    return [
      below < 5 ? reproduceAtMost(serving, bound) : reproduceAtLeast(serving, bound),
      reproduceAtLeast(earned, { bound: 0 }),
    ];
  });
}

function rewardFigure(results: Results, { updates, each }: SeriesConfig): Figure {
  const block = Math.max(1, Math.round(each / 5));
  return {
    kind: "lines",
    id: "reward",
    title: "Reward per episode through a series of updates",
    subtitle: `${updates} updates, one every ${each} episodes from 0 on; bands are 95 % bootstrap intervals over seeds`,
    x: { label: "episode since the first update" },
    y: { label: "reward of an episode" },
    lines: METHODS.map((method) => ({
      name: methodTitles[method] ?? method,
      ...curveOver(
        results.map(({ result }) => result.lives[method]?.reward ?? []),
        block,
      ),
    })),
  };
}

function barFigure(results: Results): Figure {
  const bars = (group: string, figure: (life: Life) => number) =>
    METHODS.map((method) => {
      const values = results.map(({ result }) => figure(result.lives[method] as Life));
      const { mean: value, lo, hi } = meanOver(values, { id: `${group} ${method}`, unit: "" });
      return { label: methodTitles[method] ?? method, group, value, lo, hi };
    });
  return {
    kind: "bars",
    id: "serving",
    title: "Serving through updates",
    subtitle: "means with 95 % bootstrap intervals over seeds, as percentages",
    y: { label: "percent" },
    bars: [
      ...bars("reward, % of 200", (life) => total(life, "reward") / life.reward.length / 2),
      ...bars("CPU utilisation", (life) => 100 * utilisation(life, "cpu")),
      ...bars("memory utilisation", (life) => 100 * utilisation(life, "memory")),
      ...bars("steps in violation", (life) => total(life, "violations") / life.reward.length),
    ],
  };
}
