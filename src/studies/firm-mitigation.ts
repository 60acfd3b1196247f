/** FIRM's Figure 3.6(b): how long a violation of the SLO lasts until somebody has mended what caused it. */

import { type FaultKind, faultKinds } from "../act/faults/index.ts";
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { applicationNamed } from "../sim/index.ts";
import { bySeed, meanOver, timesAsMuch } from "./aware/compare.ts";
import { promiseAtLeast, reproduceAtLeast, shown } from "./claim.ts";
import { endOfSequence, sequence, usualSequence } from "./firm/applications.ts";
import { type ComparisonConfig, comparisonConfig, comparisonUnits } from "./firm/comparison.ts";
import { type EpisodeFigures, runEpisode } from "./firm/episode.ts";
import { controllerOf } from "./firm/firm-method.ts";
import { methodTitles, references } from "./firm/methods.ts";
import type { Mitigation } from "./firm/violations.ts";
import type { PaperFigure, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface MitigationConfig extends ComparisonConfig {
  /** One after another, per application. */
  readonly anomalies: number;
}

type Results = readonly UnitResult<EpisodeFigures>[];

const OPPONENTS = ["aimd", "kubernetes", "autothrottle"];
const CAP = 120;

export const firmMitigation: Study<EpisodeFigures, MitigationConfig> = {
  id: "firm-mitigation",
  title: "FIRM: time to mitigate (Figure 3.6(b))",
  about:
    "One anomaly after another is done to a container of an application, each for two minutes with a minute of rest, and the " +
    "time from the first broken SLO to its end is taken from the clients' side, to half a second. An anomaly counts if it " +
    "breaks an SLO when nobody does anything and does not when its container is given all it may have: network delay, " +
    "which no limit mends, does not count, and the row of it says how many that were. A violation that lasts until its " +
    "anomaly ends counts as two minutes and is not called mitigated. All methods meet the same requests and anomalies.",
  world: "event",
  seeds: { quick: 1, full: 10, first: 511 },
  config: ({ quick }) => ({
    // Nobody tells which anomalies break the SLO at all, the one who is told the truth which of them can be mended.
    ...comparisonConfig([...references, ...OPPONENTS, "firm"], { quick }),
    anomalies: quick ? 3 : 7,
  }),
  units: comparisonUnits,
  runUnit,
  rows: (results) => rowsOf(results),
  figures: (results) => [timesFigure(results)],
};

function runUnit(job: StudyJob<MitigationConfig>): EpisodeFigures {
  const { seed, unit, config, progress } = job;
  const [name, method] = unit.split("/") as [string, string];
  const application = applicationNamed(name);
  const options = { ...usualSequence, kinds: config.kinds, count: config.anomalies };
  const injections = sequence(seededRng(seed).fork(name), application, options);
  const perSecond = config.rates[name] as number;
  const controller = controllerOf(method, { ...config, application, perSecond, injections, job });
  return runEpisode({
    seed,
    application,
    perMinute: [perSecond],
    injections,
    controller,
    progress,
    sampling: config.sampling,
    duration: endOfSequence(options),
    countFrom: options.from,
  });
}

/** What came of one anomaly under every method. */
interface Case {
  readonly kind: FaultKind;
  readonly by: ReadonlyMap<string, Mitigation>;
}

function casesOf(units: ReadonlyMap<string, EpisodeFigures>): readonly Case[] {
  const byApplication = new Map<string, Map<string, EpisodeFigures>>();
  for (const [unit, figures] of units) {
    const [name, method] = unit.split("/") as [string, string];
    byApplication.set(name, (byApplication.get(name) ?? new Map<string, EpisodeFigures>()).set(method, figures));
  }
  return [...byApplication.values()].flatMap((methods) =>
    (methods.get("nobody")?.mitigations ?? []).map(({ injection, kind }): Case => {
      const by = new Map<string, Mitigation>();
      for (const [method, { mitigations }] of methods) {
        const found = mitigations.find((one) => one.injection === injection);
        if (found !== undefined) by.set(method, found);
      }
      return { kind, by };
    }),
  );
}

const by = (one: Case, method: string): Mitigation => one.by.get(method) as Mitigation;
/** A violation that passes by itself, as queues drain, is nobody's merit. */
const breaks = (one: Case): boolean => by(one, "nobody").outcome === "censored";
const isLost = (one: Case): boolean => by(one, "oracle").outcome === "censored";
const counts = (one: Case): boolean => breaks(one) && !isLost(one);

const paper: Readonly<Record<string, PaperFigure>> = {
  aimd: { low: 1, high: 9, unit: "×", where: "3.3.3, Fig. 3.6(b), “up to 9×”" },
  kubernetes: { low: 1, high: 30, unit: "×", where: "3.3.3, Fig. 3.6(b), “up to 30×”" },
  firm: { low: 1.7, high: 1.7, unit: "s", where: "3.3.3, upon convergence" },
};
const bounds: Readonly<Record<string, number>> = { aimd: 5, kubernetes: 10, autothrottle: 1 };

function rowsOf(results: Results): readonly StudyRow[] {
  const seeds = bySeed(results).map(casesOf);
  const counted = seeds.map((cases) => cases.filter(counts));
  const total = (cases: readonly Case[], method: string): number =>
    cases.reduce((sum, one) => sum + by(one, method).lasted, 0);
  const faster = OPPONENTS.map((method): StudyRow => {
    const id = `faster-than-${method}`;
    const bound = bounds[method] as number;
    const pairs = counted.map((cases) => ({ numerator: total(cases, method), denominator: total(cases, "firm") }));
    const row = {
      id,
      what: `time to mitigate of ${methodTitles[method]} as a multiple of FIRM's`,
      ours: timesAsMuch(pairs, { id }),
    };
    const printed = paper[method];
    if (printed === undefined)
      return promiseAtLeast({ ...row, paper: null, claim: `parity or better: at least ${bound}×` }, bound);
    return reproduceAtLeast({ ...row, paper: printed, claim: `at least ${bound}×` }, { bound, none: 1 });
  });
  const all = counted.flat();
  const times = [...OPPONENTS, "firm", "oracle"].flatMap((method): StudyRow[] => {
    if (all.length === 0) return [];
    const mended = all.filter((one) => by(one, method).outcome !== "censored").length;
    const means = counted.filter((cases) => cases.length > 0).map((cases) => total(cases, method) / cases.length);
    return [
      shown({
        id: `time-${method}`,
        what: `time to mitigate: ${methodTitles[method]}, mean with ${CAP} s for what nobody mended (${mended} of ${all.length} mended)`,
        paper: method === "firm" ? (paper.firm as PaperFigure) : null,
        ours: meanOver(means, { id: `time-${method}`, unit: "s" }),
      }),
    ];
  });
  return [...faster, ...times, ...kindRows(all), countRow(seeds)];
}

/** Where the time goes: which kinds of anomalies FIRM is slow with. */
function kindRows(cases: readonly Case[]): readonly StudyRow[] {
  return faultKinds.flatMap((kind): StudyRow[] => {
    const own = cases.filter((one) => one.kind === kind);
    if (own.length === 0) return [];
    const id = `kind-${kind}`;
    const against = OPPONENTS.map((method) => {
      const mean = own.reduce((sum, one) => sum + by(one, method).lasted, 0) / own.length;
      return `${methodTitles[method]} ${mean.toFixed(1)} s`;
    });
    return [
      shown({
        id,
        what: `${kind} (${own.length} anomalies): FIRM's time to mitigate; ${against.join(", ")}`,
        ours: meanOver(
          own.map((one) => by(one, "firm").lasted),
          { id, unit: "s" },
        ),
      }),
    ];
  });
}

function countRow(seeds: readonly (readonly Case[])[]): StudyRow {
  const all = seeds.flat();
  const lost = all.filter((one) => breaks(one) && isLost(one));
  const share = seeds.map((cases) => (cases.length === 0 ? 0 : cases.filter(counts).length / cases.length));
  const kinds = [...new Set(lost.map(({ kind }) => kind))].join(", ");
  return shown({
    id: "counted",
    what: `share of ${all.length} anomalies that break an SLO for good when nobody acts and can be mended; ${lost.length} could not be mended by anybody${kinds === "" ? "" : ` (${kinds})`}`,
    ours: meanOver(share, { id: "counted", unit: "share" }),
  });
}

function timesFigure(results: Results): Figure {
  const cases = bySeed(results).flatMap((units) => casesOf(units).filter(counts));
  const at = Array.from({ length: CAP + 1 }, (_, second) => second);
  return {
    kind: "lines",
    id: "mitigated",
    title: "Anomalies that are mended within a time",
    subtitle: `${cases.length} anomalies that break an SLO and can be mended, all seeds and applications`,
    x: { label: "time since the SLO was first broken", unit: "s" },
    y: { label: "share mended" },
    lines: [...OPPONENTS, "firm"].map((method) => ({
      name: methodTitles[method] ?? method,
      x: at,
      y: at.map((second) => {
        const mended = cases.filter(
          (one) => by(one, method).outcome !== "censored" && by(one, method).lasted <= second,
        );
        return cases.length === 0 ? 0 : mended.length / cases.length;
      }),
    })),
  };
}
