/**
 * Puts an environment together from its parts: world, time limit, wrappers, and the single or the vector form.
 * Not here: names (registry.ts).
 */

import { CodedError, failure } from "../../base/index.ts";
import type { Autoreset, Env, EnvSpec, VectorEnv } from "./contract.ts";
import type { EnvConfig, EnvEntry } from "./entry.ts";
import { coreRows, envRows, type Rows } from "./rows.ts";
import { singleEnv } from "./single-env.ts";
import { vectorEnv } from "./vector-env.ts";
import { type Wrapper, wrapRows } from "./wrapper.ts";
import { timeLimit } from "./wrappers/time-limit.ts";

export interface MakeOptions {
  readonly config?: EnvConfig;
  /** Replaces the entry's time limit; "none" removes it. */
  readonly maxSteps?: number | "none";
  /** Wrappers, the innermost first; they lie outside the time limit. */
  readonly wrappers?: readonly Wrapper[];
}

export interface MakeVectorOptions extends MakeOptions {
  readonly count: number;
  /** Unless told otherwise, `same-step`. */
  readonly autoreset?: Autoreset;
}

/** One environment from an entry that need not be registered. */
export function buildEnv<Obs = Float32Array, Action = unknown>(
  entry: EnvEntry,
  options: MakeOptions = {},
): Env<Obs, Action> {
  const spec = specOf(entry, options);
  const layers = layersOf(spec, options);
  // Without wrappers an environment of any spaces passes through as it is; wrappers work on numbers only.
  if (entry.env !== undefined && layers.length === 0) return entry.env(options.config ?? {}) as Env<Obs, Action>;
  return singleEnv(wrapRows(rowsOf(entry, options, 1), layers), spec) as unknown as Env<Obs, Action>;
}

/** Many copies from an entry that need not be registered. */
export function buildVectorEnv(entry: EnvEntry, options: MakeVectorOptions): VectorEnv {
  const { count, autoreset = "same-step" } = options;
  if (!(Number.isInteger(count) && count >= 1)) {
    throw new CodedError(
      failure("env.count", `a vector environment needs a whole number of copies, at least 1, got ${count}`),
    );
  }
  const spec = specOf(entry, options);
  return vectorEnv(wrapRows(rowsOf(entry, options, count), layersOf(spec, options)), { spec, autoreset });
}

export function specOf(entry: EnvEntry, { maxSteps = entry.maxSteps }: MakeOptions): EnvSpec {
  const { id, rewardThreshold } = entry;
  return {
    id,
    ...(maxSteps === undefined || maxSteps === "none" ? {} : { maxSteps }),
    ...(rewardThreshold === undefined ? {} : { rewardThreshold }),
  };
}

function layersOf({ maxSteps }: EnvSpec, { wrappers = [] }: MakeOptions): readonly Wrapper[] {
  return maxSteps === undefined ? wrappers : [timeLimit(maxSteps), ...wrappers];
}

function rowsOf(entry: EnvEntry, { config = {} }: MakeOptions, count: number): Rows {
  if (entry.core !== undefined) return coreRows(entry.core(config), count);
  const make = entry.env as ((config: EnvConfig) => Env<Float32Array, unknown>) | undefined;
  if (make === undefined) {
    throw new CodedError(
      failure("env.bad-entry", `the entry of '${entry.id}' needs exactly one of 'core' and 'env' to be made from`),
    );
  }
  return envRows(
    Array.from({ length: count }, () => make(config)),
    entry.id,
  );
}
