/**
 * What the vertical autoscaler remembers of containers.
 * Owns: one aggregate per container name, the memory peak of the running day per container, OOM bumps, forgetting,
 * checkpoints (v3).
 * Not here: what is recommended from it (recommend.ts).
 */
import type { Bytes, Millicores, Ms, Result } from "../../../base/index.ts";
import { assertNever, bytes, err, failure, ok } from "../../../base/index.ts";
import type { VpaConfig } from "./config.ts";
import { minSampleWeight } from "./config.ts";
import type { Histogram, HistogramCheckpoint } from "./histogram.ts";
import { addSample, copyHistogram, emptyHistogram, loadHistogram, saveHistogram, subtractSample } from "./histogram.ts";

export interface ContainerAggregate {
  readonly cpu: Histogram;
  readonly memory: Histogram;
  /** First and last sample and their number count CPU samples only. */
  readonly firstSample: Ms | null;
  readonly lastSample: Ms | null;
  readonly samples: number;
}

/** The running memory interval of one container of one pod. */
export interface ContainerHistory {
  readonly lastCpu: Ms | null;
  readonly lastMemory: Ms | null;
  readonly memoryPeak: Bytes;
  readonly oomPeak: Bytes;
  readonly windowEnd: Ms | null;
}

export interface VpaState {
  readonly aggregates: Readonly<Record<string, ContainerAggregate>>;
  /** By pod, then by container. */
  readonly pods: Readonly<Record<string, Readonly<Record<string, ContainerHistory>>>>;
}

interface Observed {
  readonly pod: string;
  readonly container: string;
  readonly at: Ms;
}

export type VpaObservation =
  | (Observed & { readonly kind: "cpu"; readonly usage: Millicores; readonly request?: Millicores })
  | (Observed & { readonly kind: "memory"; readonly usage: Bytes })
  | (Observed & { readonly kind: "oom"; readonly request: Bytes });

export interface Discarded {
  readonly observation: VpaObservation;
  readonly why: "not-a-usage" | "out-of-order" | "too-old";
}

export const freshVpaState: VpaState = Object.freeze({ aggregates: {}, pods: {} });

const freshContainer: ContainerHistory = Object.freeze({
  lastCpu: null,
  lastMemory: null,
  memoryPeak: bytes(0),
  oomPeak: bytes(0),
  windowEnd: null,
});

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Takes in any number of observations, each container's in the order of time. Copies what it changes once per call, so
 * eight days of history (about 11,500 samples of a container) load in one call in milliseconds.
 */
export function vpaObserve(
  config: VpaConfig,
  state: VpaState,
  observations: readonly VpaObservation[],
): { readonly state: VpaState; readonly discarded: readonly Discarded[] } {
  if (observations.length === 0) return { state, discarded: [] };
  const aggregates: Record<string, Mutable<ContainerAggregate>> = { ...state.aggregates };
  const pods: Record<string, Record<string, ContainerHistory>> = { ...state.pods };
  const copiedAggregates = new Set<string>();
  const copiedPods = new Set<string>();
  const discarded: Discarded[] = [];

  for (const observation of observations) {
    const { pod, container } = observation;
    if (!copiedAggregates.has(container)) {
      copiedAggregates.add(container);
      aggregates[container] = copyAggregate(aggregates[container] ?? freshAggregate(config));
    }
    if (!copiedPods.has(pod)) {
      copiedPods.add(pod);
      pods[pod] = { ...pods[pod] };
    }
    const containers = pods[pod];
    const aggregate = aggregates[container];
    if (containers === undefined || aggregate === undefined) throw new Error("both were made above");
    const outcome = observe({ config, aggregate, history: containers[container] ?? freshContainer }, observation);
    if (typeof outcome === "string") discarded.push({ observation, why: outcome });
    else containers[container] = outcome;
  }
  return { state: { aggregates, pods }, discarded };
}

const freshAggregate = (config: VpaConfig): ContainerAggregate => ({
  cpu: emptyHistogram(config.cpu.histogram),
  memory: emptyHistogram(config.memory.histogram),
  firstSample: null,
  lastSample: null,
  samples: 0,
});

// Copies are written out here: a spread costs several times as much, and this happens for every pod in every tick.
const copyAggregate = (from: ContainerAggregate): Mutable<ContainerAggregate> => ({
  cpu: copyHistogram(from.cpu),
  memory: copyHistogram(from.memory),
  firstSample: from.firstSample,
  lastSample: from.lastSample,
  samples: from.samples,
});

interface Place {
  readonly config: VpaConfig;
  readonly aggregate: Mutable<ContainerAggregate>;
  readonly history: ContainerHistory;
}

function observe(place: Place, observation: VpaObservation): ContainerHistory | Discarded["why"] {
  if (!Number.isFinite(observation.at)) return "not-a-usage";
  switch (observation.kind) {
    case "cpu":
      return observeCpu(place, observation);
    case "memory":
      return observeMemory(place, { at: observation.at, usage: wholeUp(observation.usage), isOom: false });
    case "oom":
      return observeOom(place, observation);
    default:
      return assertNever(observation);
  }
}

/** Kubernetes rounds quantities up to whole millicores and bytes. */
const wholeUp = (amount: number): number => Math.ceil(amount);
const isUsage = (amount: number): boolean => Number.isFinite(amount) && amount >= 0;

function observeCpu(
  { config, aggregate, history }: Place,
  { at, usage, request }: VpaObservation & { kind: "cpu" },
): ContainerHistory | Discarded["why"] {
  if (!isUsage(usage)) return "not-a-usage";
  if (history.lastCpu !== null && at <= history.lastCpu) return "out-of-order";
  const requested = config.cpuWeight === "request" ? (request ?? 0) / 1000 : 0;
  addSample(aggregate.cpu, config.cpu.histogram, {
    value: wholeUp(usage) / 1000,
    weight: Math.max(requested, minSampleWeight),
    at,
  });
  if (aggregate.lastSample === null || at > aggregate.lastSample) aggregate.lastSample = at;
  if (aggregate.firstSample === null || at < aggregate.firstSample) aggregate.firstSample = at;
  aggregate.samples += 1;
  const { lastMemory, memoryPeak, oomPeak, windowEnd } = history;
  return { lastCpu: at, lastMemory, memoryPeak, oomPeak, windowEnd };
}

interface MemorySample {
  readonly at: Ms;
  readonly usage: number;
  readonly isOom: boolean;
}

/** Memory is remembered by its peak per interval: a higher one replaces the interval's peak in the histogram. */
function observeMemory(
  { config, aggregate, history }: Place,
  { at, usage, isOom }: MemorySample,
): ContainerHistory | Discarded["why"] {
  if (!isUsage(usage)) return "not-a-usage";
  if (!isOom && history.lastMemory !== null && at < history.lastMemory) return "out-of-order";
  const shape = config.memory.histogram;
  let { memoryPeak, oomPeak } = history;
  let windowEnd = history.windowEnd ?? at;
  let isNewPeak = false;
  if (at < windowEnd) {
    const peak = Math.max(memoryPeak, oomPeak);
    if (peak !== 0 && usage > peak) {
      subtractSample(aggregate.memory, shape, { value: peak, weight: 1, at: windowEnd });
      isNewPeak = true;
    }
  } else {
    const shift = Math.trunc((at - windowEnd) / config.memoryInterval) * config.memoryInterval + config.memoryInterval;
    windowEnd = (windowEnd + shift) as Ms;
    memoryPeak = bytes(0);
    oomPeak = bytes(0);
    isNewPeak = true;
  }
  if (isNewPeak) {
    addSample(aggregate.memory, shape, { value: usage, weight: 1, at: windowEnd });
    if (isOom) oomPeak = bytes(usage);
    else memoryPeak = bytes(usage);
  }
  return { lastCpu: history.lastCpu, lastMemory: at, memoryPeak, oomPeak, windowEnd };
}

/** An OOM kill tells only that more was needed: the sample is the request or the peak, whichever is more, plus a bump. */
function observeOom(
  place: Place,
  { at, request }: VpaObservation & { kind: "oom" },
): ContainerHistory | Discarded["why"] {
  const { config, history } = place;
  if (!isUsage(request)) return "not-a-usage";
  if (history.lastMemory !== null && at < history.lastMemory - config.memoryInterval) return "too-old";
  // Earlier bumps are left out of the base, or a crash loop would run the request away.
  const used = Math.max(wholeUp(request), history.memoryPeak);
  const needed = Math.max(used + config.oomMinBump, Math.trunc(used * config.oomBumpRatio));
  return observeMemory(place, { at, usage: needed, isOom: true });
}

/** Drops pods that are gone and containers that sent no CPU sample for the whole memory window. */
export function vpaForget(
  config: VpaConfig,
  state: VpaState,
  present: { livePods: Iterable<string>; now: Ms },
): VpaState {
  const live = new Set(present.livePods);
  const expiry = present.now - config.memoryInterval * config.memoryIntervals;
  const pods = onlyThose(state.pods, (pod) => live.has(pod));
  const aggregates = onlyThose(state.aggregates, (_, { lastSample }) => lastSample === null || lastSample > expiry);
  return pods === state.pods && aggregates === state.aggregates ? state : { aggregates, pods };
}

/** The record itself where all of it stays, as is nearly always so. */
function onlyThose<T>(
  record: Readonly<Record<string, T>>,
  stays: (key: string, value: T) => boolean,
): Readonly<Record<string, T>> {
  for (const key in record) {
    if (stays(key, record[key] as T)) continue;
    return Object.fromEntries(Object.entries(record).filter(([name, value]) => stays(name, value)));
  }
  return record;
}

/** The status of a VerticalPodAutoscalerCheckpoint, which is what survives a restart of the original. */
export interface VpaCheckpoint {
  readonly version: "v3";
  readonly cpuHistogram: HistogramCheckpoint;
  readonly memoryHistogram: HistogramCheckpoint;
  readonly firstSampleStart: Ms | null;
  readonly lastSampleStart: Ms | null;
  readonly totalSamplesCount: number;
}

export function saveCheckpoint(aggregate: ContainerAggregate): VpaCheckpoint {
  return {
    version: "v3",
    cpuHistogram: saveHistogram(aggregate.cpu),
    memoryHistogram: saveHistogram(aggregate.memory),
    firstSampleStart: aggregate.firstSample,
    lastSampleStart: aggregate.lastSample,
    totalSamplesCount: aggregate.samples,
  };
}

export function loadCheckpoint(config: VpaConfig, checkpoint: VpaCheckpoint): Result<ContainerAggregate> {
  if (checkpoint.version !== "v3")
    return err(
      failure(
        "vpa.checkpoint-version",
        `a checkpoint of version ${String(checkpoint.version)} was given: only v3 is understood`,
      ),
    );
  const cpu = loadHistogram(checkpoint.cpuHistogram, config.cpu.histogram);
  if (!cpu.ok) return cpu;
  const memory = loadHistogram(checkpoint.memoryHistogram, config.memory.histogram);
  if (!memory.ok) return memory;
  return ok({
    cpu: cpu.value,
    memory: memory.value,
    firstSample: checkpoint.firstSampleStart,
    lastSample: checkpoint.lastSampleStart,
    samples: checkpoint.totalSamplesCount,
  });
}
