/**
 * From a learner's steps to trajectories.
 * Owns: the rows of the running one, where it is cut, and that one with a hole in it is two.
 * Not here: which trajectories count (bundle.ts), what is learned from steps.
 */

import type { Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import type { Transition } from "../rl/index.ts";
import type { FeatureLayout } from "./features.ts";
import { joinRow } from "./features.ts";
import type { Trajectory } from "./trajectory.ts";
import { createTrajectory } from "./trajectory.ts";

export interface RecorderOptions {
  readonly layout: FeatureLayout;
  /** The most that the encoder reads; what is longer is cut into several. */
  readonly most: number;
  /** What is shorter says too little, and is dropped. */
  readonly least: number;
}

export interface RecorderState {
  readonly rows: readonly Float32Array[];
  readonly reward: number;
  /** Empty where nothing runs. */
  readonly after: Float32Array;
}

export class TrajectoryRecorder {
  readonly #options: RecorderOptions;
  #rows: Float32Array[] = [];
  #reward = 0;
  /** What the newest step led to; the next one begins there, unless some are missing in between. */
  #after: Float32Array | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** The trajectory that ends with this step, if one does. Numbers are copied. */
  add({ obs, action, reward, nextObs, end }: Transition): Result<Trajectory | undefined> {
    const { layout, most } = this.#options;
    const row = joinRow(layout, [obs, action, [reward]]);
    if (!row.ok) return row;
    if (this.#after && !isSame(this.#after, obs)) this.clear();
    this.#rows.push(row.value);
    // As it is stored, so that a step that comes back from a store counts as it did.
    this.#reward += Math.fround(reward);
    this.#after = Float32Array.from(nextObs);
    return end !== "no" || this.#rows.length >= most ? this.#end() : ok(undefined);
  }

  /** The running one, to go on with. */
  state(): RecorderState {
    return { rows: this.#rows, reward: this.#reward, after: this.#after ?? new Float32Array(0) };
  }

  restore({ rows, reward, after }: RecorderState): void {
    this.#rows = [...rows];
    this.#reward = reward;
    this.#after = after.length === 0 ? undefined : after;
  }

  clear(): void {
    this.#rows = [];
    this.#reward = 0;
    this.#after = undefined;
  }

  #end(): Result<Trajectory | undefined> {
    const [rows, reward] = [this.#rows, this.#reward];
    this.clear();
    if (rows.length < this.#options.least) return ok(undefined);
    return createTrajectory(rows, { layout: this.#options.layout, reward });
  }
}

function isSame(one: Float32Array, other: ArrayLike<number>): boolean {
  if (one.length !== other.length) return false;
  return one.every((value, i) => value === Math.fround(other[i] ?? Number.NaN));
}
