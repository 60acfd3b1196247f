/**
 * Mean and variance of a stream of vectors, one vector at a time, in double precision (Chan et al. 1979, with batches
 * of one). Starts like Gymnasium's: as if 1e-4 vectors of mean 0 and variance 1 had been seen.
 */

import { CodedError, failure } from "../../base/index.ts";

/** Plain data: survives JSON. */
export interface MomentsState {
  readonly count: number;
  readonly mean: readonly number[];
  readonly variance: readonly number[];
}

export class RunningMoments {
  readonly mean: Float64Array;
  readonly variance: Float64Array;
  #count = 1e-4;

  constructor(size: number) {
    this.mean = new Float64Array(size);
    this.variance = new Float64Array(size).fill(1);
  }

  update(values: ArrayLike<number>): void {
    const before = this.#count;
    const after = before + 1;
    for (let i = 0; i < this.mean.length; i++) {
      const delta = values[i]! - this.mean[i]!;
      this.mean[i] = this.mean[i]! + delta / after;
      this.variance[i] = (this.variance[i]! * before + (delta * delta * before) / after) / after;
    }
    this.#count = after;
  }

  state(): MomentsState {
    return { count: this.#count, mean: [...this.mean], variance: [...this.variance] };
  }

  restore({ count, mean, variance }: MomentsState): void {
    const size = this.mean.length;
    const sound =
      Number.isFinite(count) &&
      count > 0 &&
      mean.length === size &&
      variance.length === size &&
      mean.every(Number.isFinite) &&
      variance.every((v) => Number.isFinite(v) && v >= 0);
    if (!sound) {
      throw new CodedError(
        failure(
          "env.bad-state",
          `a normaliser of ${size} value(s) got a saved state of ${mean.length} that is not finite or of another size; save and load around the same environment`,
        ),
      );
    }
    this.#count = count;
    this.mean.set(mean);
    this.variance.set(variance);
  }
}
