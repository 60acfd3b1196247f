/**
 * Named environments: `CartPole-v1` and what users add.
 * Owns: ids with versions, and making the single and the vector form from a name. A worker thread can not receive a
 * closure, so a training job names its world by id and config and each thread makes it here.
 * Not here: the built-in entries (builtin.ts).
 */

import { CodedError, type Failure, failure } from "../../base/index.ts";
import { builtinEnvs } from "./builtin.ts";
import type { Autoreset, Env, EnvSpec, VectorEnv } from "./contract.ts";
import type { EnvConfig, EnvEntry } from "./entry.ts";
import { coreRows, envRows, type Rows } from "./rows.ts";
import { singleEnv } from "./single-env.ts";
import type { NumericValue } from "./space.ts";
import { vectorEnv } from "./vector-env.ts";
import { type Wrapper, wrapRows } from "./wrapper.ts";
import { timeLimit } from "./wrappers/time-limit.ts";

export interface MakeOptions {
  readonly config?: EnvConfig;
  /** Replaces the registered time limit; "none" removes it. */
  readonly maxSteps?: number | "none";
  /** Wrappers, the innermost first; they lie outside the time limit. */
  readonly wrappers?: readonly Wrapper[];
}

export interface MakeVectorOptions extends MakeOptions {
  readonly count: number;
  /** Unless told otherwise, `same-step`. */
  readonly autoreset?: Autoreset;
}

const entries = new Map<string, EnvEntry>(builtinEnvs.map((entry) => [entry.id, entry]));
const idPattern = /^(?<name>[A-Za-z][A-Za-z0-9_/-]*)-v(?<version>\d+)$/;

/** Adds an environment under a versioned id, once. */
export function registerEnv(entry: EnvEntry): void {
  if (!idPattern.test(entry.id)) {
    throw new CodedError(
      failure("env.bad-id", `'${entry.id}' is not an environment id; write a name and a version, as in MyWorld-v0`),
    );
  }
  if (entries.has(entry.id)) {
    throw new CodedError(
      failure(
        "env.duplicate-id",
        `'${entry.id}' is registered already; give the new environment the next version number`,
      ),
    );
  }
  if ((entry.core === undefined) === (entry.env === undefined)) {
    throw new CodedError(
      failure("env.bad-entry", `the entry of '${entry.id}' needs exactly one of 'core' and 'env' to be made from`),
    );
  }
  entries.set(entry.id, entry);
}

/** The registered ids in alphabetical order. */
export function envIds(): readonly string[] {
  return [...entries.keys()].sort();
}

/** What is known of an environment without making it. */
export function envSpec(id: string): EnvSpec {
  return specOf(find(id), {});
}

/** The built-in environments by the type of their action. */
export interface BuiltinEnvs {
  readonly "Acrobot-v1": Env<Float32Array, number>;
  readonly "CartPole-v1": Env<Float32Array, number>;
  readonly "MountainCarContinuous-v0": Env<Float32Array, Float32Array>;
  readonly "Pendulum-v1": Env<Float32Array, Float32Array>;
}

/**
 * One environment, ready for `reset`.
 *
 * ```ts
 * const env = makeEnv("CartPole-v1");
 * let { obs } = env.reset({ seed: 7 });
 * for (let end = "no"; end === "no"; ) {
 *   const step = env.step(obs[2] > 0 ? 1 : 0); // push towards the side the pole leans to
 *   ({ obs, end } = step);
 * }
 * ```
 */
export function makeEnv<Id extends keyof BuiltinEnvs>(id: Id, options?: MakeOptions): BuiltinEnvs[Id];
export function makeEnv<Obs = Float32Array, Action = NumericValue>(id: string, options?: MakeOptions): Env<Obs, Action>;
export function makeEnv(id: string, options: MakeOptions = {}): unknown {
  const entry = find(id);
  const spec = specOf(entry, options);
  const layers = layersOf(spec, options);
  // Without wrappers an environment of any spaces passes through as it is; wrappers work on numbers only.
  if (entry.env !== undefined && layers.length === 0) return entry.env(options.config ?? {});
  return singleEnv(wrapRows(rowsOf(entry, options, 1), layers), spec);
}

/** Many copies of one environment; see `VectorEnv` for the autoreset modes and the life of its arrays. */
export function makeVectorEnv(id: string, options: MakeVectorOptions): VectorEnv {
  const { count, autoreset = "same-step" } = options;
  if (!(Number.isInteger(count) && count >= 1)) {
    throw new CodedError(
      failure("env.count", `a vector environment needs a whole number of copies, at least 1, got ${count}`),
    );
  }
  const entry = find(id);
  const spec = specOf(entry, options);
  return vectorEnv(wrapRows(rowsOf(entry, options, count), layersOf(spec, options)), { spec, autoreset });
}

function rowsOf(entry: EnvEntry, { config = {} }: MakeOptions, count: number): Rows {
  if (entry.core !== undefined) return coreRows(entry.core(config), count);
  const make = entry.env as (config: EnvConfig) => Env<Float32Array, unknown>;
  return envRows(
    Array.from({ length: count }, () => make(config)),
    entry.id,
  );
}

function specOf(entry: EnvEntry, { maxSteps = entry.maxSteps }: MakeOptions): EnvSpec {
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

function find(id: string): EnvEntry {
  const entry = entries.get(id);
  if (entry !== undefined) return entry;
  throw new CodedError(unknownId(id));
}

function unknownId(id: string): Failure {
  const name = idPattern.exec(id)?.groups?.name ?? id;
  const near = [...entries.keys()]
    .map((known) => {
      const knownName = idPattern.exec(known)?.groups?.name ?? known;
      return { known, distance: editDistance(name.toLowerCase(), knownName.toLowerCase()) };
    })
    .sort((a, b) => a.distance - b.distance || (a.known < b.known ? 1 : -1))[0];
  const hint =
    near !== undefined && near.distance <= Math.max(2, name.length / 3)
      ? `did you mean '${near.known}'?`
      : `known are ${envIds().join(", ")}; add your own with registerEnv`;
  return failure("env.unknown-id", `there is no environment '${id}'; ${hint}`);
}

/** Insertions, deletions and replacements between two words (Levenshtein), one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
