/**
 * AWARE's characterization of learners in production: what early training costs (Table 3) and what a change of the
 * workload costs a converged policy (Figure 3).
 */
import type { Figure } from "../adapters/plot/index.ts";
import type { ChangeConfig, ChangeOutcome } from "./aware/changes.ts";
import { playChanges, poolChanges } from "./aware/changes.ts";
import { curveOver, meanOver, percentLess, percentMore, timesAsMany } from "./aware/compare.ts";
import type { AwareConfig } from "./aware/config.ts";
import { awareConfig } from "./aware/config.ts";
import type { Life, Span } from "./aware/life.ts";
import { total, utilisation } from "./aware/life.ts";
import { withoutBootstrap } from "./aware/methods.ts";
import { liveFromBirth } from "./aware/training-lives.ts";
import { shown } from "./claim.ts";
import type { PaperFigure, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface CharacterizationConfig extends AwareConfig {
  /** Episodes of early training, looked at in quarters. */
  readonly early: number;
  readonly changes: ChangeConfig;
}

export type CharacterizationResult =
  | { readonly kind: "early"; readonly rules: Life; readonly learner: Life }
  | { readonly kind: "changes"; readonly outcomes: readonly ChangeOutcome[] };

type Result = UnitResult<CharacterizationResult>;

export const awareCharacterization: Study<CharacterizationResult, CharacterizationConfig> = {
  id: "aware-characterization",
  title: "AWARE: what learners cost in production (Table 3, Figure 3)",
  about:
    "Table 3: the base learner without bootstrapping against the rules (HPA and VPA) on the same requests, by quarters of " +
    "its early training; one workload per seed, its kind in turn. Figure 3: a policy trained to convergence meets another " +
    "application, an update of its own, or another load. The drop is the frozen policy's reward against what it would have " +
    "earned in the same hours without the change; the retraining cost is how many episodes of learning pass until five " +
    "episodes reach 97 % of the level that learning ends on, each relative to the rules at the same hours. The SLO is set " +
    "once for the slowest version of the software, so that it can be met before and after. As in the paper, no policy has a " +
    "shield here, in training or afterwards, and actions are limits.",
  world: "event",
  seeds: { quick: 2, full: 10 },
  config: ({ quick }) => ({
    ...awareConfig({ quick }),
    early: quick ? 20 : 200,
    changes: {
      converge: quick ? 16 : 60,
      payloads: 1,
      drop: quick ? 2 : 10,
      relearn: quick ? 6 : 40,
      level: quick ? { window: 2, level: 2, within: 0.03 } : { window: 5, level: 15, within: 0.03 },
    },
  }),
  units: () => ["early", "changes/high", "changes/low"],
  runUnit,
  rows: (results, config) => [...earlyRows(results, config), ...changeRows(results)],
  figures: (results, config) => [earlyFigure(results, config), changeFigure(results)],
};

async function runUnit(job: StudyJob<CharacterizationConfig>): Promise<CharacterizationResult> {
  const { unit, seed, config } = job;
  // Kinds of scenes in turn: high and low loads, every fourth with a throughput SLO.
  if (unit === "changes/high") return { kind: "changes", outcomes: await playChanges(job, seed % 2 === 0 ? 0 : 2) };
  if (unit === "changes/low") return { kind: "changes", outcomes: await playChanges(job, seed % 2 === 0 ? 1 : 3) };
  const life = { slot: seed % 4, episodes: config.early };
  const half = (from: number) => ({ ...job, progress: (fraction: number) => job.progress(from + fraction / 2) });
  const rules = await liveFromBirth(half(0), { ...life, method: null });
  return { kind: "early", rules, learner: await liveFromBirth(half(0.5), { ...life, method: withoutBootstrap }) };
}

const quarterOf = ({ early }: CharacterizationConfig, quarter: number): Span => ({
  from: Math.floor((quarter * early) / 4),
  to: Math.floor(((quarter + 1) * early) / 4),
});

function earlyLives(results: readonly Result[], who: "rules" | "learner"): readonly Life[] {
  return results.flatMap(({ result }) => (result.kind === "early" ? [result[who]] : []));
}

const table3 = {
  cpu: [-32.3, -42.9, -22.1, -10],
  memory: [-28.8, -30.5, -26.5, -7.8],
  violations: [56.1, 22.2, 12.7, 10.1],
} as const;

/** Having less of it is no failure: see the rule in claim.ts. */
const WEAKNESS = "a weakness of learners";

const inPaper = (low: number, unit: string, where: string): PaperFigure => ({ low, high: low, unit, where });

function earlyRows(results: readonly Result[], config: CharacterizationConfig): StudyRow[] {
  const learner = earlyLives(results, "learner");
  const rules = earlyLives(results, "rules");
  const pairs = (figure: (life: Life) => number) =>
    learner.map((life, i) => ({ numerator: figure(life), denominator: figure(rules[i] as Life) }));
  return [0, 1, 2, 3].flatMap((quarter) => {
    const span = quarterOf(config, quarter);
    const where = `Table 3, quarter ${quarter + 1}`;
    const name = `episodes ${span.from + 1} to ${span.to}`;
    const util = (resource: "cpu" | "memory", label: string) => {
      const id = `early-${resource}-${quarter + 1}`;
      const ours = percentMore(
        pairs((life) => utilisation(life, resource, span)),
        { id },
      );
      const paper = inPaper(table3[resource][quarter] as number, "%", where);
      const what = `no bootstrapping against the rules, ${name}: ${label}`;
      return shown({ id, what, paper, ours, why: WEAKNESS });
    };
    const id = `early-violations-${quarter + 1}`;
    const ours = timesAsMany(
      pairs((life) => total(life, "violations", span)),
      { id },
    );
    const paper = inPaper(table3.violations[quarter] as number, "×", where);
    const what = `no bootstrapping against the rules, ${name}: violations as a multiple`;
    return [
      util("cpu", "CPU utilisation"),
      util("memory", "memory utilisation"),
      shown({ id, what, paper, ours, why: WEAKNESS }),
    ];
  });
}

/** Drop in percent, episodes of retraining; null where the paper gives a range for a group only. */
const figure3: Readonly<
  Record<string, { readonly drop: readonly [number, number]; readonly episodes: number | null }>
> = {
  application: { drop: [45.6, 45.6], episodes: 230 },
  "high-to-low": { drop: [19.9, 19.9], episodes: 98 },
  "low-to-high": { drop: [21.8, 21.8], episodes: 107 },
  "file-size": { drop: [12.8, 12.8], episodes: 70 },
  payload: { drop: [15.6, 19.9], episodes: null },
};

const changeNames: Readonly<Record<string, string>> = {
  application: "another application",
  "high-to-low": "a high load becomes a low one",
  "low-to-high": "a low load becomes a high one",
  "file-size": "larger files",
  payload: "another payload (table, model, operations, image, text)",
};

/** Files apart, as in the paper; the other payloads together, since few seeds draw each. */
const groupOf = (change: string): string => (change in changeNames ? change : "payload");

interface PooledChange {
  readonly group: string;
  readonly seeds: readonly ReturnType<typeof poolChanges>[];
}

function pooledChanges(results: readonly Result[]): readonly PooledChange[] {
  return Object.keys(changeNames).flatMap((group) => {
    const seeds = [...new Set(results.map(({ seed }) => seed))].flatMap((seed) => {
      const outcomes = results
        .filter((one) => one.seed === seed)
        .flatMap(({ result }) => (result.kind === "changes" ? result.outcomes : []))
        .filter(({ change }) => groupOf(change) === group);
      return outcomes.length === 0 ? [] : [poolChanges(outcomes)];
    });
    return seeds.length === 0 ? [] : [{ group, seeds }];
  });
}

const dropOf = ({ group, seeds }: PooledChange) =>
  percentLess(
    seeds.map(({ after, without }) => ({ numerator: after, denominator: without })),
    { id: `drop-${group}` },
  );

function changeRows(results: readonly Result[]): StudyRow[] {
  return pooledChanges(results).flatMap((change) => {
    const { group, seeds } = change;
    const paper = figure3[group];
    const episodes = { id: `relearn-${group}`, unit: "episodes" };
    const [low, high] = paper?.drop ?? [0, 0];
    return [
      shown({
        id: `drop-${group}`,
        what: `reward that a converged policy loses: ${changeNames[group]}`,
        paper: { low, high, unit: "%", where: "Fig. 3" },
        ours: dropOf(change),
        why: WEAKNESS,
      }),
      shown({
        id: episodes.id,
        what: `episodes to converge again: ${changeNames[group]}`,
        paper: paper?.episodes ? inPaper(paper.episodes, "episodes", "Fig. 3") : null,
        ours: meanOver(
          seeds.map((seed) => seed.episodes),
          episodes,
        ),
        why: WEAKNESS,
      }),
    ];
  });
}

function earlyFigure(results: readonly Result[], { early }: CharacterizationConfig): Figure {
  const block = Math.max(1, Math.round(early / 40));
  const line = (name: string, who: "rules" | "learner") => {
    const lives = earlyLives(results, who);
    return {
      name,
      ...curveOver(
        lives.map((life) => life.violations),
        block,
      ),
    };
  };
  return {
    kind: "lines",
    id: "early",
    title: "Violations in early training",
    subtitle: `means of ${block} episodes; bands are 95 % bootstrap intervals over seeds`,
    x: { label: "episode" },
    y: { label: "steps in violation, of 100" },
    lines: [line("no bootstrapping", "learner"), line("HPA and VPA", "rules")],
  };
}

function changeFigure(results: readonly Result[]): Figure {
  return {
    kind: "bars",
    id: "changes",
    title: "Reward that a converged policy loses when its workload changes",
    subtitle: "95 % bootstrap intervals over seeds",
    y: { label: "reward drop", unit: "%" },
    bars: pooledChanges(results).map((change) => {
      const { mean: value, lo, hi } = dropOf(change);
      const [low, high] = figure3[change.group]?.drop ?? [value, value];
      return { label: changeNames[change.group] ?? change.group, value, lo, hi, paper: { low, high } };
    }),
  };
}
