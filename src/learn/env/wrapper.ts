/**
 * Wrappers: small changes to an environment's observations, actions, rewards or ends.
 * Owns: what a wrapper is and how it is put on rows. A wrapper is a set of hooks called per row and per step, and it
 * never learns whether it sits on one environment or on a thousand, nor how ended episodes are restarted.
 * Not here: the wrappers themselves (wrappers/).
 *
 * The hooks change arrays in place, so a wrapper keeps the number of values in observations and actions. One that must
 * change it is better written as an environment around an environment.
 */

import type { Env } from "./contract.ts";
import { envRows, type Outcome, type Rows } from "./rows.ts";
import { singleEnv } from "./single-env.ts";
import type { BoxSpace, NumericSpace, NumericValue } from "./space.ts";

/** What a wrapper may know of the thing it is put on. */
export interface Wrapped {
  readonly count: number;
  readonly observationSpace: BoxSpace;
  readonly actionSpace: NumericSpace;
}

export interface Hooks {
  /** Absent: as before. */
  readonly observationSpace?: BoxSpace;
  readonly actionSpace?: NumericSpace;
  /** After an episode began: may change its first observation. */
  begin?(row: number, obs: Float32Array): void;
  /** Before a step: turns the caller's action into the one the inner environment takes, in place. */
  act?(row: number, action: Float64Array): void;
  /** After a step: may change the observation, the reward and the end. */
  advance?(row: number, outcome: Outcome): void;
}

export interface Wrapper {
  readonly name: string;
  /** Called once per environment it is put on; per-row memory belongs in the closure of the hooks. */
  attach(inner: Wrapped): Hooks;
}

/** The first wrapper is the innermost. */
export function wrapRows(rows: Rows, wrappers: readonly Wrapper[]): Rows {
  return wrappers.reduce(putOn, rows);
}

function putOn(inner: Rows, wrapper: Wrapper): Rows {
  const hooks = wrapper.attach(inner);
  return {
    count: inner.count,
    observationSpace: hooks.observationSpace ?? inner.observationSpace,
    actionSpace: hooks.actionSpace ?? inner.actionSpace,
    begin(row, request, obs) {
      inner.begin(row, request, obs);
      hooks.begin?.(row, obs);
    },
    advance(row, action, outcome) {
      hooks.act?.(row, action);
      inner.advance(row, action, outcome);
      hooks.advance?.(row, outcome);
    },
    info: inner.info,
    close: inner.close,
  };
}

/**
 * Puts wrappers on a finished environment; the first is the innermost.
 * For named environments, pass them to `makeEnv` or `makeVectorEnv` instead: the vector form restarts episodes outside
 * of all wrappers, so that each of them sees every ending.
 */
export function wrap<Action extends NumericValue>(
  env: Env<Float32Array, Action>,
  wrappers: readonly Wrapper[],
): Env<Float32Array, Action> {
  return singleEnv<Action>(wrapRows(envRows([env], env.spec.id), wrappers), env.spec);
}
