/**
 * How often functions are called: SIMPPO's invocation patterns, a rate for each step.
 * Owns: drawing the rate of a step. Not here: drawing calls within it (cluster/workloads/arrivals.ts), reading the records
 * (adapters/datasets).
 *
 * Section 4 of the paper: the rate of each RL step is drawn uniformly from all function-minutes of the Azure traces, or from
 * synthetic patterns with Poisson arrivals whose parameter goes from zero to the largest that was seen. A step's rate depends
 * on the seed and the step only, so every controller that is compared meets the same.
 */
import type { Rng } from "../../base/index.ts";
import type { FunctionProfile } from "./functions.ts";
import type { InvokerSpec } from "./invokers.ts";

/** Calls per second. */
export type InvocationPattern =
  /** Drawn anew each step from recorded rates, minutes without calls among them. */
  | { readonly kind: "recorded"; readonly rates: ArrayLike<number> }
  | { readonly kind: "flat"; readonly rate: number }
  /** A sine between two rates, `period` steps long, begun at a phase of its own. */
  | { readonly kind: "fluctuating"; readonly low: number; readonly high: number; readonly period: number }
  /** Drawn anew each step, uniformly from nothing to the most. */
  | { readonly kind: "poisson"; readonly most: number };

/** Of the step with a number, whatever was asked before. */
export function rateOfStep(pattern: InvocationPattern, rng: Rng, step: number): number {
  switch (pattern.kind) {
    case "recorded":
      return pattern.rates[rng.fork(step).int(pattern.rates.length)]!;
    case "flat":
      return pattern.rate;
    case "fluctuating": {
      const phase = rng.fork("phase").next() + step / pattern.period;
      return pattern.low + ((pattern.high - pattern.low) * (1 + Math.sin(2 * Math.PI * phase))) / 2;
    }
    case "poisson":
      return pattern.most * rng.fork(step).next();
  }
}

/** The end of a sentence about a function; undefined where the pattern can be run. */
export function patternProblem(pattern: InvocationPattern): string | undefined {
  const isRate = (rate: number | undefined): boolean => rate !== undefined && Number.isFinite(rate) && rate >= 0;
  switch (pattern.kind) {
    case "recorded":
      if (pattern.rates.length === 0) return "has no recorded rates";
      return Array.from(pattern.rates).every(isRate) ? undefined : "has a recorded rate that is no rate";
    case "flat":
      return isRate(pattern.rate) ? undefined : `has a flat rate of ${pattern.rate}`;
    case "fluctuating":
      if (!isRate(pattern.low) || !isRate(pattern.high)) return "fluctuates between rates that are none";
      return pattern.period > 0 ? undefined : `fluctuates with a period of ${pattern.period} steps`;
    case "poisson":
      return isRate(pattern.most) ? undefined : `has a largest rate of ${pattern.most}`;
  }
}

/** Calls a minute below which a recorded function is left out: most of its minutes are empty, and an agent would learn nothing. */
const FEWEST_PER_MINUTE = 10;

export interface Sizing {
  readonly invokers: readonly InvokerSpec[];
  readonly functions: number;
  /** Mean of containers at work, as a part of all cores; default 0.3. Assumed [0.1..0.6]. */
  readonly load?: number;
}

/** Calls per second at which a function keeps as many containers at work as its part of the cluster has cores, on average. */
function meanRateFor({ compute, io }: FunctionProfile, { invokers, functions, load = 0.3 }: Sizing): number {
  const cores = invokers.reduce((sum, { cores: own, speed }) => sum + own * speed, 0);
  return ((load * cores) / functions / (compute.time + io.time)) * 1_000;
}

/**
 * Rates of recorded function-minutes for one function of a cluster. The paper's cluster is as large as its functions need,
 * and grows with them (section 7.4), so the records give the shape and the cluster the scale: their mean becomes the rate at
 * which the function has its part of the cluster at work. A function that is alone must be able to keep its SLO, or no controller
 * could be told from another: rates above what one invoker computes at 70 % of its cores are cut to that.
 */
export function recordedPattern(
  records: readonly { readonly counts: ArrayLike<number> }[],
  profile: FunctionProfile,
  sizing: Sizing,
): InvocationPattern {
  const often = records.filter(({ counts }) => sum(counts) >= FEWEST_PER_MINUTE * counts.length);
  const all = often.flatMap(({ counts }) => Array.from(counts));
  const mean = all.length > 0 ? sum(all) / all.length : 0;
  const scale = mean > 0 ? meanRateFor(profile, sizing) / mean : 0;
  const { compute } = profile;
  const most = Math.min(...sizing.invokers.map(({ cores, speed }) => (0.7 * cores * speed * 1_000) / compute.time));
  return { kind: "recorded", rates: Float64Array.from(all, (count) => Math.min(most, count * scale)) };
}

/** The synthetic pattern of the same mean. */
export const poissonPattern = (
  profile: FunctionProfile,
  sizing: Sizing,
): Extract<InvocationPattern, { kind: "poisson" }> => ({
  kind: "poisson",
  most: 2 * meanRateFor(profile, sizing),
});

const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, value) => total + value, 0);
