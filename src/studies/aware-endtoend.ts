/** AWARE's Figure 1: one life from the first step, through serving and updates, to an application that nobody has seen. */
import type { Figure } from "../adapters/plot/index.ts";
import { unwrap } from "../base/index.ts";
import { openSharedModel } from "../learn/meta/index.ts";
import { methodTitles } from "./aware/bootstrap-figures.ts";
import type { SceneLives } from "./aware/bootstrap-rows.ts";
import { curveOver, percentMore, timesAsMany } from "./aware/compare.ts";
import type { AwareConfig } from "./aware/config.ts";
import { awareConfig } from "./aware/config.ts";
import type { Life, Span } from "./aware/life.ts";
import { total } from "./aware/life.ts";
import { FIRST_META_SEED, type MetaModels, metaModels, modelFor } from "./aware/meta-models.ts";
import type { WholeLifeConfig } from "./aware/whole-life.ts";
import { liveWhole } from "./aware/whole-life.ts";
import { promiseAtLeast, promiseAtMost, reproduceAtLeast } from "./claim.ts";
import type { Study, StudyRow, UnitResult } from "./study.ts";

export interface EndToEndConfig extends AwareConfig {
  readonly models: MetaModels;
  readonly life: WholeLifeConfig;
}

type Results = readonly UnitResult<SceneLives>[];

const METHODS = ["rules", "firm", "aware"];

export const awareEndToEnd: Study<SceneLives, EndToEndConfig> = {
  id: "aware-endtoend",
  title: "AWARE: one life, end to end (Figure 1)",
  about:
    "One workload per seed, its kind in turn, lives through training from zero, serving, and a series of updates. Then comes " +
    "another, of an application that nobody has seen. FIRM is the base learner as it comes: it sets limits, learns by trying, " +
    "is then left as it is, and takes its policy along to the other workload, where it learns on. AWARE is as built here, " +
    "with bootstrapping, gates, shield and retraining; the other workload it meets with a model that was pre-trained on " +
    "known applications. The rules are HPA and VPA. All meet the same requests.",
  world: "event",
  seeds: { quick: 2, full: 10, first: FIRST_META_SEED },
  config: ({ quick }) => ({
    ...awareConfig({ quick }),
    models: metaModels({ quick, counts: { split: 1 }, actions: "demand" }),
    life: quick
      ? { training: 20, serving: 4, updates: 2, each: 4, unseen: 8 }
      : { training: 80, serving: 20, updates: 3, each: 15, unseen: 40 },
  }),
  models: ({ models }) => models,
  units: () => ["lives"],
  runUnit(job) {
    const name = modelFor(job.config.models, { pool: "split", seed: job.seed });
    const shared = unwrap(openSharedModel(job.model(name), job.kernels));
    return liveWhole(job, { methods: METHODS, shared });
  },
  rows: (results, { life }) => spansOf(life).flatMap((part) => rowsOf(results, part)),
  figures: (results, { life }) => [rewardFigure(results, life)],
};

interface Part {
  readonly name: string;
  readonly span: Span;
}

function spansOf({ training, serving, updates, each }: WholeLifeConfig): readonly Part[] {
  const updated = training + serving;
  const moved = updated + updates * each;
  return [
    { name: "training", span: { from: 0, to: training } },
    { name: "serving", span: { from: training, to: updated } },
    { name: "updates", span: { from: updated, to: moved } },
    { name: "unseen", span: { from: moved } },
  ];
}

function rowsOf(results: Results, { name, span }: Part): StudyRow[] {
  const pairs = (column: "reward" | "violations", [above, below]: readonly [string, string]) =>
    results.map(({ result }) => ({
      numerator: total(result[above] as Life, column, span),
      denominator: total(result[below] as Life, column, span),
    }));
  const reward = (against: string): StudyRow => {
    const id = `${name}-reward-${against}`;
    const ours = percentMore(pairs("reward", ["aware", against]), { id });
    const what = `${name}: AWARE's reward against ${methodTitles[against]}`;
    const row = { id, what, paper: null, ours, claim: "at least 0 % more" };
    // Figure 1 draws AWARE above FIRM, without numbers; that it is worth having beside the rules is our promise.
    return against === "rules" ? promiseAtLeast(row, 0) : reproduceAtLeast(row, { bound: 0 });
  };
  const firm = `${name}-violations-firm`;
  const rules = `${name}-violations-rules`;
  return [
    reward("firm"),
    reward("rules"),
    reproduceAtLeast(
      {
        id: firm,
        what: `${name}: FIRM's violations as a multiple of AWARE's`,
        paper: null,
        ours: timesAsMany(pairs("violations", ["firm", "aware"]), { id: firm }),
        claim: "at least 1×",
      },
      { bound: 1 },
    ),
    promiseAtMost(
      {
        id: rules,
        what: `${name}: AWARE's violations as a multiple of the rules'`,
        paper: null,
        ours: timesAsMany(pairs("violations", ["aware", "rules"]), { id: rules }),
        claim: "at most 1.02×",
      },
      1.02,
    ),
  ];
}

function rewardFigure(results: Results, { training, serving, updates, each, unseen }: WholeLifeConfig): Figure {
  const moved = training + serving + updates * each;
  const length = moved + unseen;
  const block = Math.max(1, Math.round(length / 40));
  return {
    kind: "lines",
    id: "life",
    title: "Reward per episode over one life",
    subtitle: `training to episode ${training}, serving to ${training + serving}, then an update every ${each} episodes, another application from ${moved} on; means of ${block}, bands are 95 % bootstrap intervals over seeds`,
    x: { label: "episode" },
    y: { label: "reward of an episode" },
    lines: METHODS.map((method) => ({
      name: methodTitles[method] ?? method,
      ...curveOver(
        results.map(({ result }) => result[method]?.reward ?? []),
        block,
      ),
    })),
  };
}
