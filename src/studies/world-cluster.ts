/**
 * world-cluster: how far the fluid rung of the cluster world is from the event rung.
 * Owns: the grid of conditions, the rows and what is claimed. Not here: measuring one condition (sim/cluster/agreement.ts).
 *
 * Agents train on the fluid rung and are reported on the event rung, so this error is part of every AWARE result. The
 * worst cells are printed as rows: a median can hide anything.
 */
import { CodedError, failure, seededRng } from "../base/index.ts";
import {
  type AgreementCell,
  type CellMeasurement,
  cellRate,
  evaluationNodes,
  eventWorld,
  fluidWorld,
  generateApplications,
  latencyError,
  measureCell,
} from "../sim/index.ts";
import { promiseAtMost, shown } from "./claim.ts";
import { bootstrap, mean, median } from "./statistics/index.ts";
import type { Estimate, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface GridConfig {
  readonly utilisations: readonly number[];
  readonly cores: readonly number[];
  readonly replicas: readonly number[];
  readonly dispersions: readonly number[];
  /** Applications per seed, each a unit; drawn anew for every seed. */
  readonly applications: number;
  /** Every so many cells of the grid is run, beginning elsewhere for every application. */
  readonly stride: number;
  /** Cells that ask for more requests per second are left out: studies have 5 to 40. */
  readonly mostPerSecond: number;
  readonly minutes: number;
}

export interface GridCell {
  readonly name: string;
  readonly utilisation: number;
  readonly event: CellMeasurement;
  readonly fluid: CellMeasurement;
}

export const worldCluster: Study<readonly GridCell[], GridConfig> = {
  id: "world-cluster",
  title: "The cluster world: fluid against event",
  about:
    "Agents train on the fluid rung of the cluster world and are judged on the event rung. Both run the same applications under utilisations from 0.2 to 1.2, several CPU limits, replicas and burstiness; each cell compares the median over minutes of p50 and p99, the share of requests answered and the share refused.",
  world: "event",
  seeds: { quick: 2, full: 10 },
  config: ({ quick }) => ({
    utilisations: [0.2, 0.4, 0.6, 0.8, 1, 1.2],
    cores: [0.25, 1, 2],
    replicas: [1, 3, 8],
    dispersions: [1, 4],
    applications: quick ? 2 : 4,
    stride: quick ? 5 : 2,
    mostPerSecond: 60,
    minutes: quick ? 12 : 30,
  }),
  units: ({ applications }) => Array.from({ length: applications }, (_, i) => `application-${i}`),
  runUnit,
  rows: (results) => rowsOf(results),
  figures: (results) => [
    {
      kind: "lines",
      id: "error",
      title: "Fluid against event: relative error by utilisation",
      subtitle: "median over cells with its 95 % bootstrap interval",
      x: { label: "CPU utilisation asked for" },
      y: { label: "relative error", unit: "%" },
      lines: [curve("p50", cellsOf(results)), curve("p99", cellsOf(results))],
      references: [
        { label: "bound for p50", low: 10, of: "p50" },
        { label: "bound for p99", low: 20, of: "p99" },
      ],
    },
  ],
};

function runUnit({ seed, unit, config, progress, signal }: StudyJob<GridConfig>): readonly GridCell[] {
  const index = Number(unit.split("-").at(-1));
  const application = generateApplications({ seed, count: config.applications })[index];
  if (application === undefined)
    throw new CodedError(failure("study.unit", `world-cluster has no unit '${unit}': ask for one that it lists`));
  // One kind of processor: which node a pod lands on is the same code in both rungs.
  const nodes = evaluationNodes().filter(({ processor }) => processor === "xeon-e5");
  const grid = gridOf(config, application).filter((_, place) => (place + index + seed) % config.stride === 0);
  return grid.map((cell, place) => {
    signal.throwIfAborted();
    progress(place / grid.length);
    const options = { nodes, seed, minutes: config.minutes };
    const { utilisation, cores, replicas, dispersion } = cell;
    return {
      name: `${application.segments.join("+")}, ${utilisation} of ${replicas} × ${cores} cores, dispersion ${dispersion}, seed ${seed}`,
      utilisation,
      event: measureCell(eventWorld, cell, options),
      fluid: measureCell(fluidWorld, cell, options),
    };
  });
}

function gridOf(config: GridConfig, application: AgreementCell["application"]): AgreementCell[] {
  const cells: AgreementCell[] = [];
  for (const utilisation of config.utilisations) {
    for (const cores of config.cores) {
      for (const replicas of config.replicas) {
        for (const dispersion of config.dispersions) {
          const cell = { application, utilisation, cores, replicas, dispersion };
          if (cellRate(cell) <= config.mostPerSecond) cells.push(cell);
        }
      }
    }
  }
  return cells;
}

const cellsOf = (results: readonly UnitResult<readonly GridCell[]>[]): readonly GridCell[] =>
  results.flatMap(({ result }) => result);

type Percentile = "p50" | "p99";

/** Percent; cells in which neither rung answers anybody have no latency to compare. */
const errorsOf = (cells: readonly GridCell[], which: Percentile): number[] =>
  cells.flatMap(({ fluid, event }) => {
    const error = latencyError(fluid[which], event[which]);
    return error === null ? [] : [100 * error];
  });

const answeredError = ({ fluid, event }: GridCell): number => 100 * Math.abs(fluid.answered - event.answered);
const droppedError = ({ fluid, event }: GridCell): number => 100 * Math.abs(fluid.dropped - event.dropped);

function rowsOf(results: readonly UnitResult<readonly GridCell[]>[]): readonly StudyRow[] {
  const cells = cellsOf(results);
  const below = cells.filter(({ utilisation }) => utilisation < 1);
  return [
    bounded({ id: "p50", what: "p50, all cells", bound: 10 }, errorsOf(cells, "p50")),
    bounded({ id: "p99", what: "p99, all cells", bound: 20 }, errorsOf(cells, "p99")),
    bounded({ id: "p50-below", what: "p50, utilisation below 1", bound: 10 }, errorsOf(below, "p50")),
    bounded({ id: "p99-below", what: "p99, utilisation below 1", bound: 20 }, errorsOf(below, "p99")),
    bounded({ id: "answered", what: "share of requests answered", bound: 5 }, cells.map(answeredError)),
    bounded({ id: "dropped", what: "share of requests refused", bound: 5 }, cells.map(droppedError)),
    shown({
      id: "answered-mean",
      what: "share of requests answered, mean error",
      ours: estimate("answered-mean", cells.map(answeredError), mean),
      why: "near collapse (0 to 100 % answered) the rungs may fall to different sides",
    }),
    ...worst(cells, "p50"),
    ...worst(cells, "p99"),
  ];
}

function bounded(
  { id, what, bound }: { readonly id: string; readonly what: string; readonly bound: number },
  errors: readonly number[],
): StudyRow {
  const ours = estimate(id, errors, median);
  const claim = `the median error is at most ${bound} %`;
  return promiseAtMost({ id, what: `error of ${what}`, paper: null, ours, claim }, bound);
}

function estimate(id: string, errors: readonly number[], statistic: (values: readonly number[]) => number): Estimate {
  const values = errors.length > 0 ? errors : [0];
  const {
    estimate: middle,
    lo,
    hi,
  } = bootstrap(values, statistic, {
    rng: seededRng(0).fork(`world-cluster/${id}`),
    resamples: 2_000,
  });
  return { mean: middle, lo, hi, n: errors.length, unit: "%" };
}

const WORST = 4;

/** The cells where the rungs are farthest apart, as they are. */
function worst(cells: readonly GridCell[], which: Percentile): StudyRow[] {
  const ranked = cells
    .flatMap((cell) => {
      const error = latencyError(cell.fluid[which], cell.event[which]);
      return error === null ? [] : [{ cell, error: 100 * error }];
    })
    .sort((a, b) => b.error - a.error);
  return ranked.slice(0, WORST).map(({ cell, error }, place) =>
    shown({
      id: `${which}-worst-${place + 1}`,
      what: `${which}: ${place === 0 ? "the worst cell" : `worst cell no. ${place + 1}`}: ${cell.name}: event ${ms(cell.event[which])} with ${percent(cell.event.answered)} answered, fluid ${ms(cell.fluid[which])} with ${percent(cell.fluid.answered)}`,
      ours: { mean: error, lo: error, hi: error, n: 1, unit: "%" },
      why: `one of the ${WORST} worst of ${ranked.length} cells`,
    }),
  );
}

const ms = (latency: number | null): string => (latency === null ? "–" : `${Math.round(latency)} ms`);
const percent = (share: number): string => `${Math.round(100 * share)} %`;

function curve(which: Percentile, cells: readonly GridCell[]) {
  const utilisations = [...new Set(cells.map(({ utilisation }) => utilisation))].sort((a, b) => a - b);
  const points = utilisations.map((at) => {
    const errors = errorsOf(
      cells.filter(({ utilisation }) => utilisation === at),
      which,
    );
    return estimate(`${which}-${at}`, errors, median);
  });
  return {
    name: which,
    x: utilisations,
    y: points.map((point) => point.mean),
    lo: points.map((point) => point.lo),
    hi: points.map((point) => point.hi),
  };
}
