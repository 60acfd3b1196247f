/** AWARE's Figure 6: whether embeddings of workloads that were never seen lie near those they are like. */
import type { Figure } from "../adapters/plot/index.ts";
import { unwrap } from "../base/index.ts";
import { decodePretrained, planarMap, pretrainDefaults, type Ranking } from "../learn/meta/index.ts";
import { meanOver } from "./aware/compare.ts";
import { embedUnseen, rankUnseen, type UnseenRanking } from "./aware/unseen.ts";
import { claimAtLeast } from "./claim.ts";
import { quickPretraining, type SharedTraining } from "./shared-training.ts";
import type { Estimate, PaperFigure, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface EmbeddingConfig {
  readonly models: Readonly<Record<string, SharedTraining>>;
  /** Unseen applications per seed. */
  readonly members: number;
  /** Of each: what a workload has after a few hours. */
  readonly trajectories: number;
  /** Deviation of the noise on the shared policy's actions: what does not vary tells nothing about what depends on it. */
  readonly noise: number;
  readonly rung: "fluid" | "event";
}

interface Member {
  readonly sensitivity: string;
  readonly shape: string;
  readonly place: readonly [number, number];
}

export interface EmbeddingResult {
  readonly trained: UnseenRanking;
  /** The same trajectories through a network that learned nothing. */
  readonly untrained: UnseenRanking;
  readonly members: readonly Member[];
}

type Results = readonly UnitResult<EmbeddingResult>[];

const FIRST_SEED = 401;
const META_SEEDS = [401, 402, 403];

export const awareEmbedding: Study<EmbeddingResult, EmbeddingConfig> = {
  id: "aware-embedding",
  title: "AWARE: embeddings of workloads that were never seen (Figure 6)",
  about:
    "Models are pre-trained on known applications, the seeds of evaluation taking them in turn. Then the shared policy plays " +
    "in unseen applications with loads of all shapes, as a newcomer, and each one's trajectories are read by the frozen " +
    "encoder. Pairs are ranked by the cosine of their embeddings from the middle of all: how often a pair that depends on " +
    "one kind of resource (by where most of a request's time goes) and has one shape of load is more alike than a pair that " +
    "differs, and how often the nearest neighbour is of the same kind, against drawing one. In pre-training the encoder is " +
    "told what known applications are made of; of unseen ones it has trajectories alone. The same trajectories through an " +
    "encoder before training are the baseline.",
  world: "event",
  seeds: { quick: 2, full: 10, first: FIRST_SEED },
  config: ({ quick }) => ({
    models: Object.fromEntries(
      (quick ? META_SEEDS.slice(0, 1) : META_SEEDS).map((seed) => [`meta-${seed}`, trainingOf(seed, quick)]),
    ),
    members: quick ? 12 : 40,
    trajectories: quick ? 4 : 8,
    noise: 0.1,
    rung: quick ? "fluid" : "event",
  }),
  models: ({ models }) => models,
  units: () => ["unseen"],
  runUnit,
  rows,
  figures: (results) => [mapOf(results, "sensitivity"), mapOf(results, "shape")],
};

const trainingOf = (seed: number, quick: boolean): SharedTraining => ({
  applications: quick ? 24 : 200,
  seed,
  actions: "limits",
  pool: "split",
  config: quick ? quickPretraining : pretrainDefaults,
});

function runUnit({ seed, config, kernels, model, progress }: StudyJob<EmbeddingConfig>): EmbeddingResult {
  const names = Object.keys(config.models);
  const name = names[seed % names.length] ?? "";
  const { members, trajectories, noise, rung } = config;
  const pretrained = unwrap(decodePretrained(model(name)));
  const actions = config.models[name]?.actions;
  const embed = (isTrained: boolean, done: number) =>
    embedUnseen({
      kernels,
      model: pretrained,
      isTrained,
      seed,
      members,
      trajectories,
      noise,
      rung,
      ...(actions ? { actions } : {}),
      onMember: (count) => progress(done + count / members / 2),
    });
  const [trained, untrained] = [embed(true, 0), embed(false, 0.5)];
  const { places } = planarMap(trained.map(({ vector }) => vector));
  return {
    trained: rankUnseen(trained),
    untrained: rankUnseen(untrained),
    members: trained.map(({ sensitivity, shape }, i) => ({ sensitivity, shape, place: places[i] ?? [0, 0] })),
  };
}

const WHERE = "Figure 6, section 4.3";
/** The paper shows a picture and no number. */
const seen: PaperFigure | null = null;

const kinds = [
  { key: "both", what: "one sensitivity and one load shape", area: 0.7 },
  { key: "sensitivity", what: "one sensitivity", area: 0.6 },
  { key: "shape", what: "one load shape", area: 0.6 },
] as const;

function rows(results: Results): readonly StudyRow[] {
  return [...kinds.flatMap((kind) => [areaRow(results, kind), nearestRow(results, kind)]), baselineRow(results)];
}

type Kind = (typeof kinds)[number];

interface Measured {
  readonly id: string;
  readonly unit: string;
  value(result: EmbeddingResult): number;
}

/** Where a seed has no two members of one kind there is nothing to compare. */
const over = (results: Results, { id, unit, value }: Measured): Estimate =>
  meanOver(results.map(({ result }) => value(result)).filter(Number.isFinite), { id, unit });

function areaRow(results: Results, { key, what, area }: Kind): StudyRow {
  const id = `area-${key}`;
  const row = {
    id,
    what: `unseen pairs of ${what} that are more alike than pairs that differ (${WHERE}; chance 0.5)`,
    paper: seen,
    ours: over(results, { id, unit: "of comparisons", value: ({ trained }) => trained[key].area }),
    claim: `At least ${area} of comparisons rank a pair of ${what} higher.`,
  };
  return claimAtLeast(row, area);
}

function nearestRow(results: Results, { key, what }: Kind): StudyRow {
  const id = `nearest-${key}`;
  const times = ({ nearest, nearestByChance }: Ranking) => nearest / nearestByChance;
  const row = {
    id,
    what: `how many times as often as by chance the nearest neighbour is of ${what} (${WHERE})`,
    paper: seen,
    ours: over(results, { id, unit: "×", value: ({ trained }) => times(trained[key]) }),
    claim: "Nearest neighbours are right at least 2 times as often as by chance.",
  };
  return claimAtLeast(row, 2);
}

function baselineRow(results: Results): StudyRow {
  const id = "area-gain";
  const row = {
    id,
    what: "what training adds to the share of comparisons that rank a pair of one sensitivity and one load shape higher",
    paper: seen,
    ours: over(results, {
      id,
      unit: "of comparisons",
      value: ({ trained, untrained }) => trained.both.area - untrained.both.area,
    }),
    claim: "Training adds at least 0.1.",
  };
  return claimAtLeast(row, 0.1);
}

/** Of one seed: places of two models have nothing to do with one another. */
function mapOf(results: Results, by: "sensitivity" | "shape"): Figure {
  const first = results[0];
  const members = first?.result.members ?? [];
  const names = [...new Set(members.map((member) => member[by]))].sort();
  const title = by === "sensitivity" ? "the resource they depend on" : "the shape of their load";
  return {
    kind: "lines",
    id: `map-${by}`,
    title: `Unseen applications by embedding, coloured by ${title}`,
    subtitle: `${members.length} applications of seed ${first?.seed ?? 0}; the two directions in which embeddings vary most`,
    x: { label: "first component" },
    y: { label: "second component" },
    lines: names.map((name) => {
      const own = members.filter((member) => member[by] === name);
      return {
        name,
        marks: "points" as const,
        x: own.map(({ place }) => place[0]),
        y: own.map(({ place }) => place[1]),
      };
    }),
  };
}
