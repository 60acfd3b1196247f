/**
 * Exploration noise that the agent keeps in its hands: held for a while, faded as training goes on, limited by the shield.
 * Owns: what is added to the policy's calm action. Not here: the random process itself (learn/rl).
 *
 * Why held: a push that changes in every step starts and stops members of a workload all the time, which costs the very violations
 * that exploring must not cost, and its effect is measured only minutes later, when it is long gone.
 */
import type { Rng } from "../../base/index.ts";
import type { Noise, NoiseConfig } from "../../learn/rl/index.ts";
import { createNoise } from "../../learn/rl/index.ts";

export interface ShieldedNoiseOptions {
  readonly size: number;
  /** Steps for which a push stays as it was drawn. */
  readonly hold: number;
  /** The furthest push of one coordinate. */
  readonly limit: number;
  /** Coordinates that are not lowered near the limit of the objective. */
  readonly upwards: readonly boolean[];
}

export class ShieldedNoise implements Noise {
  readonly #options: ShieldedNoiseOptions;
  readonly #noise: Noise;
  readonly #push: Float32Array;
  /** Steps for which the push still stays. */
  #left = 0;
  /** 1 is the process as configured, 0 none of it. */
  scale = 1;
  /** While this is true, coordinates that are only to rise do not fall. */
  isNearLimit = false;

  constructor(config: NoiseConfig, options: ShieldedNoiseOptions) {
    this.#options = options;
    this.#noise = createNoise(config, options.size);
    this.#push = new Float32Array(options.size);
  }

  addTo(action: Float32Array, rng: Rng): void {
    if (this.#left === 0) {
      this.#push.fill(0);
      this.#noise.addTo(this.#push, rng);
      this.#left = this.#options.hold;
    }
    this.#left -= 1;
    const calm = action.slice();
    action.forEach((own, i) => {
      action[i] = own + this.scale * (this.#push[i] ?? 0);
    });
    const { limit, upwards } = this.#options;
    limitNoise(action, calm, { limit, upwards: this.isNearLimit ? upwards : [] });
  }

  reset(): void {
    this.#noise.reset();
    this.#left = 0;
  }

  state(): Float64Array {
    return Float64Array.of(this.#left, ...this.#push, ...this.#noise.state());
  }

  restore(state: Float64Array): void {
    const { size } = this.#options;
    this.#left = state[0] ?? 0;
    this.#push.set(state.subarray(1, 1 + size));
    this.#noise.restore(state.slice(1 + size));
  }
}

interface NoiseLimit {
  readonly limit: number;
  readonly upwards: readonly boolean[];
}

/** What is left of a noisy action: at most the limit away from the calm one, and upwards only where that is asked. In place. */
export function limitNoise(noisy: Float32Array, calm: Float32Array, { limit, upwards }: NoiseLimit): void {
  for (let i = 0; i < noisy.length; i++) {
    const middle = calm[i] ?? 0;
    noisy[i] = Math.min(Math.max(noisy[i] ?? 0, upwards[i] ? middle : middle - limit), middle + limit);
  }
}
