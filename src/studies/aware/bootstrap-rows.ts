/**
 * The rows of aware-bootstrap: Figure 10's bars as ratios, the lifetime promise, the sweeps of section 5.4.
 * Not here: running lives (aware-bootstrap.ts), the estimates (compare.ts).
 */
import type { ClaimRow } from "../claim.ts";
import { promiseAtLeast, promiseAtMost, reproduceAtLeast, reproduceAtMost, shown } from "../claim.ts";
import type { RatioPair } from "../statistics/index.ts";
import { mean, sum } from "../statistics/index.ts";
import type { PaperFigure, StudyRow } from "../study.ts";
import { meanOver, percentMore, timesAsMany, timesAsMuch } from "./compare.ts";
import type { Life, Span } from "./life.ts";
import { stageShare, total, utilisation } from "./life.ts";

/** The lives of one scene by method. */
export type SceneLives = Readonly<Record<string, Life>>;
/** Seeds, then scenes. */
export type AllLives = readonly (readonly SceneLives[])[];

export interface BootstrapRowOptions {
  readonly endEpisodes: number;
}

type Figure = (life: Life) => number;

/** Per seed: a figure summed over its scenes, under two methods. */
export function pairsOf(lives: AllLives, [above, below]: readonly [string, string], figure: Figure): RatioPair[] {
  const of = (scenes: readonly SceneLives[], method: string) =>
    sum(scenes.map((scene) => figure(scene[method] as Life)));
  return lives.map((scenes) => ({ numerator: of(scenes, above), denominator: of(scenes, below) }));
}

const inPaper = (low: number, unit: string): PaperFigure => ({ low, high: low, unit, where: "Fig. 10, section 5.4" });

export function bootstrapRows(lives: AllLives, { endEpisodes }: BootstrapRowOptions): readonly StudyRow[] {
  const end: Span = { from: -endEpisodes };
  return [
    ...trainingRows(lives, "aware", "AWARE"),
    ...trainingRows(lives, "aware-paper", "AWARE as published"),
    ...lifetimeRows(lives, "aware", "AWARE"),
    ...publishedLifetimeRows(lives),
    ...endRows(lives, end),
    updatesRow(lives),
  ];
}

/** Method against no bootstrapping, over the whole of training. */
function trainingRows(lives: AllLives, method: string, title: string): StudyRow[] {
  const against = [method, "no-bootstrap"] as const;
  const row = (name: string, what: string): Pick<ClaimRow, "id" | "what"> => ({
    id: `${method}-${name}`,
    what: `${title} against no bootstrapping during training: ${what}`,
  });
  const more = (name: string, figure: Figure, { what, bound }: { what: string; bound: number }): StudyRow => {
    const head = row(name, what);
    const ours = percentMore(pairsOf(lives, against, figure), head);
    const claim = `at least ${bound} % more`;
    return reproduceAtLeast({ ...head, paper: inPaper(bound, "%"), ours, claim }, { bound, none: 0 });
  };
  const fewer = row("violations", "how many times fewer violations");
  return [
    more("cpu", (life) => utilisation(life, "cpu"), { what: "CPU utilisation", bound: 47.5 }),
    more("memory", (life) => utilisation(life, "memory"), { what: "memory utilisation", bound: 39.2 }),
    reproduceAtLeast(
      {
        ...fewer,
        paper: inPaper(16.9, "×"),
        ours: timesAsMany(
          pairsOf(lives, ["no-bootstrap", method], (life) => total(life, "violations")),
          fewer,
        ),
        claim: "at least 16.9×",
      },
      { bound: 16.9, none: 1 },
    ),
    more("reward", (life) => total(life, "reward"), { what: "reward per episode", bound: 47.3 }),
  ];
}

/** At most 2 % more violations than its twin under the rules, all of its life counted. */
export const keepsPromise = (life: Life, twin: Life): boolean =>
  total(life, "violations") <= 1.02 * total(twin, "violations");

type LifetimeRow = Omit<ClaimRow, "claim" | "paper">;

function lifetimesOf(lives: AllLives, method: string, title: string): { share: LifetimeRow; pooled: LifetimeRow } {
  const shares = lives.map((scenes) =>
    mean(scenes.map((scene) => (keepsPromise(scene[method] as Life, scene.rules as Life) ? 1 : 0))),
  );
  const share = { id: `${method}-lifetime-share`, unit: "of workloads" };
  const pooled = { id: `${method}-lifetime-violations` };
  return {
    share: {
      id: share.id,
      what: `${title}: share of workloads whose violations over the whole life are at most 2 % above their twin's under the rules`,
      ours: meanOver(shares, share),
    },
    pooled: {
      ...pooled,
      what: `${title}: violations over the whole life, as a multiple of the rules'`,
      ours: timesAsMany(
        pairsOf(lives, [method, "rules"], (life) => total(life, "violations")),
        pooled,
      ),
    },
  };
}

function lifetimeRows(lives: AllLives, method: string, title: string): StudyRow[] {
  const { share, pooled } = lifetimesOf(lives, method, title);
  return [
    promiseAtLeast({ ...share, paper: null, claim: "at least 0.95 of workloads" }, 0.95),
    promiseAtMost({ ...pooled, paper: null, claim: "at most 1.02×" }, 1.02),
  ];
}

/** The published algorithm has neither shield nor rollback and promises nothing of the kind. */
function publishedLifetimeRows(lives: AllLives): StudyRow[] {
  const { share, pooled } = lifetimesOf(lives, "aware-paper", "AWARE as published");
  const why = "Algorithm 1 alone, beside the promise";
  return [shown({ ...share, why }), shown({ ...pooled, why })];
}

function endRows(lives: AllLives, end: Span): StudyRow[] {
  const against = ["aware", "rules"] as const;
  const cost = { id: "aware-end-cost", what: "AWARE's end state: cost as a multiple of the rules'" };
  const reward = { id: "aware-end-reward", what: "AWARE's end state: reward against the rules'" };
  const violations = { id: "aware-end-violations", what: "AWARE's end state: violations as a multiple of the rules'" };
  const figure = (column: "cost" | "reward" | "violations") =>
    pairsOf(lives, against, (life) => total(life, column, end));
  return [
    promiseAtMost(
      { ...cost, paper: null, ours: timesAsMuch(figure("cost"), cost), claim: "at most 0.999×: it costs less" },
      0.999,
    ),
    promiseAtLeast(
      { ...reward, paper: null, ours: percentMore(figure("reward"), reward), claim: "at least 0 % more" },
      0,
    ),
    promiseAtMost(
      { ...violations, paper: null, ours: timesAsMany(figure("violations"), violations), claim: "at most 1.02×" },
      1.02,
    ),
  ];
}

function updatesRow(lives: AllLives): StudyRow {
  const id = "aware-updates";
  const updates = lives.map((scenes) => mean(scenes.map((scene) => (scene.aware as Life).updates)));
  return shown({
    id,
    what: "AWARE: gradient updates in a life",
    ours: meanOver(updates, { id, unit: "updates" }),
    why: "whether it trains for real",
  });
}

export interface SweepOptions {
  readonly sweep: {
    readonly episodes: number;
    readonly alphas: readonly number[];
    readonly thresholds: readonly number[];
  };
}

/**
 * How the weight of the SLO and the bootstrapping threshold move what happens, over the beginning of a life. The paper
 * says of the threshold what happens, without numbers: a higher one leads to endless bootstrapping.
 */
export function sweepRows(scenes: readonly SceneLives[], { sweep }: SweepOptions): readonly StudyRow[] {
  if (scenes.length === 0) return [];
  const span: Span = { from: 0, to: sweep.episodes };
  const [low, high] = [Math.min(...sweep.alphas), Math.max(...sweep.alphas)];
  const lives = scenes.map((scene) => [scene]);
  const pairs = (figure: Figure) => pairsOf(lives, [`alpha-${low}`, `alpha-${high}`], figure);
  const violations = { id: "sweep-alpha-violations", what: `violations with α = ${low} as a multiple of α = ${high}` };
  const cpu = { id: "sweep-alpha-cpu", what: `CPU utilisation with α = ${low} as a multiple of α = ${high}` };
  const thresholds = sweep.thresholds.map((times): StudyRow => {
    const id = `sweep-threshold-${times}`;
    const shares = scenes.map((scene) => stageShare(scene[`threshold-${times}`] as Life, "O", span));
    const row: ClaimRow = {
      id,
      what: `share of the first ${sweep.episodes} episodes spent OFFLINE with a bootstrapping threshold of ${times} × the rules' reward`,
      paper: null,
      ours: meanOver(shares, { id, unit: "of episodes" }),
      claim: times > 1 ? "at least 0.9: bootstrapping without end" : "at most 0.2: soon over",
    };
    return times > 1 ? reproduceAtLeast(row, { bound: 0.9 }) : reproduceAtMost(row, { bound: 0.2 });
  });
  const why = "what the weight of the SLO moves";
  return [
    shown({
      ...violations,
      ours: timesAsMany(
        pairs((life) => total(life, "violations", span)),
        violations,
      ),
      why,
    }),
    shown({
      ...cpu,
      ours: timesAsMuch(
        pairs((life) => utilisation(life, "cpu", span)),
        cpu,
      ),
      why,
    }),
    ...thresholds,
  ];
}
