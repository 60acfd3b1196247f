/**
 * Lets a policy act in one fixed range, usually [-1, 1], whatever units the environment takes.
 * Actions beyond the range are cut to it first, so the inner environment never gets one outside its bounds.
 */

import { CodedError, failure } from "../../../base/index.ts";
import { box } from "../space.ts";
import type { Wrapper } from "../wrapper.ts";

export function rescaleAction({ low = -1, high = 1 }: { low?: number; high?: number } = {}): Wrapper {
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high)) {
    throw new CodedError(
      failure(
        "env.options",
        `rescaling needs a finite range with low < high, got ${low} and ${high}; correct the range`,
      ),
    );
  }
  return {
    name: "rescale-action",
    attach({ actionSpace }) {
      if (actionSpace.kind !== "box" || !isBounded(actionSpace.low) || !isBounded(actionSpace.high)) {
        throw new CodedError(
          failure(
            "env.unsupported-space",
            `rescaling needs actions in a box with finite bounds, found ${actionSpace.describe()}; leave this wrapper out`,
          ),
        );
      }
      const { size, low: innerLow, high: innerHigh } = actionSpace;
      return {
        actionSpace: box({ low, high, size }),
        act(_row, action) {
          for (let i = 0; i < size; i++) {
            const share = (Math.min(Math.max(action[i]!, low), high) - low) / (high - low);
            // Written as a blend of both ends, which hits each of them exactly.
            action[i] = innerLow[i]! * (1 - share) + innerHigh[i]! * share;
          }
        },
      };
    },
  };
}

function isBounded(bound: Float32Array): boolean {
  return bound.every((x) => Number.isFinite(x));
}
