/** Reference kernels: steps of the optimisers over flat parameter vectors. */

import type { Kernels } from "../kernels.ts";
import type { Memory, Ptr } from "../memory.ts";

type Optimisers = Pick<Kernels, "adam" | "sgd" | "softUpdate">;

export function referenceOptimisers(memory: Memory): Optimisers {
  return {
    adam(
      p: Ptr,
      g: Ptr,
      m: Ptr,
      v: Ptr,
      count: number,
      step: number,
      beta1: number,
      beta2: number,
      eps: number,
      rootCorrection: number,
      decay: number,
    ) {
      const f = memory.f32;
      const [ps, gs, ms, vs] = [p >> 2, g >> 2, m >> 2, v >> 2];
      for (let i = 0; i < count; i++) {
        const grad = f[gs + i]!;
        const m1 = f[ms + i]! * beta1 + (1 - beta1) * grad;
        const v1 = f[vs + i]! * beta2 + (1 - beta2) * grad * grad;
        f[ms + i] = m1;
        f[vs + i] = v1;
        const kept = f[ps + i]! * (1 - decay);
        f[ps + i] = kept - (step * m1) / (Math.sqrt(v1) * rootCorrection + eps);
      }
    },

    sgd(p: Ptr, g: Ptr, velocity: Ptr, count: number, lr: number, momentum: number, decay: number) {
      const f = memory.f32;
      const [ps, gs, vs] = [p >> 2, g >> 2, velocity >> 2];
      for (let i = 0; i < count; i++) {
        let move = f[gs + i]! + decay * f[ps + i]!;
        if (velocity !== 0) {
          move += momentum * f[vs + i]!;
          f[vs + i] = move;
        }
        f[ps + i]! -= lr * move;
      }
    },

    softUpdate(target: Ptr, source: Ptr, count: number, tau: number) {
      const f = memory.f32;
      const [ts, ss] = [target >> 2, source >> 2];
      for (let i = 0; i < count; i++) f[ts + i]! += tau * (f[ss + i]! - f[ts + i]!);
    },
  };
}
