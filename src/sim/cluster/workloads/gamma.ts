/** Gamma variates, which the random streams of base do not have. */
import type { Rng } from "../../../base/index.ts";

/** Gamma with the given shape and scale 1 (Marsaglia and Tsang, ACM TOMS 26(3), 2000). */
export function sampleGamma(rng: Rng, shape: number): number {
  if (!(shape > 0)) throw new RangeError(`a gamma variate needs a positive shape, got ${shape}`);
  // Below 1 the method does not apply: gamma(a) = gamma(a + 1) · U^(1/a).
  if (shape < 1) return sampleGamma(rng, shape + 1) * (1 - rng.next()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = rng.normal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - rng.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}
