/**
 * What an adaptation cost, worked out from its life: Figure 8's four measures, and the reward lost without any.
 * Owns: the measures of one method on one workload, and figures of them. Not here: the claims (adaptation-rows.ts).
 */
import type { Figure } from "../../adapters/plot/index.ts";
import type { PoolKind } from "../../pretraining/index.ts";
import { mean } from "../statistics/index.ts";
import type { UnitResult } from "../study.ts";
import type { AdaptationResult, MethodOutcome, WorkloadOutcome } from "./adaptation.ts";
import { curveOver, meanOver } from "./compare.ts";
import { endLevel, episodesToLevel, type LevelOptions } from "./converge.ts";
import { type Life, type Span, total, utilisation } from "./life.ts";

/** Of one method on one workload. */
export interface Cost {
  /** Until it had converged: to the best level that any method ended on. */
  readonly episodes: number;
  /** To the level that it ended on itself. A method that ends low is there soon. */
  readonly episodesToOwn: number;
  /** Of learning until it had converged, in multiply-adds. */
  readonly work: number;
  /** Steps, until it had converged, and in all episodes. */
  readonly violations: number;
  readonly allViolations: number;
  /** Percentage points less than the converged policy in the same hours, until it had converged. */
  readonly cpuDeficit: number;
  readonly memoryDeficit: number;
  /** The reward of the last episodes. */
  readonly end: number;
}

/**
 * Shares of what could be earned in the same hours, as far as anybody knows: their ups and downs are in the rewards of
 * the rules and of the converged policy too. The better of the two, since each fails on some workloads.
 */
const sharesOf = ({ rules, converged }: WorkloadOutcome, { reward }: Life): readonly number[] =>
  reward.map((earned, e) => earned / Math.max(1, rules.reward[e] ?? 1, converged.reward[e] ?? 1));

export function costOf(workload: WorkloadOutcome, method: string, level: LevelOptions): Cost {
  const { converged, methods } = workload;
  const outcome = outcomeOf(workload, method);
  const { life } = outcome;
  const best = Math.max(...Object.values(methods).map((one) => endLevel(sharesOf(workload, one.life), level)));
  const curve = sharesOf(workload, life);
  const episodes = episodesToLevel(curve, level, best);
  const span: Span = { from: 0, to: episodes };
  const deficit = (resource: "cpu" | "memory") =>
    100 * Math.max(0, utilisation(converged, resource, span) - utilisation(life, resource, span));
  return {
    episodes,
    episodesToOwn: episodesToLevel(curve, level),
    work: workUntil(outcome, episodes),
    violations: total(life, "violations", span),
    allViolations: total(life, "violations"),
    cpuDeficit: deficit("cpu"),
    memoryDeficit: deficit("memory"),
    end: endLevel(life.reward, level),
  };
}

function workUntil({ updates, work }: MethodOutcome, episodes: number): number {
  const done = episodes === 0 ? 0 : (updates[episodes - 1] ?? 0);
  return done * work.perUpdate + episodes * work.perEpisode;
}

/** An episode of a method's learning, in multiply-adds: the measure of work that a row can add one of. */
export function episodeWork(workload: WorkloadOutcome, method: string): number {
  const { updates, work } = outcomeOf(workload, method);
  return ((updates.at(-1) ?? 0) / Math.max(1, updates.length)) * work.perUpdate + work.perEpisode;
}

export function outcomeOf({ methods, application }: WorkloadOutcome, method: string): MethodOutcome {
  const outcome = methods[method];
  if (outcome === undefined) throw new Error(`${application} was not met by ${method}`);
  return outcome;
}

/** Rewards without learning, and the converged policy's in the same hours. */
export function stillRewards(
  workload: WorkloadOutcome,
  method: string,
): { readonly still: number; readonly converged: number } {
  const still = outcomeOf(workload, method).still?.reward ?? [];
  return {
    still: still.reduce((sum, reward) => sum + reward, 0),
    converged: total(workload.converged, "reward", { from: 0, to: still.length }),
  };
}

export type AdaptationResults = readonly UnitResult<AdaptationResult>[];

/** A list of workloads per seed. */
export function workloadsBySeed(results: AdaptationResults, pool: PoolKind): readonly (readonly WorkloadOutcome[])[] {
  const seeds = new Map<number, WorkloadOutcome[]>();
  for (const { seed, result } of results) {
    if (result.pool === pool) seeds.set(seed, [...(seeds.get(seed) ?? []), ...result.workloads]);
  }
  return [...seeds.values()];
}

interface Named {
  readonly id: string;
  readonly title: string;
}

export interface FigureOptions {
  readonly methods: readonly Named[];
  readonly level: LevelOptions;
  readonly episodes: number;
}

export function adaptationFigures(results: AdaptationResults, options: FigureOptions): readonly Figure[] {
  return [rewardFigure(results, options), costFigure(results, options)];
}

function rewardFigure(results: AdaptationResults, { methods, episodes }: FigureOptions): Figure {
  const seeds = workloadsBySeed(results, "split");
  const block = Math.max(1, Math.round(episodes / 20));
  const line = (name: string, life: (workload: WorkloadOutcome) => Life) => ({
    name,
    ...curveOver(
      seeds.map((workloads) =>
        Array.from({ length: episodes }, (_, e) => mean(workloads.map((workload) => life(workload).reward[e] ?? 0))),
      ),
      block,
    ),
  });
  return {
    kind: "lines",
    id: "reward",
    title: "Reward per episode on workloads that were never seen",
    subtitle: `means of ${block} episodes and of a seed's workloads; bands are 95 % bootstrap intervals over seeds`,
    x: { label: "episode on the new workload" },
    y: { label: "reward of an episode" },
    lines: [
      ...methods.map(({ id, title }) => line(title, (workload) => outcomeOf(workload, id).life)),
      line("HPA and VPA", ({ rules }) => rules),
      line("converged policy", ({ converged }) => converged),
    ],
  };
}

/** TL is 100 %: the measures have different units. */
function costFigure(results: AdaptationResults, { methods, level }: FigureOptions): Figure {
  const seeds = workloadsBySeed(results, "split");
  const bars = (group: string, measure: (cost: Cost) => number) => {
    const all = (method: string, workloads: readonly WorkloadOutcome[]) =>
      mean(workloads.map((workload) => measure(costOf(workload, method, level))));
    const whole = mean(seeds.map((workloads) => all("tl", workloads)));
    return methods.map(({ id, title }) => {
      const values = seeds.map((workloads) => (whole > 0 ? (100 * all(id, workloads)) / whole : 0));
      const { mean: value, lo, hi } = meanOver(values, { id: `${group} ${id}`, unit: "%" });
      return { label: title, group, value, lo, hi };
    });
  };
  return {
    kind: "bars",
    id: "cost",
    title: "What adapting to a workload that was never seen costs",
    subtitle: "as percentages of TL's mean, with 95 % bootstrap intervals over seeds",
    y: { label: "percent of TL" },
    bars: [
      ...bars("episodes", ({ episodes }) => episodes),
      ...bars("learning work", ({ work }) => work),
      ...bars("CPU deficit", ({ cpuDeficit }) => cpuDeficit),
      ...bars("memory deficit", ({ memoryDeficit }) => memoryDeficit),
      ...bars("violations", ({ violations }) => violations),
    ],
  };
}
