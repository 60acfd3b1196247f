/** The characterisation of section 2.2: critical paths move, variance tells more than length, no one remedy fits all. */
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { applicationNamed } from "../sim/index.ts";
import { bySeed, meanOver, timesAsMuch } from "./aware/compare.ts";
import { reproduceAtLeast, shown } from "./claim.ts";
import { usualRate } from "./firm/applications.ts";
import { movePaths, type PathsResult } from "./firm/insight-paths.ts";
import { type RemedyCell, remediesOf } from "./firm/insight-remedies.ts";
import { type ScalingResult, scaleByRule } from "./firm/insight-scaling.ts";
import { mean } from "./statistics/index.ts";
import type { Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface InsightsConfig {
  readonly applications: readonly string[];
  /** Seconds that are measured, in every run. */
  readonly seconds: number;
  /** Anomalies per application, of which services are scaled by either rule. */
  readonly scalings: number;
  /** Loads over the usual one, and who is stressed. */
  readonly loads: readonly number[];
  readonly remedyApplications: readonly string[];
}

export type InsightsResult =
  | { readonly kind: "paths"; readonly paths: PathsResult }
  | { readonly kind: "scaling"; readonly scalings: readonly ScalingResult[] }
  | { readonly kind: "remedies"; readonly cells: readonly RemedyCell[] };

type Results = readonly UnitResult<InsightsResult>[];

const ALL = ["social-network", "media", "hotel-reservation", "train-ticket"];

export const firmInsights: Study<InsightsResult, InsightsConfig> = {
  id: "firm-insights",
  title: "FIRM: what breaks an SLO, and what mends it (insights 2.1 to 2.3)",
  about:
    "Contention is injected into one of several services that are called in parallel, and the critical paths of the request " +
    "are followed (2.1). Under a pulsing anomaly the service whose own time varies most, or the one whose own time is longest, " +
    "gets a second container (2.2). A service short of CPU or of memory bandwidth gets twice its limit, or a second " +
    "container, at several loads (2.3).",
  world: "event",
  seeds: { quick: 1, full: 10, first: 501 },
  config: ({ quick }) => ({
    applications: quick ? ["social-network", "hotel-reservation"] : ALL,
    seconds: quick ? 10 : 30,
    scalings: quick ? 2 : 6,
    loads: quick ? [0.5, 1.5] : [0.5, 1, 1.5, 2],
    remedyApplications: quick ? ["social-network"] : ["social-network", "train-ticket"],
  }),
  units: ({ applications, remedyApplications }) => [
    ...applications.map((name) => `paths/${name}`),
    ...applications.map((name) => `scaling/${name}`),
    ...remedyApplications.map((name) => `remedies/${name}`),
  ],
  runUnit,
  rows: (results) => [...pathRows(results), ...scalingRows(results), ...remedyRows(results)],
  figures: (results) => [remedyFigure(results)],
};

function runUnit({ seed, unit, config }: StudyJob<InsightsConfig>): InsightsResult {
  const [kind, name] = unit.split("/") as [string, string];
  const application = applicationNamed(name);
  const perSecond = usualRate[name] as number;
  const options = { application, seed, perSecond, seconds: config.seconds };
  const rng = seededRng(seed).fork(unit);
  switch (kind) {
    case "paths":
      return { kind, paths: movePaths(options) };
    case "scaling":
      return { kind, scalings: scaleByRule(rng, { ...options, count: config.scalings }) };
    default:
      return { kind: "remedies", cells: remediesOf({ ...options, loads: config.loads }) };
  }
}

function ofKind<K extends InsightsResult["kind"]>(results: Results, kind: K) {
  return bySeed(results).map((units) =>
    [...units].flatMap(([unit, result]) =>
      result.kind === kind
        ? [{ application: unit.slice(kind.length + 1), result: result as Extract<InsightsResult, { kind: K }> }]
        : [],
    ),
  );
}

function pathRows(results: Results): readonly StudyRow[] {
  const seeds = ofKind(results, "paths");
  const all = seeds.flat().map(({ result }) => result.paths);
  const shareOf = (of: "through" | "throughCalm") => (units: (typeof seeds)[number]) =>
    mean(units.flatMap(({ result }) => result.paths.disturbed.map((one) => one[of])));
  const moved = seeds.map((units) => shareOf("through")(units) - shareOf("throughCalm")(units));
  const spreads = (of: "p50" | "p99") =>
    seeds.map((units) => {
      const each = units.map(({ result }) => {
        const times = result.paths.disturbed.map((one) => one[of]);
        return { numerator: Math.max(...times), denominator: Math.min(...times) };
      });
      // The paper's “as much as”: the application in which paths differ most.
      return each.reduce((most, one) =>
        one.numerator / one.denominator > most.numerator / most.denominator ? one : most,
      );
    });
  const calm = mean(all.flatMap(({ disturbed }) => disturbed.map(({ throughCalm }) => throughCalm)));
  return [
    // The insights are statements, most of them without numbers: the claims' are ours.
    reproduceAtLeast(
      {
        id: "paths-move",
        what: `share of requests whose critical path goes through the disturbed one of parallel services, more than without the anomaly (${(100 * calm).toFixed(0)} %)`,
        paper: null,
        ours: meanOver(moved, { id: "paths-move", unit: "share" }),
        claim: "at least 0.2 more: the path moves to where the contention is",
      },
      { bound: 0.2, none: 0 },
    ),
    reproduceAtLeast(
      {
        id: "paths-median",
        what: "median latency, longest over shortest of the critical paths, the application where they differ most",
        paper: { low: 1.2, high: 2, unit: "×", where: "Table 2.1; Fig. 2.2, as much as 1.6×" },
        ours: timesAsMuch(spreads("p50"), { id: "paths-median" }),
        claim: "at least 1.2×",
      },
      { bound: 1.2, none: 1 },
    ),
    shown({
      id: "paths-tail",
      what: "99th percentile, longest over shortest of the critical paths, the application where they differ most",
      paper: { low: 1, high: 2.5, unit: "×", where: "Fig. 2.2, as much as 2.5×" },
      ours: timesAsMuch(spreads("p99"), { id: "paths-tail" }),
    }),
  ];
}

function scalingRows(results: Results): readonly StudyRow[] {
  const seeds = ofKind(results, "scaling").map((units) => units.flatMap(({ result }) => result.scalings));
  // Where both rules name the same service there is nothing to tell them apart by.
  const differing = seeds.map((scalings) => scalings.filter(({ varying, longest }) => varying !== longest));
  const totals = (all: readonly ScalingResult[], of: (one: ScalingResult) => number): number =>
    all.reduce((sum, one) => sum + of(one), 0);
  const pairs = differing.map((all) => ({
    numerator: totals(all, ({ p99 }) => p99.longestScaled),
    denominator: totals(all, ({ p99 }) => p99.varyingScaled),
  }));
  const found = (of: (one: ScalingResult) => boolean) =>
    seeds.map((all) => all.filter(of).length / Math.max(1, all.length));
  return [
    reproduceAtLeast(
      {
        id: "variance-beats-median",
        what: `99th percentile after the longest service was scaled, as a multiple of that after the most varying one was (${differing.flat().length} of ${seeds.flat().length} anomalies, where they are two)`,
        paper: { low: 1, high: 1, unit: "×", where: "Fig. 2.3, without figures" },
        ours: timesAsMuch(pairs, { id: "variance-beats-median" }),
        claim: "more than 1×",
      },
      { bound: 1, none: 1 },
    ),
    shown({
      id: "variance-finds",
      what: "share of anomalies whose service is the most varying one",
      ours: meanOver(
        found(({ varying, disturbed }) => varying === disturbed),
        { id: "variance-finds", unit: "share" },
      ),
    }),
    shown({
      id: "median-finds",
      what: "share of anomalies whose service is the longest one",
      ours: meanOver(
        found(({ longest, disturbed }) => longest === disturbed),
        { id: "median-finds", unit: "share" },
      ),
    }),
  ];
}

const cellName = ({ resource, load }: RemedyCell): string => `${resource} at ${load} of the usual load`;

function remedyRows(results: Results): readonly StudyRow[] {
  const seeds = ofKind(results, "remedies");
  const names = new Map<string, { readonly application: string; readonly cell: RemedyCell }>();
  for (const { application, result } of seeds.flat())
    for (const cell of result.cells) names.set(`${application}, ${cellName(cell)}`, { application, cell });
  const rows = [...names].map(([name, { application, cell }]): StudyRow => {
    const id = `remedy-${application}-${cell.resource}-${cell.load}`;
    const cells = seeds.flatMap((units) =>
      units
        .filter((unit) => unit.application === application)
        .flatMap(({ result }) => result.cells.filter((one) => cellName(one) === cellName(cell))),
    );
    const pairs = cells.map(({ out, up }) => ({ numerator: out, denominator: up }));
    const what = `${name}: median latency with a second container as a multiple of that with twice the limit`;
    return shown({ id, what, ours: timesAsMuch(pairs, { id }) });
  });
  const wins = (isWon: (row: StudyRow) => boolean): number => rows.filter(isWon).length;
  const [up, out] = [wins(({ ours }) => ours.lo > 1), wins(({ ours }) => ours.hi < 1)];
  const both = Math.min(up, out);
  return [
    reproduceAtLeast(
      {
        id: "no-one-remedy",
        what: `cells in which scaling up is better (${up}) and in which scaling out is (${out}), of ${rows.length}: the lesser of the two`,
        paper: null,
        ours: { mean: both, lo: both, hi: both, n: rows.length, unit: "cells" },
        claim: "at least 1 of each: no one remedy fits all loads and resources",
      },
      { bound: 1 },
    ),
    ...rows,
  ];
}

function remedyFigure(results: Results): Figure {
  const cells = ofKind(results, "remedies").flatMap((units) =>
    units.flatMap(({ application, result }) => result.cells.map((cell) => ({ application, cell }))),
  );
  const series = [...new Set(cells.map(({ application, cell }) => `${application}, ${cell.resource}`))];
  const loads = [...new Set(cells.map(({ cell }) => cell.load))].sort((a, b) => a - b);
  const ratioAt = (name: string, load: number): number => {
    const own = cells.filter((one) => `${one.application}, ${one.cell.resource}` === name && one.cell.load === load);
    const sum = (of: "up" | "out"): number => own.reduce((total, { cell }) => total + cell[of], 0);
    return own.length === 0 ? 0 : sum("out") / sum("up");
  };
  return {
    kind: "lines",
    id: "remedies",
    title: "Scale up or scale out",
    subtitle: "by load and by what is short: above 1 twice the limit is better, below 1 a second container; all seeds",
    x: { label: "load over the usual one" },
    y: { label: "median latency, scaled out over scaled up", unit: "×" },
    lines: series.map((name) => ({ name, x: loads, y: loads.map((load) => ratioAt(name, load)) })),
  };
}
