/**
 * What the studies of many functions on one platform share: their arms, run by name, and the arithmetic of their rows.
 * Owns: running one arm, pairing arms by seed, ratios over functions. Not here: what is claimed (one file for each study).
 */
import type { Figure } from "../../adapters/plot/index.ts";
import { type Rng, seededRng } from "../../base/index.ts";
import { type VariantName, variantNames } from "../../control/agents/index.ts";
import { estimateOver } from "../claim.ts";
import { mean, median } from "../statistics/index.ts";
import type { Estimate, StudyJob, UnitResult } from "../study.ts";
import { type ArmConfig, type ArmResult, type RuleArm, runRules, trainApart, trainTogether } from "./arms.ts";
import { usualScene } from "./scene.ts";

/** An arm alone on the platform has a second result. */
export interface Compared {
  readonly together: ArmResult;
  readonly alone: ArmResult | null;
}

export type ComparedArm = RuleArm | "s-rl-alone" | VariantName;
export type Results = readonly UnitResult<Compared>[];

/** The paper's agents converge within 280 to 350 episodes alone and 500 together; all get the same here. */
export const comparisonConfig = ({ quick }: { readonly quick: boolean }): ArmConfig => ({
  scene: { ...usualScene, ...(quick ? { rung: "fluid" as const } : {}) },
  trainRung: "fluid",
  trainEpisodes: quick ? 12 : 400,
  serveEpisodes: quick ? 1 : 6,
  badChoices: "masked",
});

export function runArm({ unit, seed, config, kernels, progress }: StudyJob<ArmConfig>): Compared {
  const run = { config, kernels, seed, progress };
  const arm = unit as ComparedArm;
  if (arm === "s-rl-alone") return trainApart(run);
  if ((variantNames as readonly string[]).includes(arm))
    return { together: trainTogether(arm as VariantName, run), alone: null };
  const alone = arm === "ensure" ? runRules(arm, run, { alone: true }) : null;
  return { together: runRules(arm as RuleArm, run), alone };
}

/** One number for each seed, of one arm or of two that met the same episodes. */
export class Comparison {
  readonly #results: Results;
  readonly #rng: Rng;

  constructor(results: Results, study: string) {
    this.#results = results;
    this.#rng = seededRng(1).fork(study);
  }

  get seeds(): readonly number[] {
    return [...new Set(this.#results.map(({ seed }) => seed))];
  }

  of(arm: ComparedArm, seed: number): Compared {
    return this.#results.find((result) => result.unit === arm && result.seed === seed)?.result as Compared;
  }

  /** Seeds that all these arms were run on: a run that was cut short has fewer. */
  over(
    arms: readonly ComparedArm[],
    { id, unit, score }: { readonly id: string; readonly unit: string; readonly score: (seed: number) => number },
  ): Estimate {
    const seeds = this.seeds.filter((seed) => arms.every((arm) => this.of(arm, seed) !== undefined));
    return estimateOver(seeds.map(score), { unit, rng: this.#rng.fork(id) });
  }
}

/** Of one arm's 99th percentiles over another's, function by function: the median of functions. */
export function latencyRatio(one: ArmResult, than: ArmResult): number {
  const base = new Map(than.served.map(({ workload, p99 }) => [workload, p99]));
  return median(one.served.map(({ workload, p99 }) => p99 / Math.max(1, base.get(workload) ?? 1)));
}

export const servedMean = (
  { served }: ArmResult,
  what: "reward" | "missedCalls" | "missedSteps" | "coresAsked" | "memoryAsked" | "cpuUse",
): number => mean(served.map((one) => one[what]));

/** What agents earned in the last fifth of their training. */
export const learnedReward = ({ curve }: ArmResult): number =>
  mean(curve.slice(-Math.max(1, Math.floor(curve.length / 5))));

/** Rewards over episodes, smoothed over ten, as means over seeds. */
export function trainingCurves(
  comparison: Comparison,
  arms: readonly { readonly name: string; readonly of: (seed: number) => readonly number[] | undefined }[],
): Figure {
  return {
    kind: "lines",
    id: "training",
    title: "Reward of an episode, in training",
    subtitle: `Mean over agents and ${comparison.seeds.length} seeds, smoothed over ten episodes`,
    x: { label: "episodes" },
    y: { label: "reward" },
    lines: arms.map(({ name, of }) => ({ name, ...smoothedCurve(comparison.seeds.map((seed) => of(seed) ?? [])) })),
  };
}

/** The mean of several curves, smoothed over ten episodes, as far as all of them go. */
export function smoothedCurve(curves: readonly (readonly number[])[]): { readonly x: number[]; readonly y: number[] } {
  const smooth = curves.filter(({ length }) => length > 0).map(smoothed);
  const length = Math.min(...smooth.map((curve) => curve.length), Number.MAX_SAFE_INTEGER);
  const x = smooth.length === 0 ? [] : Array.from({ length }, (_, i) => (i + 1) * SMOOTH);
  return { x, y: x.map((_, i) => mean(smooth.map((curve) => curve[i] as number))) };
}

const SMOOTH = 10;
const smoothed = (curve: readonly number[]): readonly number[] =>
  Array.from({ length: Math.floor(curve.length / SMOOTH) }, (_, i) => mean(curve.slice(i * SMOOTH, (i + 1) * SMOOTH)));
