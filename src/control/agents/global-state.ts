/**
 * The arithmetic of global states: what all others are, seen by one.
 * Owns: totals by kind of agent, and an agent's others as the total less its own. Not here: whose values they are (coordinator.ts).
 *
 * O(N) for all agents of a step together, against O(N²) for each by itself. Totals are made anew at every step, so no rounding
 * error is carried on; a deviation from sums of squares is good to about 1e-8 of the values, which networks do not see.
 */

/** One quantity that agents share: of the others an agent sees its sum or its mean. */
export interface GlobalFeature {
  readonly name: string;
  readonly combine: "sum" | "mean";
}

export interface GlobalStateShape {
  readonly features: readonly GlobalFeature[];
  /** Whether the standard deviation of each feature over the others follows, as the paper's text has it. */
  readonly deviations: boolean;
  /** Kinds of agents: a virtual agent for each. */
  readonly groups: number;
  /**
   * Instead of one virtual agent made of sums and means, one for each of these parts of the others: 0.5 is the agent in their
   * middle, feature by feature. Costs a sort, O(N log N) for all agents of a step together.
   */
  readonly percentiles?: readonly number[];
}

/** What one agent brings in. */
export interface Share {
  readonly group: number;
  /** In the order of the features; null where nothing is known of it yet. */
  readonly values: Float64Array | null;
}

export class GlobalState {
  readonly width: number;
  readonly #features: readonly GlobalFeature[];
  readonly #deviations: boolean;
  readonly #block: number;
  readonly #counts: Int32Array;
  /** Group by group, feature by feature. */
  readonly #sums: Float64Array;
  readonly #squares: Float64Array;
  readonly #percentiles: readonly number[] | undefined;
  /** Group by group, feature by feature, in rising order; only where percentiles are asked for. */
  #sorted: readonly Float64Array[] = [];

  constructor({ features, deviations, groups, percentiles }: GlobalStateShape) {
    this.#features = features;
    this.#deviations = deviations;
    this.#percentiles = percentiles;
    this.#block = features.length * (percentiles?.length ?? (deviations ? 2 : 1));
    this.width = this.#block * groups;
    this.#counts = new Int32Array(groups);
    this.#sums = new Float64Array(features.length * groups);
    this.#squares = new Float64Array(features.length * groups);
  }

  addUp(shares: Iterable<Share>): void {
    if (this.#percentiles !== undefined) {
      this.#sorted = this.#inOrder([...shares]);
      return;
    }
    this.#counts.fill(0);
    this.#sums.fill(0);
    this.#squares.fill(0);
    const count = this.#features.length;
    for (const { group, values } of shares) {
      if (values === null) continue;
      this.#counts[group]! += 1;
      for (let i = 0; i < count; i++) {
        const value = values[i]!;
        this.#sums[group * count + i]! += value;
        this.#squares[group * count + i]! += value * value;
      }
    }
  }

  /** Of all others than the one whose share this is. */
  withoutOne(share: Share): Float32Array {
    if (this.#percentiles !== undefined) return this.#percentilesWithout(share, this.#percentiles);
    const { group: ownGroup, values: own } = share;
    const state = new Float32Array(this.width);
    const count = this.#features.length;
    for (let group = 0; group < this.#counts.length; group++) {
      const mine = group === ownGroup ? own : null;
      const others = this.#counts[group]! - (mine === null ? 0 : 1);
      if (others === 0) continue;
      for (let i = 0; i < count; i++) {
        const value = mine === null ? 0 : mine[i]!;
        const sum = this.#sums[group * count + i]! - value;
        const mean = sum / others;
        state[group * this.#block + i] = this.#features[i]!.combine === "sum" ? sum : mean;
        if (!this.#deviations) continue;
        const variance = (this.#squares[group * count + i]! - value * value) / others - mean * mean;
        state[group * this.#block + count + i] = Math.sqrt(Math.max(0, variance));
      }
    }
    return state;
  }

  #inOrder(shares: readonly Share[]): readonly Float64Array[] {
    const known = shares.filter(({ values }) => values !== null);
    return Array.from({ length: this.#sums.length }, (_, i) => {
      const group = Math.floor(i / this.#features.length);
      const feature = i % this.#features.length;
      const column = known.filter((share) => share.group === group).map(({ values }) => values?.[feature] as number);
      return Float64Array.from(column).sort();
    });
  }

  /** By nearest rank: of n others the value that ⌈p·n⌉ of them do not exceed. */
  #percentilesWithout({ group: ownGroup, values: own }: Share, percentiles: readonly number[]): Float32Array {
    const state = new Float32Array(this.width);
    const count = this.#features.length;
    for (let i = 0; i < this.#sorted.length; i++) {
      const column = this.#sorted[i]!;
      const group = Math.floor(i / count);
      const mine = group === ownGroup && own !== null ? own[i % count]! : null;
      const others = column.length - (mine === null ? 0 : 1);
      if (others === 0) continue;
      const ownRank = mine === null ? column.length : lowerBound(column, mine);
      for (let k = 0; k < percentiles.length; k++) {
        const rank = Math.max(0, Math.ceil(percentiles[k]! * others) - 1);
        state[group * this.#block + k * count + (i % count)] =
          column[rank < ownRank ? rank : rank + 1] ?? column[rank]!;
      }
    }
    return state;
  }
}

/** Where the first value is that is not below this one. */
function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
