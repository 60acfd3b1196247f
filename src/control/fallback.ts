/**
 * What every fallback looks like to an agent, a loop and a study: readings in, a wish out.
 * Owns: the interface. Not here: the controllers themselves (control/fallbacks), the guard that their wishes pass (act).
 */
import type { Setting } from "../act/index.ts";
import type { Failure, Ms } from "../base/index.ts";

/** What a fallback wishes for. */
export interface FallbackWish<S extends Setting = Setting> {
  /** What is left out stays as it is. */
  readonly want: Partial<S>;
  /** Which members take the new values now; absent: all of them. Members that start later always have them. */
  readonly followers?: readonly string[];
}

export interface FallbackStep<F, S extends Setting = Setting> extends FallbackWish<S> {
  /** In its own words, for those who know it. */
  readonly reasons: readonly unknown[];
  /** Why a part of it could not decide; its part of the wish is then what is there. */
  readonly failure?: Failure;
  /** Assumes that the wish was carried out. */
  readonly state: F;
}

/** Pure: state is plain data, so it survives JSON; equal arguments give equal answers. */
export interface Fallback<F, R = unknown, S extends Setting = Setting> {
  /** Stable: saved state is checked against it. */
  readonly name: string;
  start(): F;
  step(state: F, reading: R, now: Ms): FallbackStep<F, S>;
}
