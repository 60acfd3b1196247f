/**
 * Percentiles of a stream in bounded memory: DDSketch (Masson, Rim and Lee, VLDB 2019).
 * A quantile is within `relativeError` of a value of that rank; two sketches of equal error merge without loss, and
 * the state is plain data, so threads and stores can hand sketches on. Own code instead of a package because the
 * packages serialise through a protobuf runtime; a test holds it against one of them.
 */

import { CodedError, failure } from "../../base/index.ts";

export interface SketchState {
  readonly relativeError: number;
  readonly zeros: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly sum: number;
  /** Pairs of bucket index and count, by rising index. */
  readonly positive: readonly (readonly [number, number])[];
  readonly negative: readonly (readonly [number, number])[];
}

/** Below this a value counts as zero: logarithms of denormals are not worth their buckets. */
const SMALLEST = 1e-300;

export class PercentileSketch {
  readonly relativeError: number;
  readonly #gamma: number;
  readonly #perLog: number;
  readonly #positive: Buckets;
  readonly #negative: Buckets;
  #zeros = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** With an error of 1 %, 2048 buckets cover more than seventeen decades before the smallest values share one. */
  constructor({ relativeError = 0.01, maxBuckets = 2048 }: { relativeError?: number; maxBuckets?: number } = {}) {
    if (!(relativeError > 0 && relativeError < 1)) {
      throw new RangeError(`a sketch's relative error lies between 0 and 1, got ${relativeError}`);
    }
    this.relativeError = relativeError;
    this.#gamma = (1 + relativeError) / (1 - relativeError);
    this.#perLog = 1 / Math.log(this.#gamma);
    this.#positive = new Buckets(maxBuckets);
    this.#negative = new Buckets(maxBuckets);
  }

  get count(): number {
    return this.#zeros + this.#positive.total + this.#negative.total;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Exact; undefined while empty. */
  get min(): number | undefined {
    return this.count === 0 ? undefined : this.#min;
  }

  get max(): number | undefined {
    return this.count === 0 ? undefined : this.#max;
  }

  add(value: number, count = 1): void {
    if (!Number.isFinite(value)) throw new RangeError(`a sketch takes finite values, got ${value}`);
    if (!(count > 0)) throw new RangeError(`a value is added at least once, got a count of ${count}`);
    if (value > SMALLEST) this.#positive.add(this.#indexOf(value), count);
    else if (value < -SMALLEST) this.#negative.add(this.#indexOf(-value), count);
    else this.#zeros += count;
    this.#sum += value * count;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** The value of rank ⌊q·(n−1)⌋, within the relative error; undefined while empty. */
  quantile(q: number): number | undefined {
    if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile is asked for as a share from 0 to 1, got ${q}`);
    if (this.count === 0) return undefined;
    const rank = Math.floor(q * (this.count - 1));
    if (rank < this.#negative.total) {
      // Large magnitudes come first among the negatives.
      return this.#clamp(-this.#middleOf(this.#negative.indexAt(this.#negative.total - 1 - rank)));
    }
    if (rank < this.#negative.total + this.#zeros) return 0;
    return this.#clamp(this.#middleOf(this.#positive.indexAt(rank - this.#negative.total - this.#zeros)));
  }

  /** Adds what the other has seen; the other is unchanged. */
  merge(other: PercentileSketch): void {
    if (other.relativeError !== this.relativeError) {
      throw new CodedError(
        failure(
          "sketch.mismatch",
          `a sketch with a relative error of ${this.relativeError} cannot take in one with ${other.relativeError}; build both with the same`,
        ),
      );
    }
    this.#positive.merge(other.#positive);
    this.#negative.merge(other.#negative);
    this.#zeros += other.#zeros;
    this.#sum += other.#sum;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  state(): SketchState {
    return {
      relativeError: this.relativeError,
      zeros: this.#zeros,
      min: this.min ?? null,
      max: this.max ?? null,
      sum: this.#sum,
      positive: this.#positive.entries(),
      negative: this.#negative.entries(),
    };
  }

  static restore(state: SketchState, options: { maxBuckets?: number } = {}): PercentileSketch {
    const sketch = new PercentileSketch({ ...options, relativeError: state.relativeError });
    for (const [index, count] of state.positive) sketch.#positive.add(index, count);
    for (const [index, count] of state.negative) sketch.#negative.add(index, count);
    sketch.#zeros = state.zeros;
    sketch.#sum = state.sum;
    sketch.#min = state.min ?? Number.POSITIVE_INFINITY;
    sketch.#max = state.max ?? Number.NEGATIVE_INFINITY;
    return sketch;
  }

  #indexOf(magnitude: number): number {
    return Math.ceil(Math.log(magnitude) * this.#perLog);
  }

  /** The point of bucket (γ^(i−1), γ^i] whose relative distance to both ends is the same. */
  #middleOf(index: number): number {
    return (2 * Math.exp(index / this.#perLog)) / (1 + this.#gamma);
  }

  #clamp(value: number): number {
    return Math.min(Math.max(value, this.#min), this.#max);
  }
}

/** Counts by index in one array; when there are too many, the lowest share a bucket: high percentiles stay exact. */
class Buckets {
  readonly #limit: number;
  #counts = new Float64Array(64);
  /** Index of the first array element. */
  #base = 0;
  #low = 0;
  #high = -1;
  total = 0;

  constructor(limit: number) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`a sketch needs at least one bucket, got ${limit}`);
    this.#limit = limit;
  }

  add(index: number, count: number): void {
    this.#makeRoom(index);
    const at = Math.max(index, this.#low) - this.#base;
    this.#counts[at] = (this.#counts[at] as number) + count;
    this.total += count;
  }

  merge(other: Buckets): void {
    for (const [index, count] of other.entries()) this.add(index, count);
  }

  /** The index of the bucket that holds the value of this rank, from 0. */
  indexAt(rank: number): number {
    let seen = 0;
    for (let index = this.#low; index < this.#high; index++) {
      seen += this.#counts[index - this.#base] as number;
      if (seen > rank) return index;
    }
    return this.#high;
  }

  entries(): (readonly [number, number])[] {
    const found: (readonly [number, number])[] = [];
    for (let index = this.#low; index <= this.#high; index++) {
      const count = this.#counts[index - this.#base] as number;
      if (count > 0) found.push([index, count]);
    }
    return found;
  }

  /** Afterwards `max(index, low)` lies in the array. */
  #makeRoom(index: number): void {
    if (this.#high < this.#low) {
      this.#base = index - (this.#counts.length >> 1);
      this.#low = index;
      this.#high = index;
      return;
    }
    const high = Math.max(this.#high, index);
    const low = Math.max(Math.min(this.#low, index), high - this.#limit + 1);
    if (low < this.#base || high >= this.#base + this.#counts.length) this.#move(low, high);
    if (low > this.#low) this.#collapse(low);
    this.#low = low;
    this.#high = high;
  }

  #move(low: number, high: number): void {
    const room = Math.max(64, 2 * (high - Math.min(low, this.#low) + 1));
    const moved = new Float64Array(room);
    const from = Math.min(low, this.#low);
    const base = from - ((room - (high - from + 1)) >> 1);
    for (let i = this.#low; i <= this.#high; i++) moved[i - base] = this.#counts[i - this.#base] as number;
    this.#counts = moved;
    this.#base = base;
  }

  #collapse(low: number): void {
    let carried = 0;
    for (let i = this.#low; i < low && i <= this.#high; i++) {
      carried += this.#counts[i - this.#base] as number;
      this.#counts[i - this.#base] = 0;
    }
    const at = low - this.#base;
    this.#counts[at] = (this.#counts[at] as number) + carried;
  }
}
