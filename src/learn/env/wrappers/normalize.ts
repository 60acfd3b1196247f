/**
 * Observations and rewards brought to a common scale by statistics learnt on the way.
 * The statistics decide what a trained policy sees, so they must travel with it: `save` and `load` keep them as plain
 * data, and `learning = false` freezes them for evaluation. One wrapper may be put on several environments (training
 * and evaluation); they then share its statistics.
 */

import { CodedError, failure } from "../../../base/index.ts";
import { type MomentsState, RunningMoments } from "../running-moments.ts";
import { box } from "../space.ts";
import type { Wrapper } from "../wrapper.ts";

export interface Normalizer extends Wrapper {
  /** While true, every value seen moves the statistics. */
  learning: boolean;
  /** Fails with `env.bad-state` before the wrapper is put on anything. */
  save(): MomentsState;
  /** May come before or after the wrapper is put on an environment. */
  load(state: MomentsState): void;
}

/** Each component with mean 0 and variance 1, as far as seen. `clip` bounds the result on both sides. */
export function normalizeObservation({ epsilon = 1e-8, clip = Number.POSITIVE_INFINITY } = {}): Normalizer {
  const kept = keeper();
  const normalizer: Normalizer = {
    name: "normalize-observation",
    learning: true,
    save: kept.save,
    load: kept.load,
    attach({ observationSpace }) {
      const { size } = observationSpace;
      const moments = kept.of(size);
      const rescale = (obs: Float32Array): void => {
        if (normalizer.learning) moments.update(obs);
        for (let i = 0; i < size; i++) {
          const scaled = (obs[i]! - moments.mean[i]!) / Math.sqrt(moments.variance[i]! + epsilon);
          obs[i] = Math.min(Math.max(scaled, -clip), clip);
        }
      };
      return {
        observationSpace: box({ low: -clip, high: clip, size }),
        begin: (_row, obs) => rescale(obs),
        advance: (_row, outcome) => rescale(outcome.obs),
      };
    },
  };
  return normalizer;
}

/**
 * Rewards divided by the spread of the discounted return, so that values stay near 1 whatever the task pays.
 * The mean is kept: taking it away would change which policy is best.
 */
export function normalizeReward({ discount = 0.99, epsilon = 1e-8 } = {}): Normalizer {
  const kept = keeper();
  const normalizer: Normalizer = {
    name: "normalize-reward",
    learning: true,
    save: kept.save,
    load: kept.load,
    attach({ count }) {
      const moments = kept.of(1);
      const returns = new Float64Array(count);
      const seen = new Float64Array(1);
      return {
        begin(row) {
          returns[row] = 0;
        },
        advance(row, outcome) {
          const soFar = returns[row]! * discount + outcome.reward;
          returns[row] = soFar;
          seen[0] = soFar;
          if (normalizer.learning) moments.update(seen);
          outcome.reward /= Math.sqrt(moments.variance[0]! + epsilon);
        },
      };
    },
  };
  return normalizer;
}

/** Statistics whose size is known only once the wrapper is put on something, yet may be loaded before that. */
function keeper() {
  let moments: RunningMoments | undefined;
  const refuse = (sentence: string): CodedError => new CodedError(failure("env.bad-state", sentence));
  return {
    of(size: number): RunningMoments {
      moments ??= new RunningMoments(size);
      if (moments.mean.length === size) return moments;
      throw refuse(
        `a normaliser of ${moments.mean.length} value(s) was put on an environment with ${size}; make one normaliser per kind of environment`,
      );
    },
    save(): MomentsState {
      if (moments === undefined) {
        throw refuse("a normaliser that is on no environment has nothing to save; wrap an environment with it first");
      }
      return moments.state();
    },
    load(state: MomentsState): void {
      moments ??= new RunningMoments(state.mean.length);
      moments.restore(state);
    },
  };
}
