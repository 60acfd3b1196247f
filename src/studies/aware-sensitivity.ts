/** How much of AWARE's meta learner depends on its three sizes: the bundle, the embedding and the pool it was trained on. */
import type { Figure } from "../adapters/plot/index.ts";
import { unwrap } from "../base/index.ts";
import { decodePretrained, pretrainDefaults } from "../learn/meta/index.ts";
import { earnUnseen, quickPretraining, rankUnseen, type SharedTraining } from "../pretraining/index.ts";
import { meanOver, percentMore } from "./aware/compare.ts";
import { FIRST_META_SEED, type MetaModels } from "./aware/meta-models.ts";
import { reproduceAtLeast, reproduceAtMost } from "./claim.ts";
import { mean } from "./statistics/index.ts";
import type { Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

/** What is varied, one at a time, around the paper's choice. */
interface Sizes {
  /** M: the best trajectories that an embedding is computed from. */
  readonly bundle: number;
  readonly embedding: number;
  /** Applications in pre-training. */
  readonly pool: number;
}

type Size = keyof Sizes;

interface SensitivityConfig {
  readonly models: MetaModels;
  readonly usual: Sizes;
  readonly others: { readonly [size in Size]: readonly number[] };
  /** Unseen applications per seed. */
  readonly members: number;
  /** Episodes of each after the bundle, under its embedding and once more under the neutral one. */
  readonly episodes: number;
  readonly noise: number;
  readonly rung: "fluid" | "event";
}

interface SensitivityResult {
  /** Mean over applications of what an episode earns. */
  readonly embedded: number;
  readonly neutral: number;
  /** Share of comparisons that rank pairs of one kind higher; null where no two applications are of one kind. */
  readonly area: number | null;
}

type Results = readonly UnitResult<SensitivityResult>[];

const sizes: readonly Size[] = ["bundle", "embedding", "pool"];
const USUAL = "usual";
const unitOf = (size: Size, value: number): string => `${size}-${value}`;

export const awareSensitivity: Study<SensitivityResult, SensitivityConfig> = {
  id: "aware-sensitivity",
  title: "AWARE: how much depends on the bundle, the embedding and the pool (section 4.3)",
  about:
    "Models of width 64 are pre-trained with one size changed at a time: trajectories in a bundle, numbers in an embedding, " +
    "applications in the pool. All play as many episodes in all, so a smaller pool is seen more often. Then each model meets " +
    "the same unseen applications: the shared policy gathers a bundle there as a newcomer, and plays on under the embedding of " +
    "that bundle, and in the same hours under the neutral one. Nothing is fine-tuned. Each size is trained once, so intervals " +
    "are over what is met and not over trainings.",
  world: "event",
  seeds: { quick: 2, full: 10, first: FIRST_META_SEED },
  config({ quick }) {
    const usual: Sizes = quick ? { bundle: 4, embedding: 16, pool: 6 } : { bundle: 20, embedding: 64, pool: 50 };
    const others = quick
      ? { bundle: [1], embedding: [4], pool: [3] }
      : { bundle: [1, 5], embedding: [16, 128], pool: [25, 100] };
    return {
      models: sensitivityModels({ quick, usual, others }),
      usual,
      others,
      members: quick ? 3 : 20,
      episodes: 2,
      noise: 0.1,
      rung: quick ? "fluid" : "event",
    };
  },
  models: ({ models }) => models,
  units: ({ models }) => Object.keys(models),
  runUnit,
  rows,
  figures,
};

/** Visits of all applications together: the same for every model. */
const VISITS = { quick: 12, full: 1_600 } as const;

/** A narrow network learns little at the full one's rate in so few steps; see the table in docs/adr/0018-pre-training.md. */
const SMALL_RATE = 1e-3;

/** Trajectories that a pass reads at most: a narrow network reads them soon. */
const READ = 8;

function sensitivityModels({
  quick,
  usual,
  others,
}: Pick<SensitivityConfig, "usual" | "others"> & { readonly quick: boolean }): MetaModels {
  const base = quick ? quickPretraining : pretrainDefaults;
  const width = quick ? base.meta.hidden : 64;
  const visits = quick ? VISITS.quick : VISITS.full;
  const read = quick ? base.readAtMost : READ;
  const modelOf = ({ bundle, embedding, pool }: Sizes): SharedTraining => ({
    applications: pool,
    seed: FIRST_META_SEED,
    actions: "limits",
    pool: "split",
    config: {
      ...base,
      meta: { ...base.meta, hidden: width, dense: [width], embedding, lr: SMALL_RATE },
      bundle,
      readAtMost: Math.min(read, bundle),
      newcomer: { ...base.newcomer, trajectories: Math.min(read, bundle) },
      visits: Math.round(visits / pool),
      settleSteps: quick ? 200 : base.settleSteps,
    },
  });
  const models: { [name: string]: SharedTraining } = { [USUAL]: modelOf(usual) };
  for (const size of sizes)
    for (const value of others[size]) models[unitOf(size, value)] = modelOf({ ...usual, [size]: value });
  return models;
}

function runUnit({ seed, unit, config, kernels, model, progress }: StudyJob<SensitivityConfig>): SensitivityResult {
  const { members, episodes, noise, rung } = config;
  const training = config.models[unit];
  const earned = earnUnseen({
    kernels,
    model: unwrap(decodePretrained(model(unit))),
    isTrained: true,
    seed,
    members,
    trajectories: training?.config.bundle ?? config.usual.bundle,
    episodes,
    noise,
    rung,
    ...(training ? { actions: training.actions } : {}),
    onMember: (done) => progress(done / members),
  });
  const { area } = rankUnseen(earned.map(({ member }) => member)).both;
  return {
    embedded: mean(earned.map(({ embedded }) => embedded)),
    neutral: mean(earned.map(({ neutral }) => neutral)),
    area: Number.isFinite(area) ? area : null,
  };
}

const words: { readonly [size in Size]: { readonly name: string; readonly axis: string } } = {
  bundle: { name: "trajectories in a bundle", axis: "trajectories in a bundle (M)" },
  embedding: { name: "numbers in an embedding", axis: "numbers in an embedding" },
  pool: { name: "applications in the pool", axis: "applications in pre-training" },
};

/** One percent: less than the rewards of two seeds differ by. */
const HARDLY = 1;

function rows(results: Results, { usual, others }: SensitivityConfig): readonly StudyRow[] {
  const embedded = new Map(results.filter(({ unit }) => unit === USUAL).map(({ seed, result }) => [seed, result]));
  const gain = percentMore(
    [...embedded.values()].map((result) => ({ numerator: result.embedded, denominator: result.neutral })),
    { id: "gain" },
  );
  const own: StudyRow = reproduceAtLeast(
    {
      id: "gain",
      what: "reward per episode under the embedding of an unseen application, more than under the neutral one",
      paper: null,
      ours: gain,
      claim: "The embedding earns at least 0 % more than none.",
    },
    { bound: 0 },
  );
  const compared = sizes.flatMap((size) =>
    others[size].map((value): StudyRow => {
      const id = unitOf(size, value);
      const pairs = results
        .filter(({ unit }) => unit === id)
        .map(({ seed, result }) => ({
          numerator: result.embedded,
          denominator: embedded.get(seed)?.embedded ?? Number.NaN,
        }));
      const isMore = value > usual[size];
      // The paper says why it chose its sizes, and prints no numbers for others.
      const row = {
        id,
        what: `reward per episode with ${value} in place of ${usual[size]} ${words[size].name}, how much more it is`,
        paper: null,
        ours: percentMore(pairs, { id }),
      };
      return isMore
        ? reproduceAtMost(
            { ...row, claim: `With ${value} it is at most ${HARDLY} % more than with ${usual[size]}.` },
            { bound: HARDLY },
          )
        : reproduceAtMost(
            { ...row, claim: `With ${value} it is at most 0 % more than with ${usual[size]}.` },
            { bound: 0 },
          );
    }),
  );
  return [own, ...compared];
}

function figures(results: Results, config: SensitivityConfig): readonly Figure[] {
  return sizes.flatMap((size): Figure[] => {
    const subtitle = "without fine-tuning; bands are 95 % intervals over seeds";
    const x = { label: words[size].axis, scale: "log" } as const;
    const line = (name: string, value: (result: SensitivityResult) => number | null) => ({
      name,
      ...curveBy(size, { results, config, id: name, value }),
    });
    return [
      {
        kind: "lines",
        id: `reward-by-${size}`,
        title: `Reward on unseen applications by ${words[size].name}`,
        subtitle,
        x,
        y: { label: "reward per episode" },
        lines: [
          line("under its embedding", ({ embedded }) => embedded),
          line("under the neutral one", ({ neutral }) => neutral),
        ],
      },
      {
        kind: "lines",
        id: `ranking-by-${size}`,
        title: `Ranking of unseen applications by ${words[size].name}`,
        subtitle,
        x,
        y: { label: "comparisons that rank a pair of one kind higher (chance 0.5)" },
        lines: [line("one sensitivity and one load shape", ({ area }) => area)],
      },
    ];
  });
}

function curveBy(
  size: Size,
  {
    results,
    config: { usual, others },
    id,
    value,
  }: {
    readonly results: Results;
    readonly config: SensitivityConfig;
    readonly id: string;
    value(result: SensitivityResult): number | null;
  },
) {
  const points = [usual[size], ...others[size]]
    .sort((a, b) => a - b)
    .flatMap((at) => {
      const unit = at === usual[size] ? USUAL : unitOf(size, at);
      const own = results.filter((one) => one.unit === unit).map(({ result }) => value(result));
      const found = own.filter((one) => one !== null);
      return found.length === 0 ? [] : [{ at, ...meanOver(found, { id: `${unit} ${id}`, unit: "" }) }];
    });
  return {
    x: points.map(({ at }) => at),
    y: points.map((point) => point.mean),
    lo: points.map(({ lo }) => lo),
    hi: points.map(({ hi }) => hi),
  };
}
