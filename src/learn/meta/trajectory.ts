/**
 * A sequence of feature rows with the reward it brought, checked once.
 * Owns: the type, and the refusal of rows that are missing, of other widths or no numbers.
 * Not here: what a row holds (features.ts), which sequences are used (bundle.ts), where they are stored
 * (learn/trajectory).
 */

import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { FeatureLayout } from "./features.ts";
import { columnName, layoutText, layoutWidth } from "./features.ts";

export interface Trajectory {
  /** From 1 on; trajectories of one bundle may differ in it. */
  readonly steps: number;
  /** [steps, width of the layout], in the order of time. */
  readonly values: Float32Array;
  /** What selection goes by: for decisions the sum over the steps; for samples, where none is better, 0. */
  readonly reward: number;
}

export interface TrajectoryOptions {
  readonly layout: FeatureLayout;
  readonly reward: number;
}

/** Copies the rows. Nothing is repaired: a trajectory with a bad row is refused as a whole. */
export function createTrajectory(
  rows: readonly ArrayLike<number>[],
  { layout, reward }: TrajectoryOptions,
): Result<Trajectory> {
  const width = layoutWidth(layout);
  if (rows.length === 0) {
    return err(failure("meta.empty", "a trajectory has no rows; leave out episodes without steps"));
  }
  if (!Number.isFinite(reward)) return notFinite(`the trajectory's reward is ${reward}`);
  const values = new Float32Array(rows.length * width);
  for (const [t, row] of rows.entries()) {
    if (row.length !== width) {
      return err(
        failure(
          "meta.ragged",
          `row ${t} of a trajectory has ${row.length} numbers and should have ${width} (${layoutText(layout)}); join all rows in one way`,
        ),
      );
    }
    values.set(row, t * width);
    for (let i = 0; i < width; i++) {
      // As float32, which is what the network reads: 1e39 is finite until then.
      if (Number.isFinite(values[t * width + i])) continue;
      return notFinite(`row ${t}'s ${columnName(layout, i)} is ${row[i]}`);
    }
  }
  return ok({ steps: rows.length, values, reward });
}

function notFinite(what: string): Result<never> {
  return err(
    failure(
      "meta.not-finite",
      `${what}; the trajectory was not used, so check where it comes from (numbers have to fit single precision)`,
    ),
  );
}
