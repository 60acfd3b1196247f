/** When a training has converged, by how its checkpoints were judged. */

export interface CurvePoint {
  readonly episodes: number;
  readonly reward: number;
  readonly missedShare: number;
}

export type Curve = readonly CurvePoint[];

/** Of the way from an untrained agent to the best that the reference came to. */
const MOST_OF_THE_WAY = 0.95;

/**
 * Episodes until a curve has made most of the reference's way for good: at a checkpoint and at the next one, if there is one. A
 * curve that never does has not converged by its end, which is the least that can be said of it.
 */
export function convergedAfter(curve: Curve, reference: Curve): number {
  const untrained = reference[0]?.reward ?? 0;
  const best = Math.max(...reference.map(({ reward }) => reward));
  const level = untrained + MOST_OF_THE_WAY * (best - untrained);
  const at = curve.findIndex(({ reward }, i) => reward >= level && (curve[i + 1]?.reward ?? level) >= level);
  return curve[at < 0 ? curve.length - 1 : at]?.episodes ?? 0;
}
