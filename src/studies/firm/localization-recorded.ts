/**
 * Localisation on recorded, labelled traces: each fault judged by a localizer that has learned from all others.
 * Owns: the run over one recorded application, and the naive rules beside it. Not here: reading the set (adapters/datasets),
 * the claims (firm-traces.ts).
 *
 * The recording has minutes of normal times; they are the normal. It has no telemetry that fits (one value a minute), so
 * resources are not named here.
 */
import type { RecordedTraces } from "../../adapters/datasets/index.ts";
import type { Ms } from "../../base/index.ts";
import { Localizer, type LocalizerLook } from "../../control/localize/index.ts";
import type { AnalysedTraces, Span } from "../../observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder, RelationTracker } from "../../observe/tracing/index.ts";
import { mean, variance } from "../statistics/index.ts";

export const recordedMethods = ["learned", "untrained", "latency", "variance"] as const;
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
  readonly look: LocalizerLook;
  readonly ranked: Readonly<Record<Exclude<RecordedMethod, "learned">, readonly string[]>>;
}

const ALL_TIME = Number.MAX_SAFE_INTEGER as Ms;
const LAST = Number.MAX_SAFE_INTEGER as Ms;
const SKEW_US = 1_000;

export function localizeRecorded({ recording, seed, passes, progress }: RecordedJob): readonly FaultResult[] {
  const fresh = () => new Localizer({ seed, window: ALL_TIME });
  const normal = analysed(recording.windows.filter(({ fault }) => fault === null).flatMap(({ spans }) => spans));
  const faults = recording.faults.filter(({ fault }) => recording.windows.some((window) => window.fault === fault));
  const cases = faults.map(({ fault, type, service }, k): Case => {
    progress((0.9 * k) / faults.length);
    const spans = recording.windows.filter((window) => window.fault === fault).flatMap((window) => window.spans);
    const traces = analysed(spans);
    const localizer = fresh();
    localizer.observe(normal);
    localizer.settleNormal();
    localizer.observe(traces);
    const look = localizer.look(LAST);
    const untrained = localizer.suspects(look).map(({ instance }) => instance);
    return { fault, type, service, look, ranked: { untrained, ...rules(traces) } };
  });
  return cases.map((own) => {
    const localizer = fresh();
    for (let pass = 0; pass < passes; pass++)
      for (const other of cases) if (other !== own) localizer.learn({ culprits: [other.service] }, other.look);
    const learned = localizer.suspects(own.look).map(({ instance }) => instance);
    const ranked: Readonly<Record<RecordedMethod, readonly string[]>> = { learned, ...own.ranked };
    const placeIn = (method: RecordedMethod): number => ranked[method].indexOf(own.service) + 1;
    return {
      ...{ fault: own.fault, type: own.type, service: own.service, suspects: learned.length },
      place: {
        learned: placeIn("learned"),
        untrained: placeIn("untrained"),
        latency: placeIn("latency"),
        variance: placeIn("variance"),
      },
    };
  });
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
