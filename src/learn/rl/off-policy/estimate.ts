/**
 * What a policy would earn per episode, from episodes that another one played: fitted-Q evaluation, doubly robust, and
 * how far either may be believed. The gate from OFFLINE to ONLINE rests on the lower bound.
 * Owns: the order of the estimates, refits without each block of episodes, intervals, the caveats.
 * Not here: what an estimate is made from (evidence.ts, fitted-q.ts, doubly-robust.ts), what is done with it
 * (control/lifecycle).
 */

import type { Result } from "../../../base/index.ts";
import { ok, seededRng } from "../../../base/index.ts";
import type { Learner } from "../learner.ts";
import type { OffPolicyConfig } from "./config.ts";
import { offPolicyDefaults } from "./config.ts";
import { effectiveSteps, shareOutside } from "./doubly-robust.ts";
import type { Evidence } from "./evidence.ts";
import { gather } from "./evidence.ts";
import type { QFitter } from "./fitted-q.ts";
import { qFitter } from "./fitted-q.ts";
import type { Interval } from "./intervals.ts";
import { intervalOf } from "./intervals.ts";
import { dot } from "./ridge.ts";
import type { PolicyFunction, StepTable, StepTableOptions } from "./step-table.ts";
import { stepTable } from "./step-table.ts";

export interface ReturnEstimate {
  /** Reward per episode of `horizon` steps, by fitted-Q evaluation and with the doubly robust correction. */
  readonly fqe: Interval;
  readonly dr: Interval;
  /** What the recorded episodes earned themselves. */
  readonly behaviour: Interval;
  /** The believed estimate less the behaviour's own reward, both from the same episodes: their luck is in both and cancels. */
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
  const evidence = gather(table, config, seededRng(options.seed).fork("off-policy estimate"));
  const { blocks, features } = evidence;
  const sums = blocks.map((block) => block.sums);
  const fitQ = qFitter(sums, { size: features.size, horizon: config.horizon, ridge: config.ridge });
  const estimate = (counts: Float64Array) => estimateOnce(evidence, fitQ, counts);
  const whole = estimate(new Float64Array(blocks.length).fill(1));
  const perEpisode = evidence.valuesOf(whole.last);
  const leftOut = blocks.length < 2 ? [] : blocks.map((_, out) => estimate(everyBlockBut(out, blocks.length)));
  const effective = effectiveSteps(evidence.weights);
  const outside = shareOutside(table, evidence.behaviour, config.reach);
  const believed = effective >= config.leastShare * table.rows ? "doubly-robust" : "fitted-q";
  const interval = (of: (estimate: Estimate) => number, doubt = 0) => intervalOf(of(whole), leftOut.map(of), doubt);
  const doubt = config.doubt * Math.abs(whole.dr - whole.fqe);
  const intervals = { fqe: interval((e) => e.fqe), dr: interval((e) => e.dr, doubt) };
  const gain =
    believed === "doubly-robust" ? interval((e) => e.dr - e.behaviour, doubt) : interval((e) => e.fqe - e.behaviour);
  return ok({
    ...intervals,
    behaviour: interval((e) => e.behaviour),
    gain,
    believed,
    lower: boundOf(believed, intervals) - outside * (config.horizon * evidence.centre - evidence.least),
    caveats: caveatsOf({ believed, effective, outside, table, whole, leftOut }),
    steps: table.rows,
    effectiveSteps: effective,
    outside,
    perEpisode,
  });
}

/** Where the correction is not to be believed it may still warn: then the lower of the two bounds holds. */
function boundOf(
  believed: ReturnEstimate["believed"],
  { fqe, dr }: { readonly fqe: Interval; readonly dr: Interval },
): number {
  return believed === "doubly-robust" ? dr.lo : Math.min(fqe.lo, dr.lo);
}

interface Estimate {
  readonly fqe: number;
  readonly dr: number;
  readonly behaviour: number;
  /** The fit with the whole horizon to go; gone with the next fit. */
  readonly last: Float64Array;
  /** Whether fitted values had to be cut to what the rewards allow. */
  readonly isCut: boolean;
}

function everyBlockBut(out: number, blocks: number): Float64Array {
  const counts = new Float64Array(blocks).fill(1);
  counts[out] = 0;
  return counts;
}

/** From blocks of episodes that count so many times each. */
function estimateOnce(evidence: Evidence, fitQ: QFitter, counts: Float64Array): Estimate {
  const { blocks, config, features, centre, least, most } = evidence;
  const { size } = features;
  const fitted = fitQ(counts);
  const weights = fitted ?? new Float64Array((config.horizon + 1) * size);
  const last = weights.subarray(config.horizon * size);
  let episodes = 0;
  let value = 0;
  let earned = 0;
  let weighted = 0;
  let weight = 0;
  blocks.forEach((block, b) => {
    const count = counts[b]!;
    if (count === 0) return;
    episodes += count * block.episodes;
    value += count * dot(block.starts, last, { size });
    earned += count * block.earned;
    weighted += count * (block.rewards + dot(block.errors, weights, { size: weights.length }));
    weight += count * block.weight;
  });
  const raw = config.horizon * centre + value / episodes;
  const within = (x: number) => Math.min(Math.max(x, least), most);
  const correction = weight > 0 ? (config.horizon * weighted) / weight : 0;
  return {
    fqe: within(raw),
    dr: within(raw + correction),
    behaviour: earned / episodes,
    last,
    isCut: fitted === undefined || within(raw) !== raw,
  };
}

function caveatsOf({
  believed,
  effective,
  outside,
  table,
  whole,
  leftOut,
}: {
  readonly believed: ReturnEstimate["believed"];
  readonly effective: number;
  readonly outside: number;
  readonly table: StepTable;
  readonly whole: Estimate;
  readonly leftOut: readonly Estimate[];
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
  const cut = [whole, ...leftOut].filter(({ isCut }) => isCut).length;
  if (cut > 0) {
    caveats.push(`${cut} of ${leftOut.length + 1} fits gave more or less than any reward allows and were cut to that`);
  }
  return caveats;
}
