/**
 * One workload under everybody who learns nothing: tuned rules, autoscalers as people run them, an allocation that never
 * changes, and the bound. What is between rules and bound is all that can be won.
 * Not here: the table that is made of it (aware-headroom.ts).
 */
import { drawScene, openWorld } from "../../pretraining/index.ts";
import type { StudyJob } from "../study.ts";
import type { BoundOutcome } from "./bound.ts";
import { BoundSearch } from "./bound.ts";
import type { AwareConfig } from "./config.ts";
import type { EpisodeTruth } from "./drive.ts";
import { countEpisodes, type EpisodeCount, type Life, lifeOf, play } from "./life.ts";
import { loadPool } from "./loads.ts";
import { rulesOnly } from "./methods.ts";
import { opponentDriver, opponentStart, opponents } from "./opponents.ts";
import type { Rules } from "./rules.ts";
import { openSetting, type Setting } from "./setting.ts";
import { recorded } from "./training-lives.ts";

export interface HeadroomConfig extends Pick<AwareConfig, "loads" | "rung" | "alpha" | "episodeSteps"> {
  readonly rules: AwareConfig["rules"];
  readonly trialHours: number;
  readonly slots: readonly number[];
  readonly episodes: number;
  /** Share of steps that may miss the SLO. */
  readonly budget: number;
  /** How many pods the bound tries. */
  readonly counts: readonly number[];
}

export interface HeadroomResult {
  readonly rules: Rules;
  /** By method. */
  readonly lives: Readonly<Record<string, Life>>;
  /** What the bound was: its kind, pods, and factor over the load or millicores. */
  readonly bound: { readonly by: string; readonly replicas: number; readonly level: number };
  /** null: none was found, and the rules' life stands in its place. */
  readonly constant: { readonly replicas: number; readonly cpu: number } | null;
}

export const headroomMethods = [
  "rules",
  ...opponents.map(({ id }) => id),
  "constant",
  "bound",
  "bound-budget",
] as const;

export async function playHeadroom(job: StudyJob<HeadroomConfig>, slot: number): Promise<HeadroomResult> {
  const { seed, config } = job;
  const { episodes, rung } = config;
  const pool = await loadPool(config.loads, seed);
  const drawn = drawScene({ seed, slot, days: "varied", ...recorded(pool) });
  const setting = openSetting(drawn, { seed, config });
  // How many plays the search takes is not known before; forty is much.
  const count = countEpisodes(job, 40 * episodes);
  const rules = playRules(setting, { episodes, rung, count });
  const lives: Record<string, Life> = { rules: lifeOf(rules, 0) };
  for (const opponent of opponents) {
    const world = openWorld(setting.scene, {
      seed: setting.worldSeed,
      rung,
      initial: opponentStart(drawn, opponent),
    });
    const driver = opponentDriver(drawn, opponent);
    lives[opponent.id] = lifeOf(play({ setting, world, driver, episodes, count }), 0);
  }
  const budget = Math.floor(config.budget * episodes * config.episodeSteps);
  const strict = Math.min(budget, violationsOf(rules));
  const search = new BoundSearch({ ...boundLife(setting, config), count }, budget);
  const constant = search.constant(strict) ?? search.constant(budget);
  const bound = cheapest(rules, { limit: strict, found: [search.schedule(strict), constant] });
  const inBudget = cheapest(rules, {
    limit: budget,
    found: [search.schedule(budget), constant],
  });
  lives.constant = lifeOf(constant?.truths ?? rules, 0);
  lives.bound = lifeOf(bound.truths, 0);
  lives["bound-budget"] = lifeOf(inBudget.truths, 0);
  const { by, replicas, level } = bound;
  return {
    rules: setting.rules,
    lives,
    bound: { by, replicas, level },
    constant: constant ? { replicas: constant.replicas, cpu: constant.level } : null,
  };
}

function boundLife(setting: Setting, { episodes, rung, counts }: HeadroomConfig) {
  const { scene, task, worldSeed: seed } = setting;
  return { scene, task, seed, rung, episodes, counts };
}

interface RulesLife extends Pick<HeadroomConfig, "episodes" | "rung"> {
  readonly count: EpisodeCount;
}

function playRules(setting: Setting, { episodes, rung, count }: RulesLife): EpisodeTruth[] {
  const world = openWorld(setting.scene, { seed: setting.worldSeed, rung });
  return play({ setting, world, driver: rulesOnly(setting), episodes, count });
}

interface Candidate {
  readonly by: string;
  readonly truths: readonly EpisodeTruth[];
  readonly replicas: number;
  readonly level: number;
}

/** A bound is never dearer than what was seen to do: the rules themselves, where they keep the limit or nothing else does. */
function cheapest(
  rules: readonly EpisodeTruth[],
  { limit, found }: { readonly limit: number; readonly found: readonly (BoundOutcome | undefined)[] },
): Candidate {
  const candidates: Candidate[] = [{ by: "rules", truths: rules, replicas: 0, level: 0 }];
  for (const one of found)
    if (one !== undefined)
      candidates.push({ by: one.kind, truths: one.truths, replicas: one.replicas, level: one.level });
  const within = candidates.filter(({ truths }) => violationsOf(truths) <= limit);
  const choice =
    within.length > 0 ? within : candidates.filter(({ truths }) => violationsOf(truths) <= fewest(candidates));
  return choice.reduce((best, one) => (costOfLife(one.truths) < costOfLife(best.truths) ? one : best));
}

const fewest = (candidates: readonly Candidate[]): number =>
  Math.min(...candidates.map(({ truths }) => violationsOf(truths)));

const violationsOf = (truths: readonly EpisodeTruth[]): number =>
  truths.reduce((sum, { violations }) => sum + violations, 0);
const costOfLife = (truths: readonly EpisodeTruth[]): number => truths.reduce((sum, { cost }) => sum + cost, 0);
