/**
 * What an allocation takes, by what its owner wants the least of: money, energy, carbon, or a mix of them.
 * Owns: prices and watts with their sources, and the rate of a core, of a GiB and of a stopped pod, hour by hour. Pure.
 * Not here: what a step earns by it (objective.ts), the YAML that it is written in (cli/config).
 *
 * All of them grow in proportion to what is requested, so a mix does too. Only ratios matter to an agent: it is compared with
 * its rules at the same hour.
 */
import type { Allocation } from "../../../act/index.ts";
import type { Ms } from "../../../base/index.ts";

/** What is taken per hour by a core and a GiB; and by a stopped pod, as if it were taken through a step of 15 s. */
export interface Rates {
  readonly core: number;
  readonly gib: number;
  readonly stop: number;
}

export const weighed = ["cost", "energy", "carbon"] as const;
type Weighed = (typeof weighed)[number];

/**
 * `paper`: SLO preservation and utilisation, weighted by alpha (reward.ts). All others: the least of something within the error
 * budget (objective.ts). `weights`: a weighted sum of those three.
 */
export const objectiveKinds = [...weighed, "weights", "paper"] as const;
export type ObjectiveKind = (typeof objectiveKinds)[number];

/** What an owner wants the least of. */
export interface Aim {
  readonly objective: ObjectiveKind;
  /** Grams of CO₂ per kWh from the grid: one number, or 24 of them, hour by hour from midnight UTC. */
  readonly carbonIntensity?: readonly number[] | undefined;
  /** How much each counts; 1 of each is as much of it as a core with 4 GiB takes, at the day's mean intensity. */
  readonly weights?: Readonly<Partial<Record<Weighed, number>>> | undefined;
}

/** Dollars. Public prices of a core and of a GiB are about nine to one; a stopped pod is about a minute of one core. */
export const dollars: Rates = Object.freeze({ core: 0.040_48, gib: 0.004_773, stop: 0.0007 * 240 });

/**
 * Watts, from the SPECpower_ssj2008 results of 212 servers that came to market from 2017 to 2022 (spec_data_cleaned_unmelted.csv of
 * green-coding-solutions/spec-power-model at 9739f29). A core is a hardware thread, as it is to Kubernetes.
 * - Idle, least squares over their threads and GB: 0.19 W a thread and 0.245 W a GB, which is 0.263 W a GiB.
 * - Work, the median of what half load adds: 1.21 W a thread. Requests are taken to be half used.
 * Together a median server of 1.6 GB a thread takes 1.79 W a thread at half load; measured are 1.84 W.
 */
const IDLE_CORE = 0.19;
const HALF_LOAD = 1.21;
const GIB = 0.263;
/** A pod's last minute and its successor's first are a minute of one core: 60 s over a step of 15 s. */
const STOPPED_CORES = 4;
const watts: Rates = Object.freeze({
  core: IDLE_CORE + HALF_LOAD,
  gib: GIB,
  stop: STOPPED_CORES * (IDLE_CORE + HALF_LOAD),
});

const HOURS = 24;
const HOUR = 3_600_000;
const WATTS_PER_KILOWATT = 1_000;

/** One entry, or one for every hour of the day: `ratesAt` knows which. */
export type RatesByHour = readonly Rates[];

/** The paper's reward has no rate; bills are compared in dollars all the same. */
export function ratesByHour({ objective, carbonIntensity = [], weights = {} }: Aim): RatesByHour {
  const grams = carbonIntensity.map((intensity) => times(watts, intensity / WATTS_PER_KILOWATT));
  switch (objective) {
    case "energy":
      return [watts];
    case "carbon":
      return grams;
    case "weights": {
      const meanGrams = times(sumOf(grams), 1 / Math.max(1, grams.length));
      const still = sumOf([share(dollars, weights.cost, dollars), share(watts, weights.energy, watts)]);
      if (!weights.carbon) return [still];
      return grams.map((hour) => sumOf([still, share(hour, weights.carbon, meanGrams)]));
    }
    case "cost":
    case "paper":
      return [dollars];
    default:
      return objective satisfies never;
  }
}

/** Those of the hour, by UTC. */
export const ratesAt = (rates: RatesByHour, at: Ms): Rates =>
  rates[Math.floor(at / HOUR) % rates.length] ?? (rates[0] as Rates);

const GIB_BYTES = 2 ** 30;

/** In the unit of the rates, an hour. */
export const rateOf = ({ replicas, cpu, memory }: Allocation, { core, gib }: Rates): number =>
  replicas * ((core * cpu) / 1_000 + (gib * memory) / GIB_BYTES);

const times = ({ core, gib, stop }: Rates, by: number): Rates => ({ core: core * by, gib: gib * by, stop: stop * by });

const sumOf = (all: readonly Rates[]): Rates =>
  all.reduce((sum, { core, gib, stop }) => ({ core: sum.core + core, gib: sum.gib + gib, stop: sum.stop + stop }), {
    core: 0,
    gib: 0,
    stop: 0,
  });

/** The usual pod by which dollars, watts and grams can be added: one core with 4 GiB. */
const share = (rates: Rates, weight = 0, { core, gib }: Rates): Rates =>
  weight === 0 ? times(rates, 0) : times(rates, weight / (core + 4 * gib));

/** A key of the aim and what is wrong there, as the end of a sentence that begins with the key. */
export interface AimProblem {
  readonly key: "carbonIntensity" | "weights";
  readonly reason: string;
}

export function aimProblems({ objective, carbonIntensity, weights }: Aim): readonly AimProblem[] {
  const problems: AimProblem[] = [];
  if (weights === undefined && objective === "weights")
    problems.push({
      key: "weights",
      reason: "must be given where the objective is weights: such as { cost: 1, carbon: 1 }",
    });
  if (weights !== undefined && objective !== "weights")
    problems.push({ key: "weights", reason: `must be left out where the objective is ${objective}: it has one aim` });
  const given = Object.values(weights ?? {});
  if (weights !== undefined && !(given.every(isWeight) && given.some((weight) => weight > 0)))
    problems.push({ key: "weights", reason: "must be numbers of 0 or more, and one of them more than 0" });
  const countsCarbon = objective === "carbon" || (objective === "weights" && (weights?.carbon ?? 0) > 0);
  if (carbonIntensity === undefined && countsCarbon)
    problems.push({ key: "carbonIntensity", reason: `must be given where carbon counts: ${INTENSITY}` });
  if (carbonIntensity !== undefined && !countsCarbon)
    problems.push({ key: "carbonIntensity", reason: "must be left out where carbon does not count" });
  if (carbonIntensity !== undefined && !isIntensity(carbonIntensity))
    problems.push({ key: "carbonIntensity", reason: `must be ${INTENSITY}; each 0 or more, and not all 0` });
  return problems;
}

const INTENSITY = "grams of CO2 per kWh, one number or 24, hour by hour from midnight UTC";
const isWeight = (weight: number): boolean => Number.isFinite(weight) && weight >= 0;
const isIntensity = (given: readonly number[]): boolean =>
  (given.length === 1 || given.length === HOURS) && given.every(isWeight) && given.some((one) => one > 0);
