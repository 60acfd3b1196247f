/**
 * How the constants of the FIRM studies' rules were chosen: every candidate of a grid meets the same anomalies on seeds of
 * their own, and is scored by what FIRM's agent is paid for.
 */

import { faultKinds } from "../act/faults/index.ts";
import { seededRng } from "../base/index.ts";
import {
  type AimdConfig,
  type CaptainConfig,
  captainConfig,
  tunedAimd,
  usualAlpha,
} from "../control/tasks/mitigation/index.ts";
import { applicationNamed } from "../sim/index.ts";
import { bySeed, meanOver } from "./aware/compare.ts";
import { shown } from "./claim.ts";
import { endOfSequence, sequence, usualRate, usualSequence } from "./firm/applications.ts";
import { type EpisodeFigures, runEpisode, utilisationOf, violationsOf } from "./firm/episode.ts";
import { methodTitles, type RuleConfigs, ruleOf } from "./firm/methods.ts";
import { chosenRules } from "./firm/rules.ts";
import type { Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface BaselinesConfig {
  readonly applications: readonly string[];
  readonly rung: "event" | "fluid";
  readonly anomalies: number;
  /** By name: a method and the constants it is given. */
  readonly candidates: Readonly<Record<string, { readonly method: string; readonly rules: RuleConfigs }>>;
  readonly chosen: Readonly<Record<string, string>>;
}

/** Of all applications together. */
interface Scored {
  readonly score: number;
  readonly violations: number;
  readonly cores: number;
}

const METHODS = ["kubernetes", "aimd", "autothrottle"];

export const firmBaselines: Study<Scored, BaselinesConfig> = {
  id: "firm-baselines",
  title: "FIRM: which constants its opponents get",
  about:
    "Kubernetes autoscaling, AIMD and the Autothrottle-like controller with every constant of a grid, one anomaly after " +
    "another, on seeds that no other study uses. The score is what FIRM's agent is paid for, told for a whole application: " +
    "four fifths for the share of requests that keep their SLO, one fifth for the use of the CPU that is asked for.",
  world: "fluid",
  seeds: { quick: 1, full: 5, first: 1_001 },
  config: ({ quick }) => {
    const candidates = candidatesOf(quick);
    return {
      applications: quick ? ["hotel-reservation"] : ["social-network", "media", "hotel-reservation", "train-ticket"],
      rung: "fluid",
      anomalies: quick ? 4 : 14,
      candidates,
      chosen: chosenAmong(candidates),
    };
  },
  units: ({ candidates }) => Object.keys(candidates),
  runUnit,
  rows: (results, config) => METHODS.flatMap((method) => rowsOf(results, config, method)),
  figures: () => [],
};

const percents = [20, 30, 40, 50, 60, 70, 80];
const increases = [0.01, 0.02, 0.05, 0.1, 0.2];
const decreases = [0.9, 0.95, 0.98, 0.99];
const saturations = [0, 0.5];
const histories = [5, 10, 30, 60];
const margins = [3, 10, 30];

const aimdOf = (change: Partial<AimdConfig>): AimdConfig => ({ ...tunedAimd, ...change });
const captainOf = (change: Partial<CaptainConfig>): CaptainConfig => ({ ...captainConfig, ...change });

/** The names say the constants; a quick run leaves out every other one. */
function candidatesOf(quick: boolean): BaselinesConfig["candidates"] {
  const some = <T>(values: readonly T[]): readonly T[] => (quick ? values.filter((_, i) => i % 2 === 0) : values);
  const candidates: Record<string, { method: string; rules: RuleConfigs }> = {};
  const add = (method: string, name: string, change: Partial<RuleConfigs>) => {
    candidates[`${method} ${name}`] = { method, rules: { ...chosenRules, ...change } };
  };
  for (const hpaPercent of some(percents)) add("kubernetes", `${hpaPercent} %`, { hpaPercent });
  for (const increase of some(increases))
    for (const decrease of some(decreases))
      for (const saturation of saturations)
        add("aimd", `+${increase} ×${decrease} from ${saturation}`, {
          aimd: aimdOf({ increase, decrease, saturation }),
        });
  for (const history of some(histories))
    for (const margin of some(margins))
      add("autothrottle", `${history} s, margin ${margin}`, { captain: captainOf({ history, margin }) });
  return candidates;
}

/** By method: the candidate that the other studies use; none where a quick grid has left it out. */
function chosenAmong(candidates: BaselinesConfig["candidates"]): Readonly<Record<string, string>> {
  const same = JSON.stringify(chosenRules);
  return Object.fromEntries(
    METHODS.flatMap((method) => {
      const found = Object.entries(candidates).find(
        ([, one]) => one.method === method && JSON.stringify(one.rules) === same,
      );
      return found === undefined ? [] : [[method, found[0]]];
    }),
  );
}

function runUnit({ seed, unit, config, progress, signal }: StudyJob<BaselinesConfig>): Scored {
  const candidate = config.candidates[unit] as { method: string; rules: RuleConfigs };
  const figures = config.applications.map((name, place) => {
    signal.throwIfAborted();
    progress(place / config.applications.length);
    const application = applicationNamed(name);
    const perSecond = usualRate[name] as number;
    const options = { ...usualSequence, kinds: faultKinds, count: config.anomalies };
    const injections = sequence(seededRng(seed).fork(name), application, options);
    const controller = ruleOf(candidate.method, { ...candidate, application, perSecond, injections });
    return runEpisode({
      seed,
      application,
      rung: config.rung,
      perMinute: [perSecond],
      injections,
      controller,
      duration: endOfSequence(options),
      countFrom: options.from,
    });
  });
  const mean = (value: (one: EpisodeFigures) => number): number =>
    figures.reduce((sum, one) => sum + value(one), 0) / figures.length;
  return {
    score: mean((one) => usualAlpha * (1 - violationsOf(one) / one.requests) + (1 - usualAlpha) * utilisationOf(one)),
    violations: mean((one) => violationsOf(one) / one.requests),
    cores: mean((one) => one.requestedCores),
  };
}

/** The best three of a method, and the ones that are used. */
function rowsOf(results: readonly UnitResult<Scored>[], config: BaselinesConfig, method: string): readonly StudyRow[] {
  const seeds = bySeed(results);
  const ranked = Object.entries(config.candidates)
    .filter(([, candidate]) => candidate.method === method)
    .map(([name]) => {
      const scored = seeds.flatMap((units) => units.get(name) ?? []);
      const ours = meanOver(
        scored.map(({ score }) => score),
        { id: name, unit: "score" },
      );
      const of = (value: (one: Scored) => number): number =>
        scored.reduce((sum, one) => sum + value(one), 0) / Math.max(1, scored.length);
      return { name, ours, violations: of((one) => one.violations), cores: of((one) => one.cores) };
    })
    .sort((a, b) => b.ours.mean - a.ours.mean);
  const used = config.chosen[method];
  return ranked.flatMap(({ name, ours, violations, cores }, place): StudyRow[] => {
    if (place >= 3 && name !== used) return [];
    const best = ranked[0]?.ours.mean ?? 0;
    return [
      shown({
        id: name,
        what: `${methodTitles[method]}: ${name.slice(method.length + 1)}, ${place === 0 ? "the best" : `no. ${place + 1}`} of ${ranked.length}: ${(100 * violations).toFixed(1)} % missed, ${cores.toFixed(1)} cores asked for`,
        ours,
        ...(name === used && {
          why: `used in the other studies; the best scores ${(best - ours.mean).toFixed(3)} more`,
        }),
      }),
    ];
  });
}
