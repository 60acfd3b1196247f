/** Cuts an episode after a number of steps; an episode that terminates in that very step stays terminated. */

import { CodedError, failure } from "../../../base/index.ts";
import type { Wrapper } from "../wrapper.ts";

export function timeLimit(maxSteps: number): Wrapper {
  if (!(Number.isInteger(maxSteps) && maxSteps >= 1)) {
    throw new CodedError(
      failure(
        "env.options",
        `a time limit is a whole number of steps, at least 1, got ${maxSteps}; leave it out for none`,
      ),
    );
  }
  return {
    name: "time-limit",
    attach({ count }) {
      const taken = new Uint32Array(count);
      return {
        begin(row) {
          taken[row] = 0;
        },
        advance(row, outcome) {
          const steps = taken[row]! + 1;
          taken[row] = steps;
          if (steps >= maxSteps && outcome.end === "no") outcome.end = "truncated";
        },
      };
    },
  };
}
