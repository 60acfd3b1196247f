/**
 * AWARE's Figure 10 and a promise beyond it: what training costs the workload that is trained on.
 * Every method lives the same life, from the first step on, exploration included.
 */

import { bootstrapFigures } from "./aware/bootstrap-figures.ts";
import { bootstrapRows, type SceneLives, sweepRows } from "./aware/bootstrap-rows.ts";
import { bySeed } from "./aware/compare.ts";
import type { AwareConfig } from "./aware/config.ts";
import { awareConfig, isSwept } from "./aware/config.ts";
import type { Life } from "./aware/life.ts";
import { aware, awareOfPaper, bootstrappedTo, type LearningMethod, withoutBootstrap } from "./aware/methods.ts";
import { liveFromBirth } from "./aware/training-lives.ts";
import type { Study, StudyJob, UnitResult } from "./study.ts";

export interface BootstrapConfig extends AwareConfig {
  readonly methods: readonly string[];
  /** Scenes per seed: high and low loads in turn, every fourth with a throughput SLO. */
  readonly slots: readonly number[];
  readonly episodes: number;
  /** The last episodes, which are called the end state. */
  readonly endEpisodes: number;
  /** One scene per seed, on as many seeds of ten, for the beginning of its life. */
  readonly sweep: {
    readonly seedsOfTen: number;
    readonly slot: number;
    readonly episodes: number;
    readonly alphas: readonly number[];
    /** Times the fallback's level, in the paper's algorithm. */
    readonly thresholds: readonly number[];
  };
}

type Results = readonly UnitResult<SceneLives>[];

const METHODS = ["rules", "no-bootstrap", "aware-paper", "aware"];

export const awareBootstrap: Study<SceneLives, BootstrapConfig> = {
  id: "aware-bootstrap",
  title: "AWARE: bootstrapping, and what training costs (Figure 10)",
  about:
    "Each workload is trained on from its first step: by the base learner alone (no bootstrapping), by AWARE as published " +
    "(Algorithm 1), by AWARE as built here (with gates, shield and rollback), and beside them the rules alone, HPA and VPA. " +
    "All meet the same requests in the event world; utilisation, violations and reward are the client's truth over the " +
    "whole life. AWARE as published differs from no bootstrapping in the bootstrapping alone; AWARE as built here also in " +
    "gates, shield, and actions in multiples of the need, where both others set limits. Ratios are of sums over each seed's workloads, with paired bootstrap intervals over seeds.",
  world: "event",
  seeds: { quick: 2, full: 10 },
  config: ({ quick }) => ({
    ...awareConfig({ quick }),
    methods: METHODS,
    slots: quick ? [0] : [0, 1, 2, 3],
    episodes: quick ? 25 : 80,
    endEpisodes: quick ? 8 : 30,
    sweep: {
      seedsOfTen: quick ? 0 : 4,
      slot: 0,
      episodes: quick ? 25 : 50,
      alphas: [0.3, 0.7],
      thresholds: [0.8, 1.1],
    },
  }),
  // One scene's lives make one job: they share what is measured on it.
  units: ({ slots }) => slots.map((slot) => `scene/${slot}`),
  runUnit,
  rows: (results, config) => [
    ...bootstrapRows(livesOf(results, config), config),
    ...(config.sweep.seedsOfTen === 0 ? [] : sweepRows(sweptOf(results, config), config)),
  ],
  figures: (results, config) => bootstrapFigures(livesOf(results, config), config),
};

async function runUnit(job: StudyJob<BootstrapConfig>): Promise<SceneLives> {
  const { unit, config } = job;
  const slot = Number(unit.split("/")[1]);
  const planned = plannedLives(job, slot);
  const lives: Record<string, Life> = {};
  for (const [done, { name, ...life }] of planned.entries()) {
    const progress = (fraction: number) => job.progress((done + fraction) / planned.length);
    const own = { ...job, progress, config: { ...config, alpha: life.alpha } };
    lives[name] = await liveFromBirth(own, { ...life, slot });
  }
  return lives;
}

interface PlannedLife {
  readonly name: string;
  readonly alpha: number;
  readonly episodes: number;
  readonly method: LearningMethod | null;
}

function plannedLives({ seed, config }: StudyJob<BootstrapConfig>, slot: number): readonly PlannedLife[] {
  const { alpha, agent, methods, episodes, sweep } = config;
  const lives = methods.map((name) => ({ name, alpha, episodes, method: methodOf(name, config) }));
  if (slot !== sweep.slot || !isSwept(seed, sweep.seedsOfTen)) return lives;
  const short = { alpha, episodes: sweep.episodes };
  return [
    ...lives,
    ...sweep.alphas.map((value) => ({ ...short, name: `alpha-${value}`, alpha: value, method: aware(agent) })),
    ...sweep.thresholds.map((times) => ({ ...short, name: `threshold-${times}`, method: bootstrappedTo(times) })),
  ];
}

function methodOf(name: string, { agent }: BootstrapConfig): LearningMethod | null {
  if (name === "rules") return null;
  if (name === "no-bootstrap") return withoutBootstrap;
  return name === "aware" ? aware(agent) : awareOfPaper;
}

/** Per seed and scene, each method's life. */
function livesOf(results: Results, { slots }: BootstrapConfig): readonly (readonly SceneLives[])[] {
  return bySeed(results).map((units) => slots.map((slot) => units.get(`scene/${slot}`) as SceneLives));
}

/** Per swept seed, every life of the swept scene by its name. */
function sweptOf(results: Results, { sweep }: BootstrapConfig): readonly SceneLives[] {
  const swept = results.filter(({ seed }) => isSwept(seed, sweep.seedsOfTen));
  return bySeed(swept).map((units) => units.get(`scene/${sweep.slot}`) as SceneLives);
}
