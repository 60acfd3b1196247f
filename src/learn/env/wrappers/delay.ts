/**
 * Delays between world and agent, as every real control loop has them: telemetry arrives late, and so do actions.
 * A delayed environment is no longer Markov in its observation; a policy that must cope needs memory or the past actions.
 */

import { CodedError, failure } from "../../../base/index.ts";
import type { NumericSpace } from "../space.ts";
import type { Wrapper } from "../wrapper.ts";

/** The agent sees what was true `steps` steps ago; until then, the episode's first observation. Ends are not delayed. */
export function delayObservation(steps: number): Wrapper {
  requireSteps(steps);
  return {
    name: "delay-observation",
    attach({ count, observationSpace: { size } }) {
      const line = delayLine(count, size, steps);
      return {
        begin: (row, obs) => line.fill(row, obs),
        advance: (row, { obs }) => line.pass(row, obs),
      };
    },
  };
}

/**
 * The world gets what was chosen `steps` steps ago; until then, the idle action: by default the number nearest to zero
 * that the space allows, in every component.
 */
export function delayAction(steps: number, { idle }: { idle?: ArrayLike<number> } = {}): Wrapper {
  requireSteps(steps);
  return {
    name: "delay-action",
    attach({ count, actionSpace }) {
      const waiting = idle === undefined ? nearestToZero(actionSpace) : Float64Array.from(idle);
      if (waiting.length !== actionSpace.size || !actionSpace.accepts(waiting)) {
        throw new CodedError(
          failure(
            "env.options",
            `the idle action [${waiting.join(", ")}] does not fit, expected ${actionSpace.describe()}`,
          ),
        );
      }
      const line = delayLine(count, actionSpace.size, steps);
      return {
        begin: (row) => line.fill(row, waiting),
        act: (row, action) => line.pass(row, action),
      };
    },
  };
}

/** Per row a ring of the last `steps` vectors; passing one in place swaps it for the one from `steps` steps ago. */
function delayLine(count: number, size: number, steps: number) {
  const kept = new Float64Array(count * steps * size);
  const heads = new Uint32Array(count);
  return {
    fill(row: number, values: ArrayLike<number>): void {
      for (let i = 0; i < steps * size; i++) kept[row * steps * size + i] = values[i % size]!;
    },
    pass(row: number, values: Float32Array | Float64Array): void {
      const head = heads[row]!;
      const at = (row * steps + head) * size;
      for (let i = 0; i < size; i++) {
        const old = kept[at + i]!;
        kept[at + i] = values[i]!;
        values[i] = old;
      }
      heads[row] = head + 1 === steps ? 0 : head + 1;
    },
  };
}

function nearestToZero(space: NumericSpace): Float64Array {
  return Float64Array.from({ length: space.size }, (_, i) =>
    space.kind === "box" ? Math.min(Math.max(0, space.low[i]!), space.high[i]!) : 0,
  );
}

function requireSteps(steps: number): void {
  if (Number.isInteger(steps) && steps >= 1) return;
  throw new CodedError(
    failure(
      "env.options",
      `a delay is a whole number of steps, at least 1, got ${steps}; leave the wrapper out for none`,
    ),
  );
}
