/**
 * What the policy sees of a workload: a few numbers between -1 and 1.
 * Owns: the features and their scales, what stands in for a measurement that is missing, and when that is too old.
 * Not here: the reading itself (observe/telemetry), the reward (autoscale-reward.ts).
 */
import type { Failure, Ms, Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { BoxSpace } from "../../../learn/env/index.ts";
import { box } from "../../../learn/env/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import { sloJudges, sloMargin, sloPreservation } from "../../../observe/telemetry/index.ts";
import { positionOf } from "./action.ts";
import type { AugmentedFeature, AugmentedMemory } from "./augmented/augmented.ts";
import { augmentedAfter, augmentedFeatureNames, augmentedValues, noAugmentedMemory } from "./augmented/augmented.ts";
import type { AutoscaleTask, FeatureSet } from "./autoscale.ts";
import type { CalibrationMemory } from "./calibration/seat.ts";
import type { CapacityMemory } from "./capacity/planner.ts";
import type { Demand, DemandMemory } from "./demand.ts";
import { demandAfter, demandOf, noDemand } from "./demand.ts";
import type { Modelled, ModelledFeature } from "./modelled-features.ts";
import { modelledFeatureNames } from "./modelled-features.ts";

/** Table 1 of AWARE, in its order. */
const paperFeatures = [
  "cpu-limit",
  "memory-limit",
  "cpu-use",
  "memory-use",
  "io-use",
  "network-use",
  "latency-preservation",
  "throughput-preservation",
  "load-change",
] as const;

/** What Table 1 leaves in the dark: see docs/adr/0010-what-the-autoscaler-sees.md. */
const furtherFeatures = ["replicas", "load", "ready-share", "slo-margin"] as const;

export type Feature = (typeof paperFeatures)[number] | (typeof furtherFeatures)[number];

const extendedFeatures: readonly Feature[] = [...paperFeatures, ...furtherFeatures];

const featureSets: Readonly<Record<FeatureSet, readonly (Feature | AugmentedFeature | ModelledFeature)[]>> = {
  paper: paperFeatures,
  extended: extendedFeatures,
  augmented: [...extendedFeatures, ...augmentedFeatureNames],
  modelled: [...extendedFeatures, ...modelledFeatureNames],
};

export const featuresOf = ({
  features,
}: Pick<AutoscaleTask, "features">): readonly (Feature | AugmentedFeature | ModelledFeature)[] => featureSets[features];

const spaces: Readonly<Record<FeatureSet, BoxSpace>> = {
  paper: box({ low: -1, high: 1, size: featureSets.paper.length }),
  extended: box({ low: -1, high: 1, size: featureSets.extended.length }),
  augmented: box({ low: -1, high: 1, size: featureSets.augmented.length }),
  modelled: box({ low: -1, high: 1, size: featureSets.modelled.length }),
};

export const observationSpace = ({ features }: Pick<AutoscaleTask, "features">): BoxSpace => spaces[features];

/** What was measured, or last measured: no value of it is missing. */
export interface Measures {
  /** Use over limit, 0 to 1. */
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
  readonly network: number;
  /** SLO preservation, 0 to 1. */
  readonly preservation: number;
  /** From -1 (far beyond the SLO) over 0 (just met) to 1 (far within); 0 where it has none. */
  readonly margin: number;
  /** Requests per second. */
  readonly load: number;
}

type Measured = keyof Measures;

/** The last value of each measure and when it was taken. Plain data, so that an agent can be saved. */
export interface ObservationMemory {
  readonly last: Readonly<Partial<Record<Measured, { readonly value: number; readonly at: Ms }>>>;
  /** The load of the step before, which the change is counted from. */
  readonly loadBefore: number | null;
  readonly demand: DemandMemory;
  /** Only where the task asks for these features. */
  readonly augmented?: AugmentedMemory;
  readonly capacity?: CapacityMemory;
  /** Only where the task has a portfolio. */
  readonly calibration?: CalibrationMemory;
}

export const freshObservationMemory: ObservationMemory = Object.freeze({
  last: {},
  loadBefore: null,
  demand: noDemand,
});

export interface ObservationContext {
  readonly memory: ObservationMemory;
  readonly now: Ms;
}

export interface Observation {
  /** When it was read. */
  readonly at: Ms;
  /** One number per feature of the task, each within -1 and 1. */
  readonly values: Float32Array;
  readonly measures: Measures;
  /** Measures of this observation that are not of this reading. */
  readonly held: readonly Measured[];
  /** What an action's multiples are of. */
  readonly demand: Demand;
  /** Pods that were killed for want of memory since the reading before. */
  readonly harmed: number;
  readonly memory: ObservationMemory;
  /** What the capacity model says; only where the task asks for it. */
  readonly modelled?: Modelled;
}

export type ObservationFailure = Failure<"telemetry.stale" | "telemetry.never-measured" | "telemetry.future">;

/** Readings may be this far ahead of the clock, for clocks that differ a little. */
const maxSkew = 5_000;

export function encodeObservation(
  task: AutoscaleTask,
  reading: WorkloadReading,
  { memory, now }: ObservationContext,
): Result<Observation, ObservationFailure> {
  if (!(reading.at <= now + maxSkew))
    return err(
      failure(
        "telemetry.future",
        `the reading of ${reading.workload} is from ${Math.round((reading.at - now) / 1000)} s ahead: a clock is wrong`,
      ),
    );
  const fresh = measuresIn(task, reading);
  // Nearly always nothing is missing: told apart because what follows then needs no look-up by name.
  const known =
    isWhole(fresh) && now - reading.at <= task.maxAge
      ? allNew(fresh, reading.at)
      : withLast(task, reading, { memory, now, fresh });
  if (!known.ok) return known;
  const { last, measures, held } = known.value;
  const remembered = demandAfter(memory.demand, reading, measures.cpu);
  const demand = demandOf(remembered);
  const values = valuesOf(task, reading, { measures, loadBefore: memory.loadBefore ?? measures.load });
  const base = { last, loadBefore: measures.load, demand: remembered };
  const { at } = reading;
  const harmed = reading.ooms.length;
  if (task.features !== "augmented") {
    // The capacity model's part is its own to remember (modelled.ts).
    const { capacity } = memory;
    const kept = capacity ? { last, loadBefore: measures.load, demand: remembered, capacity } : base;
    return ok({ at, values, measures, held, demand, harmed, memory: kept });
  }
  const isFresh = !held.some((name) => name === "cpu" || name === "memory" || name === "preservation");
  const augmented = augmentedAfter(memory.augmented ?? noAugmentedMemory, { reading, demand, measures, isFresh });
  values.set(augmentedValues(augmented), extendedFeatures.length);
  return ok({ at, values, measures, held, demand, harmed, memory: { ...base, augmented } });
}

type Found = Record<Measured, number | null>;

interface Known extends Pick<ObservationMemory, "last"> {
  readonly measures: Measures;
  readonly held: readonly Measured[];
}

function isWhole(fresh: Found): fresh is Measures {
  const { cpu, memory, io, network, preservation, margin, load } = fresh;
  return (
    cpu !== null &&
    memory !== null &&
    io !== null &&
    network !== null &&
    preservation !== null &&
    margin !== null &&
    load !== null
  );
}

const noneHeld: readonly Measured[] = Object.freeze([]);

/** In the order of `measureNames`, as `withLast` has it: what is remembered is saved. */
function allNew(measures: Measures, at: Ms): Result<Known, never> {
  const { cpu, memory, io, network, preservation, margin, load } = measures;
  const last = {
    cpu: { value: cpu, at },
    memory: { value: memory, at },
    io: { value: io, at },
    network: { value: network, at },
    preservation: { value: preservation, at },
    margin: { value: margin, at },
    load: { value: load, at },
  };
  return ok({ last, measures, held: noneHeld });
}

/** What is missing is taken from before, if that is not too long ago. */
function withLast(
  task: AutoscaleTask,
  reading: WorkloadReading,
  { memory, now, fresh }: ObservationContext & { readonly fresh: Found },
): Result<Known, ObservationFailure> {
  const last: Partial<Record<Measured, { readonly value: number; readonly at: Ms }>> = {};
  const held: Measured[] = [];
  for (const name of measureNames) {
    const value = fresh[name];
    if (value === null) held.push(name);
    const known = value === null ? (memory.last[name] ?? absentValue(name, now)) : { value, at: reading.at };
    if (known === undefined)
      return err(
        failure("telemetry.never-measured", `the ${name} of ${reading.workload} has not been measured yet`, {
          retry: true,
        }),
      );
    if (now - known.at > task.maxAge)
      return err(
        failure(
          "telemetry.stale",
          `the ${name} of ${reading.workload} was measured ${Math.round((now - known.at) / 1000)} s ago, more than the ${task.maxAge / 1000} s that are believed: check the metrics pipeline`,
          { retry: true },
        ),
      );
    last[name] = known;
  }
  const value = (name: Measured): number => last[name]?.value ?? 0;
  const measures: Measures = {
    cpu: value("cpu"),
    memory: value("memory"),
    io: value("io"),
    network: value("network"),
    preservation: value("preservation"),
    margin: value("margin"),
    load: value("load"),
  };
  return ok({ last, measures, held });
}

const measureNames: readonly Measured[] = ["cpu", "memory", "io", "network", "preservation", "margin", "load"];

/** Platforms that measure no disk or network traffic exist; there it is 0 from the first reading on, and not missing. */
function absentValue(name: Measured, now: Ms): { readonly value: number; readonly at: Ms } | undefined {
  return name === "io" || name === "network" ? { value: 0, at: now } : undefined;
}

const clip = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
const share = (value: number | null): number | null => (value === null ? null : clip(value, 0, 1));

function measuresIn({ slo }: AutoscaleTask, reading: WorkloadReading): Found {
  // Where nothing runs nothing is used: that is known without a sample, and a crash loop has none.
  const isDown = reading.pods.every(({ readyAt }) => readyAt === null);
  const { use } = reading;
  const orNone = (value: number | null): number | null => (value === null && isDown ? 0 : share(value));
  const preservation = sloPreservation(slo, reading);
  return {
    cpu: orNone(use.cpu),
    memory: orNone(use.memory),
    io: orNone(use.io),
    network: orNone(use.network),
    preservation,
    margin: sloMargin(slo, reading, preservation),
    load: reading.offered,
  };
}

interface Seen {
  readonly measures: Measures;
  readonly loadBefore: number;
}

/** From 0…1 to -1…1. */
const spread = (value: number): number => 2 * value - 1;

function valuesOf(task: AutoscaleTask, { spec, pods }: WorkloadReading, { measures, loadBefore }: Seen): Float32Array {
  const { bounds, slo } = task;
  const { load, preservation } = measures;
  const values = new Float32Array(featureSets[task.features].length);
  values[0] = positionOf(spec.cpu, bounds.cpu);
  values[1] = positionOf(spec.memory, bounds.memory);
  values[2] = spread(measures.cpu);
  values[3] = spread(measures.memory);
  values[4] = spread(measures.io);
  values[5] = spread(measures.network);
  const judged = sloJudges(slo);
  values[6] = spread(judged === "speed" ? preservation : 1);
  values[7] = spread(judged === "answers" ? preservation : 1);
  // Symmetric: doubling is as far from 0 as halving.
  values[8] = load + loadBefore > 0 ? (load - loadBefore) / (load + loadBefore) : 0;
  if (task.features === "paper") return values;
  const ready = pods.reduce((count, { readyAt }) => count + (readyAt === null ? 0 : 1), 0);
  values[9] = positionOf(spec.replicas, bounds.replicas);
  values[10] = (load - task.usualLoad) / (load + task.usualLoad);
  values[11] = spread(spec.replicas > 0 ? Math.min(1, ready / spec.replicas) : 1);
  values[12] = clip(measures.margin, -1, 1);
  return values;
}
