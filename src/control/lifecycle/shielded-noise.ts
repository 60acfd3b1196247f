/**
 * Exploration noise that the agent keeps in its hands: scaled down as training goes on, limited by the shield.
 * Owns: what is added to the policy's calm action. Not here: the random process itself (learn/rl).
 */
import type { Rng } from "../../base/index.ts";
import type { Noise, NoiseConfig } from "../../learn/rl/index.ts";
import { createNoise } from "../../learn/rl/index.ts";
import type { ShieldOptions } from "./shield.ts";
import { limitNoise } from "./shield.ts";

export class ShieldedNoise implements Noise {
  readonly #noise: Noise;
  readonly #calm: Float32Array;
  readonly #limits: ShieldOptions["noise"];
  /** 1 is the process as configured, 0 none of it. */
  scale = 1;
  isNearSlo = false;

  constructor(
    config: NoiseConfig,
    { size, limits }: { readonly size: number; readonly limits: ShieldOptions["noise"] },
  ) {
    this.#noise = createNoise(config, size);
    this.#calm = new Float32Array(size);
    this.#limits = limits;
  }

  addTo(action: Float32Array, rng: Rng): void {
    const calm = this.#calm;
    calm.set(action);
    this.#noise.addTo(action, rng);
    const { scale } = this;
    // Whatever the process, its push is scaled and not the policy's own choice.
    action.forEach((noisy, i) => {
      const own = calm[i] ?? 0;
      action[i] = own + scale * (noisy - own);
    });
    if (this.#limits) limitNoise(action, calm, { limit: this.#limits.limit, isNear: this.isNearSlo });
  }

  reset(): void {
    this.#noise.reset();
  }

  state(): Float64Array {
    return this.#noise.state();
  }

  restore(state: Float64Array): void {
    this.#noise.restore(state);
  }
}
