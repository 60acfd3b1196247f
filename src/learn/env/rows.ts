/**
 * Rows: the narrow waist between worlds and the environments people use.
 * Owns: `Rows`, a number of independent copies addressed by index, over caller-owned buffers; its two makers, from a
 * functional core and from finished environments. Single environments are one row, vector environments many, and
 * wrappers sit on rows, so none of them is written twice.
 * Not here: autoreset (vector-env.ts), call order (single-env.ts), wrappers (wrapper.ts).
 */

import type { Rng } from "../../base/index.ts";
import { CodedError, failure, seededRng } from "../../base/index.ts";
import type { End, Env, ResetRequest } from "./contract.ts";
import type { Core, Move } from "./core.ts";
import { type BoxSpace, isNumericSpace, mismatch, type NumericSpace, type NumericValue, type Space } from "./space.ts";

/** Where a step's result goes; reused from step to step. */
export interface Outcome {
  obs: Float32Array;
  reward: number;
  end: End;
}

export interface Rows {
  readonly count: number;
  readonly observationSpace: BoxSpace;
  readonly actionSpace: NumericSpace;
  /** Starts an episode and writes its first observation. */
  begin(row: number, request: ResetRequest, obs: Float32Array): void;
  /** Takes the action (which it may overwrite) and fills the outcome. Must not be called on an ended row. */
  advance(row: number, action: Float64Array, outcome: Outcome): void;
  /** What the world said about its last reset. */
  info(row: number): Readonly<Record<string, unknown>>;
  close(): void;
}

const nothing: Readonly<Record<string, unknown>> = Object.freeze({});

/** The numbers of one copy. `action` points to the caller's array during a step. */
interface Copy extends Move {
  action: Float64Array;
  rng: Rng;
}

/** Copies of a functional core; row i draws from the stream `seed / i`, so rows are independent and repeatable. */
export function coreRows(core: Core, count: number): Rows {
  const { stateSize, actionSpace, observationSpace } = core;
  const noAction = new Float64Array(actionSpace.size);
  const states = new Float64Array(2 * count * stateSize);
  const stream = (seed: number, row: number): Rng => seededRng(seed).fork(row);
  const copies: readonly Copy[] = Array.from({ length: count }, (_, row) => ({
    state: states.subarray(2 * row * stateSize, (2 * row + 1) * stateSize),
    next: states.subarray((2 * row + 1) * stateSize, (2 * row + 2) * stateSize),
    action: noAction,
    // An environment nobody seeded is still repeatable.
    rng: stream(0, row),
  }));
  return {
    count,
    observationSpace,
    actionSpace,
    begin(row, { seed, options }, obs) {
      const copy = copies[row]!;
      if (seed !== undefined) copy.rng = stream(seed, row);
      if (options === undefined) core.initial(copy.state, copy.rng, nothing);
      else beginWith(core, copy, options);
      core.observe(copy.state, obs);
    },
    advance(row, action, outcome) {
      const copy = copies[row]!;
      copy.action = action;
      core.transition(copy);
      outcome.reward = core.reward(copy);
      const { state, next } = copy;
      outcome.end = core.isTerminal(next) ? "terminated" : "no";
      core.observe(next, outcome.obs);
      // A copy of a few numbers is cheaper than keeping track of which of two buffers is current.
      for (let i = 0; i < stateSize; i++) state[i] = next[i]!;
    },
    info: () => nothing,
    close: () => {},
  };
}

function beginWith(core: Core, copy: Copy, options: Readonly<Record<string, unknown>>): void {
  const known = ["state", ...(core.optionNames ?? [])];
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    throw new CodedError(
      failure("env.options", `reset does not know the option '${key}'; it understands ${known.join(", ")}`),
    );
  }
  const { state } = options;
  if (state === undefined) {
    core.initial(copy.state, copy.rng, options);
    return;
  }
  const numbers = ArrayBuffer.isView(state) || Array.isArray(state) ? (state as unknown as ArrayLike<unknown>) : [];
  if (numbers.length !== core.stateSize || !Array.from(numbers).every((x) => Number.isFinite(x))) {
    throw new CodedError(
      failure("env.options", `the reset option 'state' needs ${core.stateSize} finite numbers; pass an array of them`),
    );
  }
  copy.state.set(numbers as ArrayLike<number>);
}

/** Finished environments as rows: how a user's own `Env` gets wrappers and the vector form. */
export function envRows(envs: readonly Env<Float32Array, unknown>[], name = "environment"): Rows {
  const first = envs[0];
  if (first === undefined) {
    throw new CodedError(
      failure("env.count", "a vector environment needs at least one copy; pass a count of 1 or more"),
    );
  }
  // Actions reach the environment through its own space, so their type is right by construction.
  const worlds = envs as readonly Env<Float32Array, NumericValue>[];
  const observationSpace = requireBox(first.observationSpace, name);
  const actionSpace = requireNumeric(first.actionSpace, name);
  const { size } = observationSpace;
  const infos: Readonly<Record<string, unknown>>[] = envs.map(() => nothing);
  const copy = (from: Float32Array, to: Float32Array): void => {
    if (!(from instanceof Float32Array) || from.length !== size) throw mismatch(observationSpace, from);
    for (let i = 0; i < size; i++) to[i] = from[i]!;
  };
  return {
    count: envs.length,
    observationSpace,
    actionSpace,
    begin(row, request, obs) {
      const { seed } = request;
      // The only row gets the caller's seed itself; further ones must differ from it and from each other.
      const own = seed === undefined || row === 0 ? seed : seededRng(seed).fork(row).uint32();
      const reset = worlds[row]!.reset(own === undefined ? request : { ...request, seed: own });
      infos[row] = reset.info;
      copy(reset.obs, obs);
    },
    advance(row, action, outcome) {
      const step = worlds[row]!.step(actionSpace.read(action));
      outcome.reward = step.reward;
      outcome.end = step.end;
      copy(step.obs, outcome.obs);
    },
    info: (row) => infos[row] ?? nothing,
    close: () => {
      for (const env of worlds) env.close();
    },
  };
}

function requireBox(space: Space<Float32Array>, name: string): BoxSpace {
  if (space.kind === "box") return space as BoxSpace;
  throw new CodedError(
    failure(
      "env.unsupported-space",
      `wrappers and vector environments need a box of observations, ${name} has a ${space.kind} space; flatten it first`,
    ),
  );
}

function requireNumeric(space: { readonly kind: string }, name: string): NumericSpace {
  if (isNumericSpace(space)) return space;
  throw new CodedError(
    failure(
      "env.unsupported-space",
      `wrappers and vector environments need numeric actions, ${name} has a ${space.kind} space; use a multi-discrete or a box`,
    ),
  );
}
