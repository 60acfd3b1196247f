/**
 * A fleet through changes of its members.
 * Owns: one such run, what it loses at a change, how long until that is made good, scores of runs over seeds. Not here: claims (simppo-churn.ts).
 */
import { type Rng, seededRng, type WorkloadId } from "../../base/index.ts";
import { FleetTraining, variants } from "../../control/agents/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { type FunctionProfile, functionKind, functionKinds, functionMix, functionNames } from "../../sim/index.ts";
import { estimateOver } from "../claim.ts";
import { mean } from "../statistics/index.ts";
import type { Estimate, UnitResult } from "../study.ts";
import { functionId, Scene, type SceneConfig } from "./scene.ts";
import { type FunctionScore, Score } from "./score.ts";

export interface ChurnConfig {
  /** Its load is that of all functions it may come to have, so that there is room for those who join. */
  readonly scene: SceneConfig;
  /** Functions to begin with. */
  readonly first: number;
  /** Episodes between two changes, and after the last. */
  readonly every: number;
  /** How many join, or leave where it is negative. */
  readonly changes: readonly number[];
  /** Episodes in which policies are served before the first change, without learning; none unless given. */
  readonly serveEpisodes?: number;
}

export type ChurnVariant = "simppo" | "simppo-no-sharing";

export interface ChurnResult {
  /** Mean over agents of what each earned, episode by episode. */
  readonly curve: readonly number[];
  readonly members: readonly number[];
  /** Before the first change. */
  readonly served: readonly FunctionScore[];
}

export interface ChurnRun {
  readonly variant: ChurnVariant;
  readonly seed: number;
  readonly config: ChurnConfig;
  readonly kernels: Kernels;
  readonly progress: (fraction: number) => void;
}

export function runChurn({ variant, seed, config, kernels, progress }: ChurnRun): ChurnResult {
  const scene = new Scene(config.scene);
  const chance = seededRng(seed).fork("churn");
  const profiles = new Map<WorkloadId, FunctionProfile>();
  const known = functionMix(functionNames.length);
  const first = scene.functions.slice(0, config.first);
  for (const { id, profile } of first) profiles.set(id, profile);
  const fleet = new FleetTraining({
    fleet: scene.fleet(first),
    variant: variants[variant],
    kernels,
    seed,
    pool: scene.pool,
    bounds: scene.bounds,
    groups: { names: functionKinds, of: (workload) => functionKind(profiles.get(workload)?.name ?? "") },
  });
  const curve: number[] = [];
  const members: number[] = [];
  const learn = (): void => {
    for (let i = 0; i < config.every; i++) {
      curve.push(fleet.episode({ learning: true }).reward);
      progress(curve.length / (config.every * (config.changes.length + 1)));
    }
    members.push(profiles.size);
  };
  let next = first.length;
  learn();
  const score = new Score();
  for (let i = 0; i < (config.serveEpisodes ?? 0); i++)
    fleet.episode({ learning: false, explore: true, onStep: (world) => score.add(world) });
  for (const change of config.changes) {
    for (let i = 0; i < Math.abs(change); i++) {
      if (change > 0) {
        const profile = known[chance.int(known.length)] as FunctionProfile;
        profiles.set(functionId(next), profile);
        fleet.join(scene.function(next, profile));
        next += 1;
      } else {
        const leaving = [...profiles.keys()][chance.int(profiles.size)] as WorkloadId;
        profiles.delete(leaving);
        fleet.leave(leaving);
      }
    }
    learn();
  }
  return { curve, members, served: score.done() };
}

const BEFORE = 50;
const AFTER = 10;
const WITHIN = 0.02;

/** What the last episodes before a change earned. */
function before({ curve }: ChurnResult, { every }: Pick<ChurnConfig, "every">, change: number): number {
  const at = (change + 1) * every;
  return mean(curve.slice(at - Math.min(BEFORE, Math.ceil(every / 2)), at));
}

/** Part of the reward that the first episodes after a change lack. */
export function rewardDrop(result: ChurnResult, config: Pick<ChurnConfig, "every">, change: number): number {
  const at = (change + 1) * config.every;
  return 1 - mean(result.curve.slice(at, at + AFTER)) / before(result, config, change);
}

/** What counts where they never do: more than anybody waits for. */
export const NEVER = 1_000;

/** Until ten episodes earn within 2 % of before. */
export function episodesToReturn(result: ChurnResult, config: Pick<ChurnConfig, "every">, change: number): number {
  const at = (change + 1) * config.every;
  const enough = (1 - WITHIN) * before(result, config, change);
  for (let i = 0; i + AFTER <= config.every; i++)
    if (mean(result.curve.slice(at + i, at + i + AFTER)) >= enough) return i;
  return NEVER;
}

/** Estimates over seeds of what is scored from one run of each unit that is named; a seed that lacks one is left out. */
export function overRuns(results: readonly UnitResult<ChurnResult>[], rng: Rng) {
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  const of = (unit: string, seed: number) =>
    results.find((result) => result.unit === unit && result.seed === seed)?.result;
  return (units: readonly string[], { id, unit, score }: RunsScore): Estimate =>
    estimateOver(
      seeds.flatMap((seed) => {
        const runs = units.map((one) => of(one, seed));
        return runs.some((run) => run === undefined) ? [] : [score(...(runs as ChurnResult[]))];
      }),
      { unit, rng: rng.fork(id) },
    );
}

interface RunsScore {
  readonly id: string;
  readonly unit: string;
  readonly score: (...runs: ChurnResult[]) => number;
}
