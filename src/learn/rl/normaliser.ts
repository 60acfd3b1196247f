/**
 * Running mean and variance of observations, and the running scale of rewards.
 * They are part of the policy: a network fed with other statistics is another network, so they travel with the
 * checkpoint. Sums are kept in double precision; what comes out is float32.
 */

/** Welford's running moments per component, merged batch by batch (Chan et al., 1979). */
export interface Normaliser {
  readonly size: number;
  /** How many observations the statistics rest on. */
  readonly count: number;
  /** Folds `rows` rows into the statistics. */
  update(values: ArrayLike<number>, rows: number): void;
  /** (x − mean) / std, clipped, in place, of `rows` rows of a matrix whose first one begins at `at`. */
  apply(values: Float32Array, matrix: { at: number; rows: number; stride: number }): void;
  /** The population variance of one component. */
  variance(component: number): number;
  state(): Float64Array;
  restore(state: Float64Array): void;
}

const EPSILON = 1e-8;

export function createNormaliser({ size, clip = 10 }: { size: number; clip?: number }): Normaliser {
  const mean = new Float64Array(size);
  const squares = new Float64Array(size);
  const scale = new Float64Array(size);
  let count = 0;

  function refresh(): void {
    for (let i = 0; i < size; i++) scale[i] = 1 / Math.sqrt(squares[i]! / count + EPSILON);
  }

  return {
    size,
    get count() {
      return count;
    },
    update(values, rows) {
      for (let row = 0; row < rows; row++) {
        count += 1;
        for (let i = 0; i < size; i++) {
          const x = values[row * size + i]!;
          const delta = x - mean[i]!;
          mean[i] = mean[i]! + delta / count;
          squares[i] = squares[i]! + delta * (x - mean[i]!);
        }
      }
      refresh();
    },
    apply(values, { at, rows, stride }) {
      // Until two observations are in there is no spread to divide by: the values stay as they are.
      if (count < 2) return;
      for (let row = 0, from = at; row < rows; row++, from += stride) {
        for (let i = 0; i < size; i++) {
          const z = (values[from + i]! - mean[i]!) * scale[i]!;
          values[from + i] = Math.min(Math.max(z, -clip), clip);
        }
      }
    },
    variance: (component) => (count === 0 ? 0 : squares[component]! / count),
    state() {
      const state = new Float64Array(1 + 2 * size);
      state[0] = count;
      state.set(mean, 1);
      state.set(squares, 1 + size);
      return state;
    },
    restore(state) {
      if (state.length !== 1 + 2 * size) {
        throw new RangeError(`the statistics are of ${(state.length - 1) / 2} components and ${size} are needed`);
      }
      count = state[0]!;
      mean.set(state.subarray(1, 1 + size));
      squares.set(state.subarray(1 + size));
      refresh();
    },
  };
}

/**
 * Divides rewards by the standard deviation of the discounted return, so that value targets are of order one whatever
 * the task pays (Engstrom et al., arXiv:2005.12729). The mean is kept: subtracting it would change the task.
 */
export interface RewardScaler {
  /** Folds in one step's reward of one stream; call in the order of time. */
  observe(reward: number, { stream, isEnd }: { stream: number; isEnd: boolean }): void;
  scale(reward: number): number;
  state(): Float64Array;
  restore(state: Float64Array): void;
}

export function createRewardScaler({
  gamma,
  streams,
  clip = 10,
}: {
  gamma: number;
  streams: number;
  clip?: number;
}): RewardScaler {
  const moments = createNormaliser({ size: 1 });
  const running = new Float64Array(streams);
  const scratch = new Float64Array(1);
  return {
    observe(reward, { stream, isEnd }) {
      scratch[0] = running[stream]! * gamma + reward;
      moments.update(scratch, 1);
      running[stream] = isEnd ? 0 : scratch[0]!;
    },
    scale(reward) {
      if (moments.count < 2) return reward;
      const variance = moments.variance(0);
      const scaled = reward / Math.sqrt(variance + EPSILON);
      return Math.min(Math.max(scaled, -clip), clip);
    },
    state() {
      const inner = moments.state();
      const state = new Float64Array(inner.length + streams);
      state.set(inner);
      state.set(running, inner.length);
      return state;
    },
    restore(state) {
      moments.restore(state.subarray(0, 3));
      running.set(state.subarray(3));
    },
  };
}
