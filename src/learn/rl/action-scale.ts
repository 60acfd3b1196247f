/**
 * Between the environment's bounds and the [−1, 1] per component in which deterministic policies work, so that noise
 * and perturbations mean the same in every environment.
 */

import { CodedError, failure } from "../../base/index.ts";
import type { ActionShape } from "./learner.ts";

export interface ActionScale {
  readonly size: number;
  /** From [−1, 1] to the bounds, in place. */
  toBounds(action: Float32Array): void;
  /** From the bounds to [−1, 1]; what lies outside is clipped. */
  toUnit(action: ArrayLike<number>, into: Float32Array): void;
}

/** The scale of a continuous action with finite bounds; anything else is refused in the algorithm's name. */
export function actionScale(shape: ActionShape, algorithm: string): ActionScale {
  if (shape.kind !== "continuous") {
    throw new CodedError(
      failure("rl.action-kind", `${algorithm} chooses continuous actions and these are ${shape.kind}; use PPO or DQN`),
    );
  }
  const low = Float64Array.from(shape.low);
  const high = Float64Array.from(shape.high);
  if (!low.every((least, i) => Number.isFinite(least) && Number.isFinite(high[i]!) && least < high[i]!)) {
    throw new CodedError(
      failure(
        "rl.action-kind",
        `${algorithm} needs finite bounds of every action component, the lower below the upper; rescale the action space`,
      ),
    );
  }
  return {
    size: low.length,
    toBounds(action) {
      for (let i = 0; i < action.length; i++) {
        const least = low[i]!;
        action[i] = least + ((action[i]! + 1) / 2) * (high[i]! - least);
      }
    },
    toUnit(action, into) {
      for (let i = 0; i < into.length; i++) {
        const share = (action[i]! - low[i]!) / (high[i]! - low[i]!);
        into[i] = Math.min(Math.max(2 * share - 1, -1), 1);
      }
    },
  };
}
