/**
 * ENSURE (ACSOS 2020) as SIMPPO describes it: rules for serverless functions, and the opponent of its studies.
 * Owns: R + c√R containers for a load of R, shares by a latency-degradation threshold, memory by two thresholds.
 * Not here: the number of invokers, which its memory capacity threshold is for there: here they are given.
 */
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import type { Fallback } from "../index.ts";

type FunctionSetting = FunctionReading["setting"];

export interface EnsureConfig {
  /** c of R + c√R. Not printed; assumed [1..3]: with 1 every fifth call waits for a container, with 2 fewer than 3 % do (Halfin and Whitt). */
  readonly spareFactor: number;
  /** Latency over that of the function alone, less 1, from which on shares are raised. 0.15; 0.25 as ENSURE-Util. */
  readonly degradation: number;
  /** By which the SLO is above the function's latency alone, so that it can be told from the SLO. */
  readonly relaxation: number;
  /**
   * Memory is raised above the first part of its limit that is used, and lowered below the second. Assumed [0.7..0.9] and
   * [0.2..0.4]: use is a mean over idle containers too, and what is comfortable lies above the peak.
   */
  readonly memoryHigh: number;
  readonly memoryLow: number;
  /** Steps without a degraded latency before shares are given back. Assumed [1..10]. */
  readonly calmSteps: number;
  readonly step: { readonly shares: number; readonly memory: number };
  readonly bounds: { readonly [K in keyof FunctionSetting]: { readonly min: number; readonly max: number } };
}

export const ensureDefaults: EnsureConfig = {
  spareFactor: 2,
  degradation: 0.15,
  relaxation: 0.15,
  memoryHigh: 0.8,
  memoryLow: 0.3,
  calmSteps: 3,
  step: { shares: 128, memory: 32 },
  bounds: {
    shares: { min: 128, max: 2_048 },
    memory: { min: 64, max: 1_024 },
    containers: { min: 1, max: 1_000 },
  },
};

/** As the paper's ENSURE-Util: a quarter slower is good enough. */
export const ensureUtil: EnsureConfig = { ...ensureDefaults, degradation: 0.25 };

export type EnsureReason = "load" | "degraded" | "calm" | "memory-high" | "memory-low" | "killed";

export interface EnsureState {
  /** Steps in a row without a degraded latency. */
  readonly calm: number;
  /** What an activation took when one was last seen, ms. */
  readonly execution: number | null;
}

export function ensureController(
  config: EnsureConfig = ensureDefaults,
): Fallback<EnsureState, FunctionReading, FunctionSetting> {
  return {
    name: "ensure",
    start: () => ({ calm: 0, execution: null }),
    step(state, reading) {
      const reasons: EnsureReason[] = [];
      const execution = reading.execution ?? state.execution;
      const isDegraded = degradationOf(reading, config) > config.degradation;
      const calm = isDegraded ? 0 : state.calm + 1;
      const want = {
        containers: containersFor(reading, execution, config),
        shares: sharesFor(reading, { isDegraded, calm }, config),
        memory: memoryFor(reading, config, reasons),
      };
      if (want.containers !== reading.setting.containers) reasons.push("load");
      if (want.shares > reading.setting.shares) reasons.push("degraded");
      if (want.shares < reading.setting.shares) reasons.push("calm");
      // Once shares were given back it is calm anew.
      return { want, reasons, state: { calm: want.shares < reading.setting.shares ? 0 : calm, execution } };
    },
  };
}

/** Latency over that of the function alone, less 1; nothing where nobody was answered. */
function degradationOf({ latency, slo }: FunctionReading, { relaxation }: EnsureConfig): number {
  return latency === null ? 0 : (latency * (1 + relaxation)) / slo - 1;
}

/** Square-root staffing: the containers that the load keeps busy, and as many more as its spread makes. */
function containersFor(
  { offered, setting }: FunctionReading,
  execution: number | null,
  { spareFactor, bounds }: EnsureConfig,
): number {
  // Nobody knows yet how long one takes, or how many come.
  if (offered === null || execution === null) return within(setting.containers, bounds.containers);
  const load = (offered * execution) / 1_000;
  return within(Math.ceil(load + spareFactor * Math.sqrt(load)), bounds.containers);
}

function sharesFor(
  { setting }: FunctionReading,
  { isDegraded, calm }: { readonly isDegraded: boolean; readonly calm: number },
  { step, bounds, calmSteps }: EnsureConfig,
): number {
  const moved = isDegraded ? step.shares : calm >= calmSteps ? -step.shares : 0;
  return within(setting.shares + moved, bounds.shares);
}

function memoryFor(
  { setting, use, kills }: FunctionReading,
  { step, bounds, memoryHigh, memoryLow }: EnsureConfig,
  reasons: EnsureReason[],
): number {
  const moved = (by: number, why: EnsureReason): number => {
    const next = within(setting.memory + by, bounds.memory);
    if (next !== setting.memory) reasons.push(why);
    return next;
  };
  // Whoever was killed may have used little on average.
  if (kills > 0) return moved(2 * step.memory, "killed");
  if (use.memory !== null && use.memory > memoryHigh) return moved(step.memory, "memory-high");
  if (use.memory !== null && use.memory < memoryLow) return moved(-step.memory, "memory-low");
  return setting.memory;
}

const within = (value: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(max, Math.max(min, value));
