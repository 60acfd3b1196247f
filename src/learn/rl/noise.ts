/**
 * Exploration noise for deterministic policies, in the policy's own scale: every action component in [−1, 1].
 * The state is plain data and travels with the checkpoint.
 */

import type { Rng } from "../../base/index.ts";

export type NoiseConfig =
  /** Independent normal draws: what TD3 and later work use. */
  | { readonly kind: "gaussian"; readonly sigma: number }
  /**
   * Ornstein–Uhlenbeck (DDPG, arXiv:1509.02971): x += θ·(0 − x)·dt + σ·√dt·N(0, 1). Successive draws push the same way,
   * which matters where one step's action does nothing by itself.
   */
  | { readonly kind: "ornstein-uhlenbeck"; readonly sigma: number; readonly theta: number; readonly dt: number }
  | { readonly kind: "none" };

export interface Noise {
  /** Adds one draw to every component, in place. */
  addTo(action: Float32Array, rng: Rng): void;
  /** A new episode starts: correlated noise forgets. */
  reset(): void;
  state(): Float64Array;
  restore(state: Float64Array): void;
}

export function createNoise(config: NoiseConfig, size: number): Noise {
  const x = new Float64Array(size);
  const drift = config.kind === "ornstein-uhlenbeck" ? config.theta * config.dt : 1;
  const spread =
    config.kind === "none" ? 0 : config.kind === "gaussian" ? config.sigma : config.sigma * Math.sqrt(config.dt);
  return {
    addTo(action, rng) {
      if (spread === 0) return;
      for (let i = 0; i < size; i++) {
        // Gaussian noise is the special case that forgets everything between two draws.
        x[i] = x[i]! * (1 - drift) + spread * rng.normal();
        action[i] = action[i]! + x[i]!;
      }
    },
    reset: () => void x.fill(0),
    state: () => x.slice(),
    restore: (state) => x.set(state),
  };
}
