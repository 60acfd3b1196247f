/**
 * What the classic-control studies share: train one algorithm with one seed, evaluate it at fixed steps, and turn ten
 * seeds' evaluations into rows and a learning curve.
 * Protocol: the deterministic policy, a fresh environment, whole episodes, evaluation seeds that training never sees;
 * the last policy is what counts, not the best one on the way.
 * Not here: which environment and what is claimed (the rl-*.ts studies).
 */

import { seededRng } from "../base/index.ts";
import type { Algorithm, AlgorithmName } from "../learn/rl/index.ts";
import { Training, tunedFor } from "../learn/rl/index.ts";
import type { ClaimRow } from "./claim.ts";
import { estimateOver, promiseAtLeast, promiseAtMost } from "./claim.ts";
import { bootstrap, interquartileMean, mean } from "./statistics/index.ts";
import type { PaperFigure, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface RlUnitConfig {
  readonly algorithm: Algorithm;
  readonly totalSteps: number;
}

export interface RlConfig {
  readonly envId: string;
  readonly units: { readonly [unit: string]: RlUnitConfig };
  /** Evaluations per training, evenly spaced, each over `episodes` episodes. */
  readonly checkpoints: number;
  readonly episodes: number;
  /** Episodes of the last evaluation, which the claims rest on. */
  readonly finalEpisodes: number;
}

export interface RlResult {
  /** Mean return at each checkpoint. */
  readonly curve: readonly { readonly steps: number; readonly mean: number }[];
  /** Mean return of the last policy over `finalEpisodes` episodes. */
  readonly final: number;
}

export interface RlUnit {
  readonly name: AlgorithmName;
  readonly title: string;
  readonly published: PaperFigure;
  /** The last policy's mean return that is claimed. */
  readonly atLeast: number;
  /** Steps within which the first checkpoint reaches it, if that is claimed too. */
  readonly reachedWithin?: number;
  /** Steps of a quick run; the full run takes the tuned number. */
  readonly quickSteps: number;
}

export interface RlStudy {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly envId: string;
  readonly units: readonly RlUnit[];
}

// Earlier settings failed on some of the seeds 1 to 20, and all settings were chosen on seeds from 1000 on: these are
// neither.
const FIRST_SEED = 101;

// Far from the training seeds and from those that settings were chosen on.
const EVALUATION_SEED_OFFSET = 1_000_000;

export function rlStudy(definition: RlStudy): Study<RlResult, RlConfig> {
  const { id, title, about, envId, units } = definition;
  return {
    id,
    title,
    about,
    world: "none",
    seeds: { quick: 2, full: 10, first: FIRST_SEED },
    config: ({ quick }) => ({
      envId,
      checkpoints: quick ? 5 : 20,
      episodes: 20,
      finalEpisodes: quick ? 20 : 100,
      units: Object.fromEntries(
        units.map(({ name, quickSteps }) => {
          const { algorithm, totalSteps } = tunedFor(envId, name);
          return [name, { algorithm, totalSteps: quick ? quickSteps : totalSteps }];
        }),
      ),
    }),
    units: (config) => Object.keys(config.units),
    runUnit: trainAndEvaluate,
    rows: (results) => units.flatMap((unit) => rowsOf(unit, resultsOf(results, unit.name))),
    figures: (results) => [
      {
        kind: "lines",
        id: "curve",
        title: `${envId}: return of the deterministic policy while learning`,
        subtitle: "interquartile mean over seeds with its 95 % bootstrap interval; 20 episodes per point",
        x: { label: "environment steps" },
        y: { label: "return" },
        lines: units.map(({ name, title: label }) => ({ name: label, ...curveOf(resultsOf(results, name)) })),
        references: units.map(({ title: label, published }) => ({
          label: `${label}, published`,
          low: published.low,
          ...(published.high === published.low ? {} : { high: published.high }),
        })),
      },
    ],
  };
}

const SLICE = 1_000;

async function trainAndEvaluate({
  seed,
  unit,
  config,
  kernels,
  progress,
  signal,
}: StudyJob<RlConfig>): Promise<RlResult> {
  const { algorithm, totalSteps } = config.units[unit] as RlUnitConfig;
  const evaluationSeed = EVALUATION_SEED_OFFSET + seed;
  const training = new Training({
    envId: config.envId,
    algorithm,
    seed,
    kernels,
    totalSteps,
    evaluation: { every: totalSteps / config.checkpoints, episodes: config.episodes, seed: evaluationSeed },
  });
  while (!training.isDone) {
    signal.throwIfAborted();
    training.advance(SLICE);
    progress(training.steps / totalSteps);
  }
  const last = training.evaluate({ episodes: config.finalEpisodes, seed: evaluationSeed });
  const curve = training.evaluations.map(({ steps, mean: score }) => ({ steps, mean: score }));
  training.dispose();
  return { curve, final: last.mean };
}

function resultsOf(results: readonly UnitResult<RlResult>[], unit: string): readonly RlResult[] {
  return results.filter((r) => r.unit === unit).map((r) => r.result);
}

function rowsOf(unit: RlUnit, results: readonly RlResult[]): StudyRow[] {
  const { name, title, published, atLeast, reachedWithin } = unit;
  const rng = seededRng(0).fork(name);
  // Promises of the learners in this package: the published figures are of other implementations and protocols, and say
  // what level to expect.
  const final: ClaimRow = {
    id: `${name}-final`,
    what: `${title}: return of the last policy`,
    paper: published,
    ours: estimateOver(
      results.map((r) => r.final),
      { unit: "return", rng },
    ),
    claim: `at least ${atLeast}`,
  };
  const rows = [promiseAtLeast(final, atLeast)];
  if (reachedWithin !== undefined) {
    const steps = results.map(({ curve }) => curve.find((p) => p.mean >= atLeast)?.steps ?? 2 * reachedWithin);
    const reached: ClaimRow = {
      id: `${name}-steps`,
      what: `${title}: steps to the first evaluation of ${atLeast} (never counts as ${2 * reachedWithin})`,
      paper: null,
      ours: estimateOver(steps, { unit: "steps", rng: rng.fork("steps") }),
      claim: `at most ${reachedWithin} steps`,
    };
    rows.push(promiseAtMost(reached, reachedWithin));
  }
  return rows;
}

function curveOf(results: readonly RlResult[]) {
  const x = results[0]?.curve.map((p) => p.steps) ?? [];
  const points = x.map((_, i) => {
    const scores = results.map((r) => r.curve[i]?.mean ?? mean(r.curve.map((p) => p.mean)));
    return bootstrap(scores, interquartileMean, { rng: seededRng(0).fork(i), resamples: 2_000 });
  });
  return { x, y: points.map((p) => p.estimate), lo: points.map((p) => p.lo), hi: points.map((p) => p.hi) };
}
