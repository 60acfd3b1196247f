/**
 * The single environment: one row with fresh observations and a checked order of calls.
 * Not here: what happens inside a step (rows.ts), autoreset (vector-env.ts).
 */

import { CodedError, failure } from "../../base/index.ts";
import type { Env, EnvSpec } from "./contract.ts";
import type { Outcome, Rows } from "./rows.ts";
import type { NumericValue, Space } from "./space.ts";

type Phase = "new" | "running" | "ended" | "broken" | "closed";

export function singleEnv<Action extends NumericValue = NumericValue>(
  rows: Rows,
  spec: EnvSpec,
): Env<Float32Array, Action> {
  const { observationSpace } = rows;
  const actionSpace = rows.actionSpace as unknown as Space<Action>;
  const { size } = observationSpace;
  const action = new Float64Array(actionSpace.size);
  const outcome: Outcome = { obs: new Float32Array(size), reward: 0, end: "no" };
  let phase: Phase = "new";

  const refuse = (call: string): CodedError => {
    if (phase === "closed") {
      return new CodedError(failure("env.closed", `${spec.id} was closed and cannot ${call}; make a new one`));
    }
    const why =
      phase === "new"
        ? "has not been reset yet"
        : phase === "ended"
          ? "has ended its episode"
          : "failed in its last step";
    return new CodedError(failure("env.needs-reset", `${spec.id} ${why} and cannot ${call}; call reset() first`));
  };

  return {
    spec,
    observationSpace,
    actionSpace,
    reset(request = {}) {
      if (phase === "closed") throw refuse("reset");
      const obs = new Float32Array(size);
      phase = "new";
      rows.begin(0, request, obs);
      phase = "running";
      return { obs, info: rows.info(0) };
    },
    step(value) {
      if (phase !== "running") throw refuse("step");
      actionSpace.write(value, action);
      if (!actionSpace.accepts(action)) {
        throw new CodedError(
          failure(
            "space.mismatch",
            `${spec.id} got the action [${action.join(", ")}]; every number of an action must be finite, so check the policy that made it`,
          ),
        );
      }
      const obs = new Float32Array(size);
      outcome.obs = obs;
      phase = "broken"; // and stays so when the world fails
      rows.advance(0, action, outcome);
      phase = outcome.end === "no" ? "running" : "ended";
      return { obs, reward: outcome.reward, end: outcome.end };
    },
    close() {
      if (phase === "closed") return;
      phase = "closed";
      rows.close();
    },
  };
}
