/**
 * How far a learner may go from the fallback while it is tried out, in action coordinates.
 * Owns: keeping an action within it. Not here: how wide it is (lifecycle.ts).
 */

/** How far an action may be below and above the fallback's, in each coordinate. */
export interface Band {
  readonly below: number;
  readonly above: number;
}

/** The action, no further from the centre than the band in any coordinate, and within −1 and 1. In place. */
export function keepWithinBand(action: Float32Array, centre: Float32Array, { below, above }: Band): void {
  for (let i = 0; i < action.length; i++) {
    const middle = centre[i] ?? 0;
    action[i] = clamp(clamp(action[i] ?? 0, middle - below, middle + above), -1, 1);
  }
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
