/**
 * What a policy would earn per episode, from episodes that another one played: fitted-Q evaluation, doubly robust, and
 * how far either may be believed. The gate from OFFLINE to ONLINE rests on the lower bound.
 * Owns: the order of the estimates, resampling of episodes, intervals, the caveats.
 * Not here: the estimates themselves (fitted-q.ts, doubly-robust.ts), what is done with them (control/lifecycle).
 */

import type { Result, Rng } from "../../../base/index.ts";
import { ok, seededRng } from "../../../base/index.ts";
import type { Learner } from "../learner.ts";
import type { Behaviour } from "./doubly-robust.ts";
import { effectiveSteps, fitBehaviour, importanceWeights, shareOutside } from "./doubly-robust.ts";
import type { BlockSums, Features } from "./fitted-q.ts";
import { blockSums, fitQ } from "./fitted-q.ts";
import { fourierFeatures } from "./fourier-features.ts";
import type { Interval } from "./intervals.ts";
import { drawCounts, intervalOf } from "./intervals.ts";
import { dot } from "./ridge.ts";
import type { PolicyFunction, StepTable, StepTableOptions } from "./step-table.ts";
import { stepTable } from "./step-table.ts";

export interface OffPolicyConfig {
  /** Steps of an episode: what is estimated is the sum of that many rewards. */
  readonly horizon: number;
  /** Random cosines on which Q is linear. */
  readonly features: number;
  /** Ridge per row of data, of Q and of the behaviour. */
  readonly ridge: number;
  /** The least width of the behaviour's and the policy's densities, in actions of [−1, 1]. */
  readonly sigmaFloor: number;
  /** Volume of the policy's density as a share of the behaviour's; see WeightOptions. */
  readonly policyWidth: number;
  /** Steps whose importance ratios are multiplied. */
  readonly window: number;
  /** The most that one step's importance ratio may be. */
  readonly weightClip: number;
  /** Fits on resampled episodes, for the intervals. */
  readonly resamples: number;
  /** With fewer effective steps than this share of all, the doubly robust correction is not trusted. */
  readonly leastShare: number;
  /** An action this many of the behaviour's widths away from its mean was never seen: the step counts as the worst one recorded. */
  readonly reach: number;
}

export const offPolicyDefaults: OffPolicyConfig = {
  horizon: 100,
  features: 96,
  ridge: 1e-4,
  sigmaFloor: 0.05,
  policyWidth: 0.3,
  window: 1,
  weightClip: 5,
  resamples: 100,
  leastShare: 0.05,
  reach: 3,
};

export interface ReturnEstimate {
  /** Reward per episode of `horizon` steps, by fitted-Q evaluation and with the doubly robust correction. */
  readonly fqe: Interval;
  readonly dr: Interval;
  /** What the recorded episodes earned themselves. */
  readonly behaviour: Interval;
  /** The believed estimate less the behaviour's own reward, resampled together: the luck of the episodes is in both and cancels. */
  readonly gain: Interval;
  /** Doubly robust where enough recorded steps speak for the policy, else fitted-Q. */
  readonly believed: "doubly-robust" | "fitted-q";
  /**
   * What the policy earns at least: the lower end of the believed estimate (of both, where the correction is not
   * believed), less what the steps outside of the record would cost if each paid the worst reward recorded. No estimate
   * can know what was never tried.
   */
  readonly lower: number;
  /** Why the estimate should be read with care; empty when nothing is known against it. */
  readonly caveats: readonly string[];
  /** Recorded steps; how many of them the weighted ones are worth; the share in which the policy would do what was never seen. */
  readonly steps: number;
  readonly effectiveSteps: number;
  readonly outside: number;
  /** Fitted-Q value of each episode's first state. */
  readonly perEpisode: Float64Array;
}

export interface EstimateOptions extends StepTableOptions {
  readonly seed: number;
  readonly config?: Partial<OffPolicyConfig>;
}

/** A learner's own best choices as a policy to be judged. */
export function policyOf(learner: Pick<Learner, "act">): PolicyFunction {
  return (obs, actorContext) => {
    const decided = learner.act(obs, { explore: false, ...(actorContext ? { actorContext } : {}) });
    return decided.ok ? ok(decided.value.action) : decided;
  };
}

export function estimateReturn(options: EstimateOptions): Result<ReturnEstimate> {
  const tabled = stepTable(options);
  if (!tabled.ok) return tabled;
  const table = tabled.value;
  const config = { ...offPolicyDefaults, ...options.config };
  const rng = seededRng(options.seed).fork("off-policy estimate");
  const evidence = gather(table, config, rng);
  const whole = estimateOnce(evidence, new Float64Array(evidence.blocks.length).fill(1));
  const draws = Array.from({ length: config.resamples }, (_, i) =>
    estimateOnce(evidence, drawCounts(evidence.blocks.length, rng.fork(`resample ${i}`))),
  );
  const effective = effectiveSteps(evidence.weights);
  const outside = shareOutside(table, evidence.behaviour, config.reach);
  const believed = effective >= config.leastShare * table.rows ? "doubly-robust" : "fitted-q";
  const interval = (of: (estimate: Estimate) => number) => intervalOf(of(whole), draws.map(of), evidence.blocks.length);
  const best = (estimate: Estimate) => (believed === "doubly-robust" ? estimate.dr : estimate.fqe);
  const intervals = { fqe: interval((e) => e.fqe), dr: interval((e) => e.dr) };
  return ok({
    ...intervals,
    behaviour: interval((e) => e.behaviour),
    gain: interval((e) => best(e) - e.behaviour),
    believed,
    lower: boundOf(believed, intervals) - outside * (config.horizon * evidence.centre - evidence.least),
    caveats: caveatsOf({ believed, effective, outside, table, whole, draws }),
    steps: table.rows,
    effectiveSteps: effective,
    outside,
    perEpisode: evidence.valuesOf(whole.weights),
  });
}

/** Where the correction is not to be believed it may still warn: then the lower of the two bounds holds. */
function boundOf(
  believed: ReturnEstimate["believed"],
  { fqe, dr }: { readonly fqe: Interval; readonly dr: Interval },
): number {
  return believed === "doubly-robust" ? dr.lo : Math.min(fqe.lo, dr.lo);
}

// ── Evidence: what all resamples share ─────────────────────────────────────────────────────────────────

interface Evidence {
  readonly table: StepTable;
  readonly config: OffPolicyConfig;
  readonly features: Features;
  readonly blocks: readonly Block[];
  readonly behaviour: Behaviour;
  readonly weights: Float64Array;
  readonly centre: number;
  /** The bounds of any return: the horizon's worth of the least and of the most reward seen. */
  readonly least: number;
  readonly most: number;
  valuesOf(weights: Float64Array): Float64Array;
}

/** Neighbouring episodes that are drawn together. */
interface Block {
  readonly sums: BlockSums;
  readonly firstEpisode: number;
  readonly lastEpisode: number;
}

/** More blocks than this say nothing more about the spread, and each costs two matrices. */
const MOST_BLOCKS = 50;

function gather(table: StepTable, config: OffPolicyConfig, rng: Rng): Evidence {
  const { seen, actions, starts, rewards, rows } = table;
  const map = fourierFeatures({ seen, actions, count: config.features, rng: rng.fork("features") });
  const features: Features = {
    size: map.size,
    done: map.of(table.before, table.done),
    wouldDo: map.of(table.before, table.wouldDo),
    wouldDoNext: map.of(table.after, table.wouldDoNext),
  };
  const states = fourierFeatures({ seen, actions: 0, count: config.features, rng: rng.fork("state features") });
  const ofStates = { features: states.of(table.before, new Float64Array(0)), size: states.size };
  const behaviour = fitBehaviour(table, ofStates, config);
  const weights = importanceWeights(table, behaviour, { ...config, clip: config.weightClip });
  const centre = rewards.reduce((sum, r) => sum + r, 0) / rows;
  const episodes = starts.length - 1;
  const count = Math.min(episodes, MOST_BLOCKS);
  const blocks = Array.from({ length: count }, (_, b) => {
    const firstEpisode = Math.floor((b * episodes) / count);
    const lastEpisode = Math.floor(((b + 1) * episodes) / count);
    const range = { from: starts[firstEpisode]!, to: starts[lastEpisode]!, centre };
    return { firstEpisode, lastEpisode, sums: blockSums(table, features, range) };
  });
  const valuesOf = (fitted: Float64Array) =>
    Float64Array.from({ length: episodes }, (_, e) => {
      const at = starts[e]! * map.size;
      const value = dot(features.wouldDo, fitted, { at, bt: config.horizon * map.size, size: map.size });
      return config.horizon * centre + value;
    });
  const least = config.horizon * rewards.reduce((a, r) => Math.min(a, r), Number.POSITIVE_INFINITY);
  const most = config.horizon * rewards.reduce((a, r) => Math.max(a, r), Number.NEGATIVE_INFINITY);
  return { table, config, features, blocks, behaviour, weights, centre, least, most, valuesOf };
}

// ── One estimate, of the whole or of a resample ────────────────────────────────────────────────────────

interface Estimate {
  readonly fqe: number;
  readonly dr: number;
  readonly behaviour: number;
  readonly weights: Float64Array;
  /** Whether fitted values had to be cut to what the rewards allow. */
  readonly isCut: boolean;
}

function estimateOnce(evidence: Evidence, counts: Float64Array): Estimate {
  const { blocks, config, features, least, most } = evidence;
  const { size } = features;
  const sums = blocks.map((block) => block.sums);
  const fitted = fitQ(sums, counts, { size, horizon: config.horizon, ridge: config.ridge });
  const weights = fitted ?? new Float64Array((config.horizon + 1) * size);
  const values = evidence.valuesOf(weights);
  let episodes = 0;
  let value = 0;
  let earned = 0;
  let weighted = 0;
  let weight = 0;
  blocks.forEach(({ firstEpisode, lastEpisode }, b) => {
    const count = counts[b]!;
    for (let e = firstEpisode; count > 0 && e < lastEpisode; e++) {
      episodes += count;
      value += count * values[e]!;
      earned += count * returnOf(evidence.table, e, config.horizon);
      const errors = weightedErrors(evidence, e, weights);
      weighted += count * errors.sum;
      weight += count * errors.weight;
    }
  });
  const raw = value / episodes;
  const within = (x: number) => Math.min(Math.max(x, least), most);
  const correction = weight > 0 ? (config.horizon * weighted) / weight : 0;
  return {
    fqe: within(raw),
    dr: within(raw + correction),
    behaviour: earned / episodes,
    weights,
    isCut: fitted === undefined || within(raw) !== raw,
  };
}

/** The rewards of an episode's first `horizon` steps; one that was cut short is taken to go on as it was. */
function returnOf({ starts, rewards, goesOn }: StepTable, episode: number, horizon: number): number {
  const [from, end] = [starts[episode]!, starts[episode + 1]!];
  const to = Math.min(end, from + horizon);
  let sum = 0;
  for (let row = from; row < to; row++) sum += rewards[row]!;
  return goesOn[to - 1] === 1 ? (sum * horizon) / (to - from) : sum;
}

/** Σ w·(r + V_{h−1}(s′) − Q_h(s, a)) and Σ w over one episode's steps within the horizon. */
function weightedErrors(
  { table, config, features, weights: importance, centre }: Evidence,
  episode: number,
  fitted: Float64Array,
): { readonly sum: number; readonly weight: number } {
  const { starts, rewards, goesOn } = table;
  const { size, done, wouldDoNext } = features;
  const from = starts[episode]!;
  const to = Math.min(starts[episode + 1]!, from + config.horizon);
  let sum = 0;
  let weight = 0;
  for (let row = from; row < to; row++) {
    const left = config.horizon - (row - from);
    const q = dot(done, fitted, { at: row * size, bt: left * size, size });
    const next = goesOn[row] === 1 ? dot(wouldDoNext, fitted, { at: row * size, bt: (left - 1) * size, size }) : 0;
    sum += importance[row]! * (rewards[row]! - centre + next - q);
    weight += importance[row]!;
  }
  return { sum, weight };
}

function caveatsOf({
  believed,
  effective,
  outside,
  table,
  whole,
  draws,
}: {
  readonly believed: ReturnEstimate["believed"];
  readonly effective: number;
  readonly outside: number;
  readonly table: StepTable;
  readonly whole: Estimate;
  readonly draws: readonly Estimate[];
}): string[] {
  const caveats: string[] = [];
  if (believed === "fitted-q") {
    caveats.push(
      `the recorded actions speak for only ${effective.toFixed(0)} of ${table.rows} steps, so the estimate is fitted-Q's and rests on its extrapolation; the bound is the lower of the two`,
    );
  }
  if (outside > 0) {
    caveats.push(
      `in ${(100 * outside).toFixed(0)} % of the steps the policy would do what was never recorded, and the bound counts those at the worst reward`,
    );
  }
  if (table.starts.length - 1 < 5) caveats.push(`${table.starts.length - 1} episodes are too few for an interval`);
  const cut = draws.filter((draw) => draw.isCut).length + (whole.isCut ? 1 : 0);
  if (cut > 0) {
    caveats.push(`${cut} of ${draws.length + 1} fits gave more or less than any reward allows and were cut to that`);
  }
  return caveats;
}
