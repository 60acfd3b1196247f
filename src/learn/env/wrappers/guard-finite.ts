/**
 * Stops at the first observation or reward that is not a finite number. One NaN in a replay buffer spreads into every
 * weight of a network within a few updates, far from its cause; here the cause is still at hand.
 */

import { CodedError, failure } from "../../../base/index.ts";
import type { Wrapper } from "../wrapper.ts";

export function guardFinite(): Wrapper {
  return {
    name: "guard-finite",
    attach({ count, observationSpace: { size } }) {
      const taken = new Uint32Array(count);
      const refuse = (row: number, what: string): CodedError =>
        new CodedError(
          failure(
            "env.not-finite",
            `copy ${row} gave ${what} after ${taken[row]} step(s) of its episode; look at the world and its telemetry, then reset`,
          ),
        );
      const check = (row: number, obs: Float32Array): void => {
        for (let i = 0; i < size; i++) {
          if (!Number.isFinite(obs[i]!)) throw refuse(row, `the observation ${obs[i]} in component ${i}`);
        }
      };
      return {
        begin(row, obs) {
          taken[row] = 0;
          check(row, obs);
        },
        advance(row, { obs, reward }) {
          taken[row] = taken[row]! + 1;
          check(row, obs);
          if (!Number.isFinite(reward)) throw refuse(row, `the reward ${reward}`);
        },
      };
    },
  };
}
