/**
 * What an agent of a function sees: SIMPPO's five features, seven numbers (Table 1), and what it may do now.
 * Owns: their arithmetic and what the next look needs of this one. Not here: the choices (action.ts), the reward.
 */
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import { type BoxSpace, box } from "../../../learn/env/index.ts";
import type { FunctionReading } from "../../../observe/telemetry/index.ts";
import type { Seen } from "../../index.ts";
import { choiceOf, choiceProblem, type FunctionBounds, type FunctionSetting, functionChoices, HOLD } from "./action.ts";
import type { BootstrapMemory } from "./bootstrap/advice.ts";
import { noFunctionRecords, recordsAfter } from "./bootstrap/records.ts";

export interface FunctionMeasures {
  /** 1 where the SLO was kept or nobody called; less the worse it was missed. */
  readonly preservation: number;
  /** From 0 to 1. */
  readonly cpu: number;
  readonly memory: number;
  /** Calls per second. */
  readonly load: number;
  /** From −1 to 1. */
  readonly loadChange: number;
}

export interface FunctionMemory {
  readonly load: number | null;
  readonly cpu: number;
  readonly memory: number;
  readonly setting: FunctionSetting | null;
  /** Absent: nothing is kept to learn from beside the loop. */
  readonly bootstrap?: BootstrapMemory;
}

export interface FunctionSeen extends Seen {
  readonly memory: FunctionMemory;
  readonly measures: FunctionMeasures;
  readonly have: FunctionSetting;
  /** The choice of the step before, told by what has changed since. */
  readonly last: number;
  /** 99th percentile over the SLO; null where nobody was answered. */
  readonly nearness: number | null;
  readonly kills: number;
}

export const freshFunctionMemory: FunctionMemory = { load: null, cpu: 0, memory: 0, setting: null };

export interface EncodeOptions {
  readonly bounds: FunctionBounds;
  /** Whether what may be done now follows the features, a number for each choice. */
  readonly hasMask: boolean;
  /** Whether a simulator is to be fitted to what was seen. */
  readonly keepsRecords?: boolean;
}

const nothingRecorded: BootstrapMemory = Object.freeze({ records: noFunctionRecords, advice: null });

/** What an observation begins with, in this order (Table 1). */
export const functionFeatures = [
  "SLO preservation",
  "CPU utilisation",
  "memory utilisation",
  "arrival rate change",
  "CPU limit",
  "memory limit",
  "containers",
] as const;

/** SP, RU of CPU and memory, AC, limits of CPU and memory, NC; then the mask. */
export function functionSpace({ hasMask }: Pick<EncodeOptions, "hasMask">): BoxSpace {
  const low = [0, 0, 0, -1, 0, 0, 0, ...(hasMask ? functionChoices.map(() => 0) : [])];
  return box({ low, high: low.map(() => 1) });
}

export function encodeFunction(
  reading: FunctionReading,
  before: FunctionMemory,
  { bounds, hasMask, keepsRecords = false }: EncodeOptions,
): Result<FunctionSeen> {
  const { setting, use, latency, slo, ready, offered, kills } = reading;
  if (offered === null)
    return err(
      failure("functions.no-sample", `nothing was measured of ${reading.workload} yet: ask again`, { retry: true }),
    );
  // Of nothing nothing is used; a sample that is missing is as the last one was.
  const of = (value: number | null, last: number): number =>
    ready === 0 ? 0 : Math.min(1, Math.max(0, value ?? last));
  const measures: FunctionMeasures = {
    preservation: preservationOf(reading),
    cpu: of(use.cpu, before.cpu),
    memory: of(use.memory, before.memory),
    load: offered,
    loadChange: changeOf(offered, before.load ?? offered),
  };
  // A life that was saved without records begins them now.
  const known = keepsRecords ? (before.bootstrap ?? nothingRecorded) : undefined;
  const memory: FunctionMemory = {
    load: offered,
    cpu: measures.cpu,
    memory: measures.memory,
    setting,
    ...(known ? { bootstrap: { ...known, records: recordsAfter(known.records, reading) } } : {}),
  };
  const last = before.setting === null ? HOLD : choiceOf(setting, before.setting, bounds);
  const mask = hasMask ? allowedChoices(setting, last, bounds) : [];
  const values = Float32Array.from([
    measures.preservation,
    measures.cpu,
    measures.memory,
    measures.loadChange,
    share(setting.shares, bounds.shares),
    share(setting.memory, bounds.memory),
    // Between ten containers and eleven lies more than between 900 and 901.
    share(Math.log1p(setting.containers), {
      min: Math.log1p(bounds.containers.min),
      max: Math.log1p(bounds.containers.max),
    }),
    ...mask,
  ]);
  return ok({
    values,
    memory,
    measures,
    have: setting,
    last,
    nearness: latency === null ? null : latency / slo,
    kills,
  });
}

/** 1 for each choice that may be done. */
const allowedChoices = (have: FunctionSetting, last: number, bounds: FunctionBounds): readonly number[] =>
  functionChoices.map((_, choice) => (choiceProblem(choice, { have, last }, bounds) === undefined ? 1 : 0));

/**
 * The SLO over the 99th percentile where that is above it. Calls that nobody answered have no latency and are part of no
 * percentile, so they count by their share: with all of them lost there is nothing left to preserve.
 */
export function preservationOf({ latency, slo, offered, completed, failed }: Answered): number {
  const ended = (completed ?? 0) + (failed ?? 0);
  const answered = ended > 0 ? (completed ?? 0) / ended : (offered ?? 0) > 0 ? 0 : 1;
  const kept = latency !== null && latency > slo ? slo / latency : 1;
  return kept * answered;
}

type Answered = {
  readonly [K in "latency" | "slo" | "offered" | "completed" | "failed"]: FunctionReading[K] extends number
    ? number
    : number | null;
};

/** (AR(t) − AR(t − 1)) / max of both. */
function changeOf(now: number, before: number): number {
  const most = Math.max(now, before);
  return most > 0 ? (now - before) / most : 0;
}

const share = (value: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(1, Math.max(0, (value - min) / (max - min)));
