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

const METHODS = ["rules", "no-bootstrap", "aware-paper", "aware"];

export const awareBootstrap: Study<Life | null, BootstrapConfig> = {
  id: "aware-bootstrap",
  title: "AWARE: bootstrapping, and what training costs (Figure 10)",
  about:
    "Each workload is trained on from its first step: by the base learner alone (no bootstrapping), by AWARE as published " +
    "(Algorithm 1), by AWARE as built here (with gates, shield and rollback), and beside them the rules alone, HPA and VPA. " +
    "All meet the same requests in the event world; utilisation, violations and reward are the client's truth over the " +
    "whole life. AWARE as published differs from no bootstrapping in the bootstrapping alone; AWARE as built here also in " +
    "gates and shield. Ratios are of sums over each seed's workloads, with paired bootstrap intervals over seeds.",
  world: "event",
  seeds: { quick: 2, full: 10 },
  config: ({ quick }) => ({
    ...awareConfig({ quick }),
    methods: METHODS,
    slots: quick ? [0] : [0, 1, 2, 3],
    episodes: quick ? 25 : 160,
    endEpisodes: quick ? 8 : 50,
    sweep: {
      seedsOfTen: quick ? 0 : 4,
      slot: 0,
      episodes: quick ? 25 : 80,
      alphas: [0.3, 0.7],
      thresholds: [0.8, 1.1],
    },
  }),
  // The methods of one scene come one after another, since they share its measurements.
  units: ({ methods, slots, sweep }) => [
    ...slots.flatMap((slot) => methods.map((method) => `${method}/${slot}`)),
    ...(sweep.seedsOfTen === 0
      ? []
      : [
          ...sweep.alphas.map((alpha) => `alpha-${alpha}/${sweep.slot}`),
          ...sweep.thresholds.map((times) => `threshold-${times}/${sweep.slot}`),
        ]),
  ],
  runUnit,
  rows: (results, config) => [
    ...bootstrapRows(livesOf(results, config), config),
    ...(config.sweep.seedsOfTen === 0 ? [] : sweepRows(sweptOf(results, config), config)),
  ],
  figures: (results, config) => bootstrapFigures(livesOf(results, config), config),
};

async function runUnit(job: StudyJob<BootstrapConfig>): Promise<Life | null> {
  const { unit, seed, config } = job;
  const [name = "", place = "0"] = unit.split("/");
  const slot = Number(place);
  const swept = /^(alpha|threshold)-(.+)$/.exec(name);
  if (!swept) return liveFromBirth(job, { slot, episodes: config.episodes, method: methodOf(name, config) });
  const { seedsOfTen, episodes } = config.sweep;
  if (!isSwept(seed, seedsOfTen)) return null;
  const value = Number(swept[2]);
  if (swept[1] === "threshold") return liveFromBirth(job, { slot, episodes, method: bootstrappedTo(value) });
  const other = { ...job, config: { ...config, alpha: value } };
  return liveFromBirth(other, { slot, episodes, method: aware(config.agent) });
}

function methodOf(name: string, { agent }: BootstrapConfig): LearningMethod | null {
  if (name === "rules") return null;
  if (name === "no-bootstrap") return withoutBootstrap;
  return name === "aware" ? aware(agent) : awareOfPaper;
}

/** Per seed and scene, each method's life. */
function livesOf(
  results: readonly UnitResult<Life | null>[],
  { slots, methods }: BootstrapConfig,
): readonly (readonly SceneLives[])[] {
  return bySeed(results).map((units) =>
    slots.map((slot) => Object.fromEntries(methods.map((method) => [method, units.get(`${method}/${slot}`) as Life]))),
  );
}

/** Per swept seed, every life of the swept scene by its unit's name. */
function sweptOf(results: readonly UnitResult<Life | null>[], { sweep }: BootstrapConfig): readonly SceneLives[] {
  return bySeed(results.filter(({ seed }) => isSwept(seed, sweep.seedsOfTen))).map((units) =>
    Object.fromEntries(
      [...units].flatMap(([unit, life]) => {
        const [name = "", slot] = unit.split("/");
        return slot === String(sweep.slot) && life !== null ? [[name, life]] : [];
      }),
    ),
  );
}
