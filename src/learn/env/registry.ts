/**
 * Named environments: `CartPole-v1` and what users add.
 * Owns: ids with versions, and finding an environment by its name. A worker thread cannot receive a
 * closure, so a training job names its world by id and config and each thread makes it here.
 * Not here: the built-in entries (builtin.ts), how an environment is put together (make.ts).
 */

import { CodedError, type Failure, failure } from "../../base/index.ts";
import { builtinEnvs } from "./builtin.ts";
import type { Env, EnvSpec, VectorEnv } from "./contract.ts";
import type { EnvEntry } from "./entry.ts";
import { buildEnv, buildVectorEnv, type MakeOptions, type MakeVectorOptions, specOf } from "./make.ts";
import type { NumericValue } from "./space.ts";

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
 * for (let end: End = "no"; end === "no"; ) {
 *   const step = env.step((obs[2] ?? 0) > 0 ? 1 : 0); // push towards the side the pole leans to
 *   ({ obs, end } = step);
 * }
 * ```
 */
export function makeEnv<Id extends keyof BuiltinEnvs>(id: Id, options?: MakeOptions): BuiltinEnvs[Id];
export function makeEnv<Obs = Float32Array, Action = NumericValue>(id: string, options?: MakeOptions): Env<Obs, Action>;
export function makeEnv(id: string, options: MakeOptions = {}): unknown {
  return buildEnv(find(id), options);
}

/** Many copies of one environment; see `VectorEnv` for the autoreset modes and the life of its arrays. */
export function makeVectorEnv(id: string, options: MakeVectorOptions): VectorEnv {
  return buildVectorEnv(find(id), options);
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
