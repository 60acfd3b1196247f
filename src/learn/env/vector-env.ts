/**
 * The vector environment: many rows stepped together into shared buffers.
 * Owns: the three autoreset modes and the refusal of wrong actions. Nothing here allocates in a step.
 * Not here: the worlds and their random streams (rows.ts); wrappers, which lie inside and see every ending (wrapper.ts).
 */

import { CodedError, failure } from "../../base/index.ts";
import type { Autoreset, EnvSpec, ResetRequest, VectorEnv, VectorReset } from "./contract.ts";
import { END_CODE } from "./contract.ts";
import type { Outcome, Rows } from "./rows.ts";

const goOn: ResetRequest = Object.freeze({});

export function vectorEnv(rows: Rows, { spec, autoreset }: { spec: EnvSpec; autoreset: Autoreset }): VectorEnv {
  const { count, observationSpace, actionSpace } = rows;
  const obsSize = observationSpace.size;
  const actionSize = actionSpace.size;
  const obs = new Float32Array(count * obsSize);
  const finalObs = new Float32Array(count * obsSize);
  const rewards = new Float64Array(count);
  const ends = new Uint8Array(count);
  const obsOf = Array.from({ length: count }, (_, row) => obs.subarray(row * obsSize, (row + 1) * obsSize));
  // Rows that may not be stepped: 1 until the first reset, and between an end and the restart after it.
  const stopped = new Uint8Array(count).fill(1);
  const action = new Float64Array(actionSize);
  const outcome: Outcome = { obs, reward: 0, end: "no" };
  // "broken" holds while worlds move, and stays when one of them fails: the others are then out of step with it.
  let phase: "new" | "running" | "broken" | "closed" = "new";

  const restart = (row: number, request: ResetRequest): void => {
    rows.begin(row, request, obsOf[row]!);
    stopped[row] = 0;
  };

  const finish = (row: number, code: number): void => {
    ends[row] = code;
    if (code === END_CODE.no) return;
    for (let i = row * obsSize; i < (row + 1) * obsSize; i++) finalObs[i] = obs[i]!;
    if (autoreset === "same-step") restart(row, goOn);
    else stopped[row] = 1;
  };

  const refuseOrder = (row: number): CodedError => {
    if (phase === "closed") return new CodedError(failure("env.closed", `${spec.id} was closed; make a new one`));
    return new CodedError(
      failure(
        "env.needs-reset",
        phase === "new"
          ? `${spec.id} has not been reset yet and cannot step; call reset() first`
          : phase === "broken"
            ? `${spec.id} failed in an earlier step and cannot go on from there; call reset() first`
            : `copy ${row} of ${spec.id} has ended and autoreset is disabled; call reset({ only }) with 1 for the ended copies`,
      ),
    );
  };

  const refuseAction = (row: number, actions: ArrayLike<number>): CodedError => {
    const found = Array.from({ length: actionSize }, (_, i) => actions[row * actionSize + i]);
    return new CodedError(
      failure(
        "space.mismatch",
        `copy ${row} of ${spec.id} got the action [${found.join(", ")}], expected ${actionSpace.describe()}; check the policy that made it`,
      ),
    );
  };

  return {
    spec,
    count,
    observationSpace,
    actionSpace,
    autoreset,
    obs,
    finalObs,
    rewards,
    ends,
    reset(request: VectorReset = goOn) {
      if (phase === "closed") throw refuseOrder(0);
      const { only, ...each } = request;
      if (only !== undefined) requireMask(only, { count, request, started: phase === "running" });
      for (let row = 0; row < count; row++) {
        if (only !== undefined && only[row] === 0) continue;
        restart(row, each);
        rewards[row] = 0;
        ends[row] = END_CODE.no;
      }
      phase = "running";
    },
    step(actions) {
      if (phase !== "running") throw refuseOrder(0);
      if (actions.length !== count * actionSize) {
        throw new CodedError(
          failure(
            "space.mismatch",
            `${spec.id} has ${count} copies with ${actionSize} number(s) per action, so it needs ${count * actionSize} numbers, found ${actions.length}`,
          ),
        );
      }
      // All is checked before anything moves, so a refused call leaves the worlds as they were.
      for (let row = 0; row < count; row++) {
        if (stopped[row] === 1 && autoreset !== "next-step") throw refuseOrder(row);
        if (!actionSpace.accepts(actions, row * actionSize)) throw refuseAction(row, actions);
      }
      phase = "broken";
      for (let row = 0; row < count; row++) {
        if (stopped[row] === 1) {
          restart(row, goOn);
          rewards[row] = 0;
          ends[row] = END_CODE.no;
          continue;
        }
        for (let i = 0; i < actionSize; i++) action[i] = actions[row * actionSize + i]!;
        outcome.obs = obsOf[row]!;
        rows.advance(row, action, outcome);
        rewards[row] = outcome.reward;
        finish(row, END_CODE[outcome.end]);
      }
      phase = "running";
    },
    close() {
      if (phase === "closed") return;
      phase = "closed";
      rows.close();
    },
  };
}

function requireMask(
  only: Uint8Array,
  { count, request, started }: { count: number; request: VectorReset; started: boolean },
): void {
  const wrong =
    only.length !== count
      ? `it has ${only.length} entries for ${count} copies`
      : request.seed !== undefined
        ? "a seed restarts all copies, so leave one of the two out"
        : started
          ? undefined
          : "the first reset must be of all copies";
  if (wrong === undefined) return;
  throw new CodedError(failure("env.options", `the reset mask 'only' cannot be used here: ${wrong}`));
}
