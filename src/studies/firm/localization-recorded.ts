/**
 * Localisation on recorded, labelled traces: each fault judged by a localizer that has learned from all others.
 * Owns: the run over one recorded application, and the naive rules beside it. Not here: reading the set (adapters/datasets),
 * the claims (firm-traces.ts).
 *
 * What is normal comes from the fault-free minutes nearest to a fault on its day: days differ from each other by more than
 * most faults do. Of telemetry the set has CPU, one value a minute; the localizer is judged with it and without.
 */
import type { RecordedTraces, RecordedWindow } from "../../adapters/datasets/index.ts";
import { type Limits, type Ms, milliseconds, type Ratio } from "../../base/index.ts";
import { Localizer, type LocalizerLook } from "../../control/localize/index.ts";
import type { AnalysedTraces, InstanceCounters, InstanceReading, Span } from "../../observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder, RelationTracker } from "../../observe/tracing/index.ts";
import { mean, variance } from "../statistics/index.ts";

export const recordedMethods = ["learned", "spans", "untrained", "latency", "variance"] as const;
export type RecordedMethod = (typeof recordedMethods)[number];

export interface FaultResult {
  readonly fault: number;
  readonly type: string;
  readonly service: string;
  /** Services that were suspects. */
  readonly suspects: number;
  /** From 1; 0 where the service was not among the suspects. */
  readonly place: Readonly<Record<RecordedMethod, number>>;
}

export interface RecordedJob {
  readonly recording: RecordedTraces;
  readonly seed: number;
  /** Times that the other faults are learned from, in turn. */
  readonly passes: number;
  readonly progress: (fraction: number) => void;
}

interface Case {
  readonly fault: number;
  readonly type: string;
  readonly service: string;
  /** With what telemetry says, and without. */
  readonly looks: { readonly learned: LocalizerLook; readonly spans: LocalizerLook };
  readonly ranked: Readonly<Record<"untrained" | "latency" | "variance", readonly string[]>>;
}

const ALL_TIME = Number.MAX_SAFE_INTEGER as Ms;
const LAST = Number.MAX_SAFE_INTEGER as Ms;
const SKEW_US = 1_000;
/** As many as a fault has, so that neither side is the better known. */
const NORMAL_MINUTES = 3;
const DAY = 86_400_000;

export function localizeRecorded({ recording, seed, passes, progress }: RecordedJob): readonly FaultResult[] {
  const fresh = () => new Localizer({ seed, window: ALL_TIME, features: "habits" });
  const calm = recording.windows.filter(({ fault }) => fault === null);
  const analysedNormal = new Map<string, AnalysedTraces>();
  const faults = recording.faults.filter(({ fault }) => recording.windows.some((window) => window.fault === fault));
  const cases = faults.map(({ fault, type, service }, k): Case => {
    progress((0.9 * k) / faults.length);
    const windows = recording.windows.filter((window) => window.fault === fault);
    const normal = nearestTo(windows[0]?.at ?? LAST, calm);
    const key = normal.map(({ window }) => window).join();
    const before = analysedNormal.get(key) ?? analysed(normal.flatMap(({ spans }) => spans));
    analysedNormal.set(key, before);
    const traces = analysed(windows.flatMap(({ spans }) => spans));
    const localizer = fresh();
    localizer.observe(before);
    localizer.settleNormal();
    localizer.observe(traces);
    const spans = localizer.look(LAST);
    const untrained = localizer.suspects(spans).map(({ instance }) => instance);
    readCpu(localizer, { normal, windows });
    const looks = { learned: localizer.look(LAST), spans };
    return { fault, type, service, looks, ranked: { untrained, ...rules(traces) } };
  });
  return cases.map((own) => {
    const rankedBy = (method: "learned" | "spans"): readonly string[] => {
      const localizer = fresh();
      for (let pass = 0; pass < passes; pass++)
        for (const other of cases)
          if (other !== own) localizer.learn({ culprits: [other.service] }, other.looks[method]);
      return localizer.suspects(own.looks[method]).map(({ instance }) => instance);
    };
    const ranked = { learned: rankedBy("learned"), spans: rankedBy("spans"), ...own.ranked };
    const placeIn = (method: RecordedMethod): number => ranked[method].indexOf(own.service) + 1;
    return {
      fault: own.fault,
      type: own.type,
      service: own.service,
      suspects: ranked.learned.length,
      place: {
        learned: placeIn("learned"),
        spans: placeIn("spans"),
        untrained: placeIn("untrained"),
        latency: placeIn("latency"),
        variance: placeIn("variance"),
      },
    };
  });
}

/** Of the same day where it has any. */
function nearestTo(at: Ms, calm: readonly RecordedWindow[]): readonly RecordedWindow[] {
  const dayOf = (time: Ms): number => Math.floor(time / DAY);
  const sameDay = calm.filter((window) => dayOf(window.at) === dayOf(at));
  return [...(sameDay.length > 0 ? sameDay : calm)]
    .sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at) || a.window - b.window)
    .slice(0, NORMAL_MINUTES);
}

/** A present is made of several readings, which here are a minute apart: each is read so often. */
const TURNS = 4;
const one: Limits = { cpu: 1, memory: 1, llc: 1, io: 1, network: 1 } as Limits;
const noCounters: InstanceCounters = {
  cpuUsageSecondsTotal: 0,
  cpuCfsPeriodsTotal: 0,
  cpuCfsThrottledPeriodsTotal: 0,
  cpuPeakCores: 0,
  memoryUsageBytes: 0,
  fsReadSeconds: 0,
  fsWriteSeconds: 0,
  fsUsageBytes: 0,
  networkTransmitBytesTotal: 0,
  networkReceiveBytesTotal: 0,
  processes: 0,
  llcHitLocalDram: 0,
  llcMissLocalDram: 0,
  llcHitRemoteDram: 0,
  llcMissRemoteDram: 0,
};

/** The normal minutes by turns, then those of the fault. Nodes are not known: all are neighbours. */
function readCpu(
  localizer: Localizer,
  { normal, windows }: { readonly normal: readonly RecordedWindow[]; readonly windows: readonly RecordedWindow[] },
): void {
  let at = 0;
  const read = ({ cpu }: RecordedWindow, isCalm: boolean): void => {
    at += 1;
    const instances = [...cpu].map(
      ([service, used]): InstanceReading => ({
        instance: service,
        service,
        node: "",
        at: milliseconds(at),
        isReady: true,
        threads: 1,
        limits: one,
        lower: one,
        upper: one,
        counters: noCounters,
        use: { cpu: used as Ratio, memory: 0 as Ratio, llc: 0 as Ratio, io: 0 as Ratio, network: 0 as Ratio },
      }),
    );
    localizer.read({ instances, isCalm });
  };
  for (let turn = 0; turn < TURNS; turn++) for (const window of normal) read(window, true);
  for (let turn = 0; turn < TURNS; turn++) for (const window of windows) read(window, false);
}

/** Services by the mean, and by the variance, of their own time on critical paths. */
function rules({ block, criticalUs }: AnalysedTraces): { readonly latency: string[]; readonly variance: string[] } {
  const times = new Map<string, number[]>();
  for (let row = 0; row < block.spans.length; row++) {
    if (criticalUs[row]! < 0) continue;
    const service = block.names.text(block.spans.service[row]!);
    const own = times.get(service) ?? [];
    own.push(criticalUs[row]!);
    times.set(service, own);
  }
  const by = (figure: (values: readonly number[]) => number): string[] =>
    [...times]
      .map(([service, values]) => ({ service, value: values.length < 2 ? 0 : figure(values) }))
      .sort((a, b) => b.value - a.value || (a.service < b.service ? -1 : 1))
      .map(({ service }) => service);
  return { latency: by(mean), variance: by(variance) };
}

function analysed(spans: readonly Span[]): AnalysedTraces {
  const { block } = assembleTraces(spans);
  const relations = new RelationTracker({ skewUs: SKEW_US });
  for (let trace = 0; trace < block.size; trace++) relations.observe(block, trace);
  const finder = new CriticalPathFinder({ relations, skewUs: SKEW_US });
  const criticalUs = new Float64Array(block.spans.length).fill(-1);
  for (let trace = 0; trace < block.size; trace++) {
    finder.find(block, trace);
    for (let k = 0; k < finder.length; k++) {
      const span = finder.spanAt(k);
      criticalUs[block.offsets[trace]! + span] = finder.exclusiveUs(span);
    }
  }
  return { block, criticalUs };
}
