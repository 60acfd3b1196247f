/** FIRM's Figure 3.7: latency, violations, requested CPU, its use, and drops, under random anomalies and a moving load. */

import { type Injection, randomCampaign } from "../act/faults/index.ts";
import type { Figure } from "../adapters/plot/index.ts";
import { minutes, type Rng, seconds, seededRng } from "../base/index.ts";
import { applicationNamed, type MicroserviceApplication } from "../sim/index.ts";
import { bySeed, meanOver, percentLess, percentMore, timesAsMany, timesAsMuch } from "./aware/compare.ts";
import { promiseAtLeast, promiseAtMost, reproduceAtLeast, shown } from "./claim.ts";
import { busyTargets } from "./firm/applications.ts";
import { type ComparisonConfig, comparisonConfig, comparisonUnits } from "./firm/comparison.ts";
import { type EpisodeFigures, runEpisode, utilisationOf, violationsOf } from "./firm/episode.ts";
import { controllerOf } from "./firm/firm-method.ts";
import { methodTitles, references } from "./firm/methods.ts";
import type { Estimate, PaperFigure, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface EndToEndConfig extends ComparisonConfig {
  readonly minutes: number;
  /** Anomalies that begin per minute. */
  readonly perMinute: number;
}

type Results = readonly UnitResult<EpisodeFigures>[];
type Units = ReadonlyMap<string, EpisodeFigures>;

const METHODS = ["kubernetes-default", "kubernetes", "aimd", "autothrottle", "firm"];
const SETTLE = seconds(60);

export const firmEndToEnd: Study<EpisodeFigures, EndToEndConfig> = {
  id: "firm-endtoend",
  title: "FIRM: end to end (Figure 3.7)",
  about:
    "Each application under a load that swings by three tenths and spikes once, and anomalies of all kinds drawn at random, " +
    "each for two to four minutes. A violation is a request that is answered after its SLO, given up by its client or refused. " +
    "CPU is what the containers' limits ask for. All methods meet the same requests and anomalies. Beside them: nobody acts, " +
    "and somebody who is told which containers are disturbed and gives those all they may have; what that one cannot avert " +
    "is in everybody's violations.",
  world: "event",
  seeds: { quick: 1, full: 10, first: 511 },
  config: ({ quick }) => ({
    ...comparisonConfig([...METHODS, ...references], { quick }),
    minutes: quick ? 7 : 12,
    perMinute: 0.5,
  }),
  units: comparisonUnits,
  runUnit,
  rows: (results, { applications }) => rowsOf(bySeed(results), applications),
  figures: (results, { applications }) => [violationsFigure(results, applications)],
};

function runUnit(job: StudyJob<EndToEndConfig>): EpisodeFigures {
  const { seed, unit, config, progress } = job;
  const [name, method] = unit.split("/") as [string, string];
  const application = applicationNamed(name);
  const perSecond = config.rates[name] as number;
  const rng = seededRng(seed).fork(name);
  const injections = anomaliesOf(rng.fork("anomalies"), application, config);
  const controller = controllerOf(method, { ...config, application, perSecond, injections, job });
  return runEpisode({
    seed,
    application,
    injections,
    controller,
    progress,
    sampling: config.sampling,
    designRate: perSecond,
    perMinute: swinging(rng.fork("load"), perSecond, config.minutes),
    duration: minutes(config.minutes),
    countFrom: SETTLE,
  });
}

function anomaliesOf(rng: Rng, application: MicroserviceApplication, config: EndToEndConfig): readonly Injection[] {
  return randomCampaign(rng, {
    from: SETTLE,
    until: minutes(config.minutes),
    perSecond: config.perMinute / 60,
    kinds: config.kinds,
    targets: busyTargets(application),
    // WORLDS: at least two minutes, so that nobody is praised for what passed by itself.
    duration: { min: seconds(120), max: seconds(240) },
  });
}

/** By minute: one swing of three tenths over the run, and a minute with half as much again. */
export function swinging(rng: Rng, perSecond: number, length: number): readonly number[] {
  const phase = rng.next();
  const spike = 1 + rng.int(Math.max(1, length - 1));
  return Array.from({ length }, (_, minute) => {
    const swing = 1 + 0.3 * Math.sin(2 * Math.PI * (minute / length + phase));
    return perSecond * swing * (minute === spike ? 1.5 : 1);
  });
}

const where = "3.3.4, Fig. 3.7";
const upTo = (high: number, unit: string): PaperFigure => ({ low: 0, high, unit, where: `${where}, “up to”` });

type Figures = (figures: EpisodeFigures) => number;

/** One pair per seed: both methods' totals over the applications. */
const pairsOf = (
  seeds: readonly Units[],
  applications: readonly string[],
  [above, below, figure]: readonly [string, string, Figures],
) =>
  seeds.map((units) => {
    const total = (method: string): number =>
      applications.reduce((sum, name) => sum + figure(units.get(`${name}/${method}`) as EpisodeFigures), 0);
    return { numerator: total(above), denominator: total(below) };
  });

function rowsOf(seeds: readonly Units[], applications: readonly string[]): readonly StudyRow[] {
  return [
    ...violationRows(seeds, applications),
    ...cpuRows(seeds, applications),
    ...parityRows(seeds, applications),
    ...shownRows(seeds, applications),
  ];
}

interface Against {
  readonly method: string;
  readonly average: number;
  readonly best: number;
}
const violationBounds: readonly Against[] = [
  { method: "aimd", average: 3, best: 9 },
  { method: "kubernetes", average: 5, best: 16 },
];

function violationRows(seeds: readonly Units[], applications: readonly string[]): readonly StudyRow[] {
  return violationBounds.flatMap(({ method, average, best }) => {
    const ratio = (names: readonly string[], id: string): Estimate =>
      timesAsMany(pairsOf(seeds, names, [method, "firm", violationsOf]), { id });
    const id = `violations-${method}`;
    const each = applications
      .map((name) => ({ name, ours: ratio([name], `${id}-${name}`) }))
      .sort((a, b) => b.ours.mean - a.ours.mean);
    const first = each[0] as (typeof each)[number];
    const what = `violations of ${methodTitles[method]} as a multiple of FIRM's`;
    return [
      reproduceAtLeast(
        {
          id,
          what: `${what}, all applications`,
          paper: upTo(best, "×"),
          ours: ratio(applications, id),
          claim: `at least ${average}×`,
        },
        { bound: average, none: 1 },
      ),
      reproduceAtLeast(
        {
          id: `${id}-best`,
          what: `${what}, best application: ${first.name}`,
          paper: upTo(best, "×"),
          ours: first.ours,
          claim: `at least ${best}×`,
        },
        { bound: best, none: 1 },
      ),
      ...each.map(({ name, ours }) => shown({ id: `${id}-${name}`, what: `${what}, ${name}`, ours })),
    ];
  });
}

const cores: Figures = ({ requestedCores }) => requestedCores;

function cpuRows(seeds: readonly Units[], applications: readonly string[]): readonly StudyRow[] {
  return ["kubernetes", "aimd"].map((method) => {
    const id = `cpu-${method}`;
    const ours = percentLess(pairsOf(seeds, applications, ["firm", method, cores]), { id });
    const paper: PaperFigure = { low: 29, high: 62, unit: "%", where };
    const what = `CPU that FIRM asks for, less than ${methodTitles[method]}`;
    return reproduceAtLeast({ id, what, paper, ours, claim: "at least 29 % less" }, { bound: 29, none: 0 });
  });
}

function parityRows(seeds: readonly Units[], applications: readonly string[]): readonly StudyRow[] {
  const violations = timesAsMany(pairsOf(seeds, applications, ["autothrottle", "firm", violationsOf]), {
    id: "parity-violations",
  });
  const cpu = timesAsMuch(pairsOf(seeds, applications, ["firm", "autothrottle", cores]), { id: "parity-cpu" });
  return [
    promiseAtLeast(
      {
        id: "parity-violations",
        what: "violations of the Autothrottle-like controller as a multiple of FIRM's",
        paper: null,
        ours: violations,
        claim: "parity or better: at least 1×",
      },
      1,
    ),
    promiseAtMost(
      {
        id: "parity-cpu",
        what: "CPU that FIRM asks for as a multiple of the Autothrottle-like controller's",
        paper: null,
        ours: cpu,
        claim: "parity or better: at most 1×",
      },
      1,
    ),
  ];
}

const unanswered: Figures = ({ timedOut, dropped }) => timedOut + dropped;

function shownRows(seeds: readonly Units[], applications: readonly string[]): readonly StudyRow[] {
  const against = (method: string, factor: { readonly p99: number }): readonly StudyRow[] => {
    const title = methodTitles[method];
    const named = (id: string) => ({ id: `${id}-${method}` });
    return [
      shown({
        ...named("p99"),
        what: `99th percentile of latency under ${title} as a multiple of FIRM's, sum over applications`,
        paper: upTo(factor.p99, "×"),
        ours: timesAsMuch(pairsOf(seeds, applications, [method, "firm", ({ p99 }) => p99 ?? 0]), named("p99")),
      }),
      shown({
        ...named("drops"),
        what: `requests refused or given up under ${title} as a multiple of FIRM's`,
        paper: upTo(8, "×"),
        ours: timesAsMany(pairsOf(seeds, applications, [method, "firm", unanswered]), named("drops")),
      }),
      shown({
        ...named("utilisation"),
        what: `use of the CPU that is asked for, more under FIRM than ${title}`,
        paper: upTo(33, "%"),
        ours: percentMore(pairsOf(seeds, applications, ["firm", method, utilisationOf]), named("utilisation")),
      }),
    ];
  };
  const plain = [...references, ...METHODS].map((method) => {
    const all = seeds.map((units) => applications.map((name) => units.get(`${name}/${method}`) as EpisodeFigures));
    const mean = (of: Figures): number => {
      const values = all.flat().map(of);
      return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    };
    const share = all.map(
      (own) =>
        (100 * total(own, violationsOf)) /
        Math.max(
          1,
          total(own, ({ requests }) => requests),
        ),
    );
    return shown({
      id: `missed-${method}`,
      what: `${methodTitles[method]}: share of requests that miss their SLO; ${mean(cores).toFixed(1)} cores asked for, ${(100 * mean(utilisationOf)).toFixed(0)} % of them used, SLO broken ${(100 * mean(({ brokenShare }) => brokenShare)).toFixed(0)} % of the time`,
      ours: meanOver(share, { id: `missed-${method}`, unit: "%" }),
    });
  });
  const truth = shown({
    id: "violations-oracle",
    what: "violations where whoever acts is told the truth, as a multiple of FIRM's, all applications",
    ours: timesAsMany(pairsOf(seeds, applications, ["oracle", "firm", violationsOf]), { id: "violations-oracle" }),
  });
  return [truth, ...against("aimd", { p99: 6 }), ...against("kubernetes", { p99: 11 }), ...plain];
}

const total = (all: readonly EpisodeFigures[], of: Figures): number => all.reduce((sum, one) => sum + of(one), 0);

function violationsFigure(results: Results, applications: readonly string[]): Figure {
  const seeds = bySeed(results);
  return {
    kind: "bars",
    id: "violations",
    title: "Requests that miss their SLO",
    subtitle: `late, given up or refused, under random anomalies; ${seeds.length} seeds`,
    y: { label: "share of requests", unit: "%" },
    bars: applications.flatMap((name) =>
      METHODS.map((method) => {
        const own = seeds.map((units) => units.get(`${name}/${method}`) as EpisodeFigures);
        return {
          label: methodTitles[method] ?? method,
          group: name,
          value:
            (100 * total(own, violationsOf)) /
            Math.max(
              1,
              total(own, ({ requests }) => requests),
            ),
        };
      }),
    ),
  };
}
