/** AWARE's Figure 6: whether embeddings of workloads that were never seen lie near those they are like. */
import type { Figure } from "../adapters/plot/index.ts";
import { unwrap } from "../base/index.ts";
import { decodePretrained, planarMap, type Ranking } from "../learn/meta/index.ts";
import { embedUnseen, rankUnseen, type UnseenRanking } from "../pretraining/index.ts";
import { bySeed, meanOver } from "./aware/compare.ts";
import { awareConfig } from "./aware/config.ts";
import { firstRows, limitsRows } from "./aware/embedding-rows.ts";
import {
  type FirstLives,
  firstLives,
  type WorthConfig,
  type WorthInLimits,
  worthInLimits,
} from "./aware/embedding-worth.ts";
import { FIRST_META_SEED, GUIDED, guidedModel, type MetaModels, metaModels, modelFor } from "./aware/meta-models.ts";
import { reproduceAtLeast } from "./claim.ts";
import type { Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface EmbeddingConfig {
  readonly models: MetaModels;
  /** Unseen applications per seed. */
  readonly members: number;
  /** Of each: what a workload has after a few hours. */
  readonly trajectories: number;
  /** Deviation of the noise on the shared policy's actions: what does not vary tells nothing about what depends on it. */
  readonly noise: number;
  readonly rung: "fluid" | "event";
  readonly worth: WorthConfig;
}

interface Member {
  readonly sensitivity: string;
  readonly shape: string;
  readonly place: readonly [number, number];
}

/** How well one kind was ranked; null where no two members are of one kind. */
interface Ranked {
  readonly area: number | null;
  /** How many times as often as by chance the nearest neighbour was of the same kind. */
  readonly nearest: number | null;
}

type RankedKinds = { readonly [kind in keyof UnseenRanking]: Ranked };

/** One of three questions: how alike embeddings are, what one is worth in limits, what a prior is worth to the product's agent. */
export interface EmbeddingResult {
  readonly ranked?: RankedUnseen;
  readonly limits?: WorthInLimits;
  readonly first?: FirstLives;
}

interface RankedUnseen {
  readonly trained: RankedKinds;
  /** The same trajectories through a network that learned nothing. */
  readonly untrained: RankedKinds;
  readonly members: readonly Member[];
}

type Results = readonly UnitResult<EmbeddingResult>[];

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
    "encoder before training are the baseline. Beside it, what knowing a workload is worth: a policy in limits that was taught by " +
    "what good limits need to know plays unseen applications under their own embedding, under none and under another's; and " +
    "the product's agent begins with what known workloads needed that look like the one it meets, with nothing, and with what " +
    "others needed.",
  world: "event",
  seeds: { quick: 2, full: 10, first: FIRST_META_SEED },
  config: ({ quick }) => ({
    models: { ...metaModels({ quick, counts: { split: quick ? 1 : 3 } }), [GUIDED]: guidedModel({ quick }) },
    members: quick ? 12 : 40,
    trajectories: quick ? 4 : 8,
    noise: 0.1,
    rung: quick ? "fluid" : "event",
    worth: worthConfig({ quick }),
  }),
  models: ({ models }) => models,
  units: () => ["unseen", "limits", "first"],
  runUnit,
  rows,
  figures: (results) => [mapOf(results, "sensitivity"), mapOf(results, "shape")],
};

function worthConfig({ quick }: { readonly quick: boolean }): WorthConfig {
  const { loads, alpha, episodeSteps, rules } = awareConfig({ quick });
  return {
    loads,
    alpha,
    episodeSteps,
    rules,
    trialHours: quick ? 1 : 4,
    limits: quick ? { members: 4, trajectories: 2, episodes: 1 } : { members: 20, trajectories: 8, episodes: 4 },
    prior: {
      slots: quick ? [0] : [0, 1, 2, 3],
      episodes: quick ? 4 : 15,
      // Of a tuning seed: what is known was played before anything is judged.
      known: quick ? { seed: 1_000, applications: 4, steps: 100 } : { seed: 1_000, applications: 80, steps: 1_600 },
      width: 1,
    },
  };
}

async function runUnit(job: StudyJob<EmbeddingConfig>): Promise<EmbeddingResult> {
  const { seed, unit, config, kernels, model, progress } = job;
  if (unit === "first") return { first: await firstLives(job) };
  if (unit === "unseen") return { ranked: rankOf(job) };
  const { noise, rung, worth } = config;
  const onMember = (done: number) => progress(done / worth.limits.members);
  return { limits: worthInLimits(worth, { seed, kernels, model: model(GUIDED), noise, rung, onMember }) };
}

function rankOf({ seed, config, kernels, model, progress }: StudyJob<EmbeddingConfig>): RankedUnseen {
  const name = modelFor(config.models, { pool: "split", seed });
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
    trained: rankedKinds(rankUnseen(trained)),
    untrained: rankedKinds(rankUnseen(untrained)),
    members: trained.map(({ sensitivity, shape }, i) => ({ sensitivity, shape, place: places[i] ?? [0, 0] })),
  };
}

function rankedKinds({ both, sensitivity, shape }: UnseenRanking): RankedKinds {
  const finite = (value: number) => (Number.isFinite(value) ? value : null);
  const ranked = ({ area, nearest, nearestByChance }: Ranking): Ranked => ({
    area: finite(area),
    nearest: finite(nearest / nearestByChance),
  });
  return { both: ranked(both), sensitivity: ranked(sensitivity), shape: ranked(shape) };
}

const WHERE = "Figure 6, section 4.3";
const kinds = [
  { key: "both", what: "one sensitivity and one load shape", area: 0.7 },
  { key: "sensitivity", what: "one sensitivity", area: 0.6 },
  { key: "shape", what: "one load shape", area: 0.6 },
] as const;

type Kind = (typeof kinds)[number];

/** One row before it is measured. */
interface Question extends Pick<StudyRow, "id" | "what" | "claim"> {
  readonly unit: string;
  readonly bound: number;
  /** What chance, or no training, gives. */
  readonly none: number;
  /** Null where a seed has no two members of one kind: there is nothing to compare. */
  value(result: RankedUnseen): number | null;
}

const areaOf = ({ key, what, area }: Kind): Question => ({
  id: `area-${key}`,
  what: `unseen pairs of ${what} that are more alike than pairs that differ (${WHERE}; chance 0.5)`,
  unit: "of comparisons",
  bound: area,
  none: 0.5,
  claim: `At least ${area} of comparisons rank a pair of ${what} higher.`,
  value: ({ trained }) => trained[key].area,
});

const nearestOf = ({ key, what }: Kind): Question => ({
  id: `nearest-${key}`,
  what: `how many times as often as by chance the nearest neighbour is of ${what} (${WHERE})`,
  unit: "×",
  bound: 2,
  none: 1,
  claim: "Nearest neighbours are right at least 2 times as often as by chance.",
  value: ({ trained }) => trained[key].nearest,
});

const gain: Question = {
  id: "area-gain",
  what: "what training adds to the share of comparisons that rank a pair of one sensitivity and one load shape higher",
  unit: "of comparisons",
  bound: 0.1,
  none: 0,
  claim: "Training adds at least 0.1.",
  value: ({ trained: { both }, untrained }) =>
    both.area === null || untrained.both.area === null ? null : both.area - untrained.both.area,
};

function rows(results: Results): readonly StudyRow[] {
  const questions = [...kinds.flatMap((kind) => [areaOf(kind), nearestOf(kind)]), gain];
  const ranked = questions.flatMap(({ id, what, unit, bound, none, claim, value }) => {
    const values = found("ranked", results)
      .map(value)
      .filter((one) => one !== null);
    // The paper shows a picture and no number.
    const row = { id, what, paper: null, claim };
    return values.length === 0
      ? []
      : [reproduceAtLeast({ ...row, ours: meanOver(values, { id, unit }) }, { bound, none })];
  });
  return [...limitsRows(found("limits", results)), ...firstRows(found("first", results)), ...ranked];
}

/** What the seeds came to with one of the questions. */
function found<K extends keyof EmbeddingResult>(question: K, results: Results): NonNullable<EmbeddingResult[K]>[] {
  const answers: NonNullable<EmbeddingResult[K]>[] = [];
  for (const units of bySeed(results))
    for (const { [question]: answer } of units.values()) if (answer !== undefined) answers.push(answer);
  return answers;
}

/** Of one seed: places of two models have nothing to do with one another. */
function mapOf(results: Results, by: "sensitivity" | "shape"): Figure {
  const first = results.find(({ result }) => result.ranked !== undefined);
  const members = first?.result.ranked?.members ?? [];
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
