/**
 * The rows of aware-adaptation: what AWARE is claimed to save where a workload was never seen.
 * Owns: which measures are compared and against what. Not here: the measures (adaptation-figures.ts).
 *
 * A seed's workloads are summed before anything is divided. Counts may be zero, so one is added to each seed's both
 * sides, which draws ratios towards 1.
 */

import type { PoolKind } from "../../pretraining/index.ts";
import type { ClaimRow } from "../claim.ts";
import { reproduceAtLeast, reproduceAtMost, shown } from "../claim.ts";
import type { RatioPair } from "../statistics/index.ts";
import { sum } from "../statistics/index.ts";
import type { PaperFigure, StudyRow } from "../study.ts";
import type { WorkloadOutcome } from "./adaptation.ts";
import {
  type AdaptationResults,
  type Cost,
  costOf,
  episodeWork,
  stillRewards,
  workloadsBySeed,
} from "./adaptation-figures.ts";
import { percentLess, timesAsMany } from "./compare.ts";
import type { LevelOptions } from "./converge.ts";

export interface RowOptions {
  readonly level: LevelOptions;
}

type Seeds = readonly (readonly WorkloadOutcome[])[];

interface Compared {
  readonly seeds: Seeds;
  readonly pool: PoolKind;
  readonly level: LevelOptions;
}

const inPaper = (low: number, unit: string): PaperFigure => ({ low, high: low, unit, where: "Fig. 8, section 5.2" });
/** The authors' first report of it. */
const inReport = (value: number): PaperFigure => ({
  low: value,
  high: value,
  unit: "%",
  where: "FLASH workshop, Fig. 6",
});

export function adaptationRows(results: AdaptationResults, { level }: RowOptions): readonly StudyRow[] {
  return (["split", "held-out"] as const).flatMap((pool) => {
    const seeds = workloadsBySeed(results, pool);
    if (seeds.length === 0) return [];
    const compared = { seeds, pool, level };
    return pool === "split"
      ? [...speedRows(compared), ...meanwhileRows(compared), ...stillRows(compared), plainRow(compared, moreFeatures)]
      : [...speedRows(compared), ...stillRows(compared), plainRow(compared, noTransfer)];
  });
}

const opponents = [
  { id: "tl", title: "TL", faster: 5.5, cycles: 72 },
  { id: "tl-plus", title: "TL+", faster: 4.6, cycles: 68 },
] as const;

function head({ pool }: Compared, id: string, what: string): Pick<ClaimRow, "id" | "what"> {
  return pool === "split" ? { id, what } : { id: `held-out-${id}`, what: `${what}; applications with unseen segments` };
}

type Measure = (cost: Cost, workload: WorkloadOutcome) => number;

function pairs({ seeds, level }: Compared, who: readonly [string, string], measure: Measure): RatioPair[] {
  const of = (workloads: readonly WorkloadOutcome[], method: string) =>
    sum(workloads.map((workload) => measure(costOf(workload, method, level), workload)));
  return seeds.map((workloads) => ({ numerator: of(workloads, who[0]), denominator: of(workloads, who[1]) }));
}

function speedRows(compared: Compared): StudyRow[] {
  return opponents.flatMap(({ id, title, faster, cycles }) => {
    const times = (row: Pick<ClaimRow, "id" | "what">, measure: Measure, bound: number): StudyRow => {
      const ours = timesAsMany(pairs(compared, [id, "aware"], measure), row);
      const claim = `at least ${bound}×`;
      return reproduceAtLeast({ ...row, paper: inPaper(bound, "×"), ours, claim }, { bound, none: 1 });
    };
    const against = `${title} against AWARE: how many times`;
    const best = head(compared, `faster-${id}`, `${against} the episodes until converged`);
    const own = head(compared, `faster-own-${id}`, `${against} the episodes to the level that each ends on itself`);
    const violations = head(compared, `violations-${id}`, `${against} the violations until converged`);
    return [
      times(best, ({ episodes }) => episodes, faster),
      times(own, ({ episodesToOwn }) => episodesToOwn, faster),
      workRow(compared, { id, title, cycles }),
      times(violations, (cost) => cost.violations, 7.1),
    ];
  });
}

interface Opponent {
  readonly id: string;
  readonly title: string;
  readonly cycles: number;
}

/** In episodes of the opponent's learning, so that adding one to both sides means something. */
function workRow(compared: Compared, { id, title, cycles }: Opponent): StudyRow {
  const row = head(compared, `cycles-${id}`, `AWARE against ${title}: how much less work of learning until converged`);
  const { mean, lo, hi, n } = timesAsMany(
    pairs(compared, ["aware", id], ({ work }, workload) => work / Math.max(1, episodeWork(workload, id))),
    row,
  );
  const less = (ratio: number) => 100 * (1 - ratio);
  const ours = { mean: less(mean), lo: less(hi), hi: less(lo), n, unit: "%" };
  const claim = `at least ${cycles} % less`;
  return reproduceAtLeast({ ...row, paper: inPaper(cycles, "%"), ours, claim }, { bound: cycles, none: 0 });
}

/** What Figure 8 shows besides, and two looks behind it: all hours, and what was reached in the end. */
function meanwhileRows(compared: Compared): StudyRow[] {
  const deficit = (resource: "cpu" | "memory", label: string, times: number): StudyRow => {
    const row = head(
      compared,
      `deficit-${resource}`,
      `TL+ against AWARE: how many times the ${label} utilisation that the converged policy has more`,
    );
    const measure = (cost: Cost) => (resource === "cpu" ? cost.cpuDeficit : cost.memoryDeficit);
    const ours = timesAsMany(pairs(compared, ["tl-plus", "aware"], measure), row);
    const claim = `at least ${times}×`;
    return reproduceAtLeast({ ...row, paper: inPaper(times, "×"), ours, claim }, { bound: times, none: 1 });
  };
  const all = head(compared, "violations-all", "TL against AWARE: how many times the violations in all episodes");
  const end = head(compared, "end-reward", "AWARE against TL: how much less reward when learning ends");
  return [
    deficit("cpu", "CPU", 4.6),
    deficit("memory", "memory", 6.2),
    shown({
      ...all,
      ours: timesAsMany(
        pairs(compared, ["tl", "aware"], ({ allViolations }) => allViolations),
        all,
      ),
      why: "whether all hours tell the same",
    }),
    shown({
      ...end,
      ours: percentLess(
        pairs(compared, ["aware", "tl"], (cost) => cost.end),
        end,
      ),
      why: "whether speed is paid for in the end",
    }),
  ];
}

/** Against what a policy earns that was trained on the very workload, in the same hours. */
function dropOf(compared: Compared, method: string, row: Pick<ClaimRow, "id">) {
  const pooled = compared.seeds.map((workloads) => {
    const rewards = workloads.map((workload) => stillRewards(workload, method));
    return {
      numerator: sum(rewards.map(({ still }) => still)),
      denominator: sum(rewards.map(({ converged }) => converged)),
    };
  });
  return percentLess(pooled, row);
}

function stillRows(compared: Compared): StudyRow[] {
  const aware = head(
    compared,
    "drop-aware",
    "AWARE without adaptation: how much less reward than the converged policy",
  );
  const plain = head(compared, "drop-tl", "TL without adaptation: how much less reward than the converged policy");
  return [
    reproduceAtMost(
      { ...aware, paper: inReport(10.5), ours: dropOf(compared, "aware", aware), claim: "at most 10.5 % less" },
      { bound: 10.5 },
    ),
    shown({
      ...plain,
      paper: inReport(37),
      ours: dropOf(compared, "tl", plain),
      why: "a weakness of the opponent",
    }),
  ];
}

interface Plain {
  readonly id: string;
  readonly who: readonly [string, string];
  readonly what: string;
}

const moreFeatures: Plain = { id: "features-episodes", who: ["tl", "tl-plus"], what: "TL against TL+" };
const noTransfer: Plain = {
  id: "transfer-episodes",
  who: ["firm", "tl"],
  what: "FIRM without transfer against TL",
};

/** Whether the baselines are what they are held to be, since transfer that is worth nothing would be no opponent. */
function plainRow(compared: Compared, { id, who, what }: Plain): StudyRow {
  const row = head(compared, id, `${what}: how many times the episodes until converged`);
  const ours = timesAsMany(
    pairs(compared, who, ({ episodes }) => episodes),
    row,
  );
  return shown({ ...row, ours, why: "whether the opponents are any good" });
}
