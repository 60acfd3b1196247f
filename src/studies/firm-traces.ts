/** Localisation on recorded traces with labelled faults, beside naive rules and published figures. */
import { locateDataset, type RecordedApplication, readNezhaTraces } from "../adapters/datasets/index.ts";
import type { Figure } from "../adapters/plot/index.ts";
import { unwrap } from "../base/index.ts";
import { promiseAtLeast, reproduceAtLeast, shown } from "./claim.ts";
import { pooledOver } from "./firm/localization-figures.ts";
import { type FaultResult, localizeRecorded, type RecordedMethod } from "./firm/localization-recorded.ts";
import type { PaperFigure, Study, StudyRow, UnitResult } from "./study.ts";

export interface RecordedConfig {
  readonly applications: readonly RecordedApplication[];
  /** Of each minute, the first so many traces; 0: all. */
  readonly mostTraces: number;
  readonly passes: number;
}

type Results = readonly UnitResult<readonly FaultResult[]>[];

export const firmTraces: Study<readonly FaultResult[], RecordedConfig> = {
  id: "firm-traces",
  title: "FIRM's localizer on recorded traces with labelled faults (Online Boutique, Train-Ticket)",
  about:
    "Real spans of two applications (data set nezha-traces), one service at fault at a time. Each fault is judged by a " +
    "localizer that learned from all other faults of the application and never from it; what is normal comes from the " +
    "nearest minutes without faults, and CPU, which the set has by the minute, is read as telemetry; spans alone are told " +
    "beside. Two naive rules are told beside it: the service with the highest mean, and with the highest variance, of its " +
    "own time on critical paths. Faults of two kinds are in the set: those that take time (CPU, network), which this method " +
    "is made for, and defects of code (exceptions, wrong returns), which it is not: FIRM says so itself (3.4). The published " +
    "method reads logs too, in which such defects are written, and takes a CPU above 80 % and a way above 200 ms (300 ms in " +
    "Train-Ticket) as events. What is compared with what was chosen with these faults in sight, so other faults may fare worse.",
  world: "recorded",
  seeds: { quick: 1, full: 1, first: 511 },
  config: ({ quick }) => ({
    applications: ["hipster", "train-ticket"],
    mostTraces: quick ? 60 : 0,
    passes: quick ? 4 : 10,
  }),
  units: ({ applications }) => applications,
  runUnit: async ({ seed, unit, config, progress }) => {
    const folder = unwrap(locateDataset("nezha-traces"));
    const application = unit as RecordedApplication;
    const more = config.mostTraces === 0 ? {} : { mostTraces: config.mostTraces };
    const recording = unwrap(await readNezhaTraces(folder, { application, ...more }));
    progress(0.1);
    return localizeRecorded({ recording, seed, passes: config.passes, progress: (done) => progress(0.1 + 0.9 * done) });
  },
  rows,
  figures: (results) => [figure(results)],
};

const names: Readonly<Record<string, string>> = { hipster: "Online Boutique", "train-ticket": "Train-Ticket" };
const WHERE = "Nezha's repository, its own run at service level; spans, logs and metrics together";
const published: Readonly<Record<string, Readonly<Record<1 | 3, PaperFigure>>>> = {
  hipster: {
    1: { low: 0.929, high: 0.929, unit: "of faults", where: `${WHERE}, 56 faults` },
    3: { low: 0.964, high: 0.964, unit: "of faults", where: `${WHERE}, 56 faults` },
  },
  "train-ticket": {
    1: { low: 0.867, high: 0.867, unit: "of faults", where: `${WHERE}, 45 faults` },
    3: { low: 0.978, high: 0.978, unit: "of faults", where: `${WHERE}, 45 faults` },
  },
};

const timed = new Set(["cpu_contention", "cpu_consumed", "network_delay"]);
const isTimed = ({ type }: FaultResult): boolean => timed.has(type);

const within = (fault: FaultResult, method: RecordedMethod, top: 1 | 3): boolean =>
  fault.place[method] > 0 && fault.place[method] <= top;

const shareWithin = (faults: readonly FaultResult[], method: RecordedMethod, top: 1 | 3): number =>
  faults.length === 0 ? 0 : faults.filter((fault) => within(fault, method, top)).length / faults.length;

/** By how much a clear margin is clear. */
const MARGIN = 0.2;

function rows(results: Results): readonly StudyRow[] {
  const faults = results.flatMap(({ result }) => result);
  const top = ({ id, what, of, method, best }: TopRow) => ({
    id,
    what,
    ours: pooledOver(of, (drawn) => shareWithin(drawn, method, best), { id, unit: "of faults" }),
  });
  const promised = (row: TopRow, bound: number): StudyRow =>
    promiseAtLeast({ ...top(row), paper: null, claim: `At least ${bound} of faults.` }, bound);
  const over = (id: string, rule: "latency" | "variance"): StudyRow =>
    promiseAtLeast(
      {
        id,
        what: `Top@1 of the learned localizer less Top@1 of the highest ${rule}, all faults`,
        paper: null,
        ours: pooledOver(faults, (drawn) => shareWithin(drawn, "learned", 1) - shareWithin(drawn, rule, 1), {
          id,
          unit: "of faults",
        }),
        claim: `At least ${MARGIN} more faults are found than by the highest ${rule}.`,
      },
      MARGIN,
    );
  const perApplication = results.flatMap(({ unit, result }) =>
    ([1, 3] as const).map((best): StudyRow => {
      const what = `${names[unit] ?? unit}: the service at fault is among the first ${best}, all kinds of faults`;
      const row = top({ id: `top${best}-${unit}`, what, of: result, method: "learned", best });
      const paper = published[unit]?.[best] ?? null;
      if (paper === null) return shown(row);
      const claim = `At least ${paper.low} of faults, as published.`;
      return reproduceAtLeast({ ...row, paper, claim }, { bound: paper.low });
    }),
  );
  const byKind = ([1, 3] as const).flatMap((best) => [
    promised(
      {
        id: `top${best}-timed`,
        what: `faults that take time (CPU, network), both applications: among the first ${best}`,
        of: faults.filter(isTimed),
        method: "learned",
        best,
      },
      best === 1 ? 0.8 : 0.9,
    ),
    promised(
      {
        id: `top${best}-code`,
        what: `defects of code (exceptions, wrong returns), both applications: among the first ${best}`,
        of: faults.filter((fault) => !isTimed(fault)),
        method: "learned",
        best,
      },
      best === 1 ? 0.5 : 0.8,
    ),
  ]);
  const others = (["spans", "untrained", "latency", "variance"] as const).map((method) =>
    shown(
      top({ id: `top1-${method}`, what: `${methodNames[method]}: Top@1, all faults`, of: faults, method, best: 1 }),
    ),
  );
  return [over("over-latency", "latency"), over("over-variance", "variance"), ...perApplication, ...byKind, ...others];
}

interface TopRow {
  readonly id: string;
  readonly what: string;
  readonly of: readonly FaultResult[];
  readonly method: RecordedMethod;
  readonly best: 1 | 3;
}

const methodNames: Readonly<Record<RecordedMethod, string>> = {
  learned: "learned from the other faults",
  spans: "the same from spans alone, without CPU",
  untrained: "Algorithm 3.2's two features, without labels",
  latency: "the highest mean latency",
  variance: "the highest variance",
};

function figure(results: Results): Figure {
  const types = [...new Set(results.flatMap(({ result }) => result.map(({ type }) => type)))].sort();
  const faults = results.flatMap(({ result }) => result);
  return {
    kind: "bars",
    id: "top1",
    title: "Faults whose service came first, by kind of fault",
    subtitle: `${faults.length} faults of two applications; each judged without having learned from it`,
    y: { label: "Top@1", domain: [0, 1] },
    bars: types.flatMap((type) =>
      (Object.keys(methodNames) as RecordedMethod[]).map((method) => ({
        label: methodNames[method],
        group: type.replace("_", " "),
        value: shareWithin(
          faults.filter((fault) => fault.type === type),
          method,
          1,
        ),
      })),
    ),
  };
}
