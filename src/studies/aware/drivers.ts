/**
 * Who may sit at the wheel in a study.
 * Owns: rules alone, and a fixed allocation. Learners under the lifecycle are in agents.ts.
 */
import type { Action } from "../../act/index.ts";
import { freshGuardState, guard } from "../../act/index.ts";
import type { Fallback } from "../../control/fallbacks/index.ts";
import type { Driver, View } from "./drive.ts";
import { warmHistory } from "./rules.ts";
import type { Scene } from "./scene.ts";
import { guardLimits } from "./scene.ts";

/** HPA and VPA through the guard, every 15 s, as the controllers are run today. */
export function rulesDriver<S>(scene: Scene, fallback: Fallback<S>): Driver {
  let state = fallback.start({ history: warmHistory(scene) });
  let guardState = freshGuardState;
  return {
    stage: "rules",
    decide({ reading, have, nodes, now }: View): Action {
      const step = fallback.step(state, reading, now);
      state = step.state;
      const proposal = { workload: scene.workload, want: step.want, measuredAt: reading.at };
      const verdict = guard(step.pods === undefined ? proposal : { ...proposal, pods: step.pods }, {
        limits: guardLimits,
        state: guardState,
        have,
        nodes,
        now,
      });
      guardState = verdict.state;
      return verdict.action;
    },
  };
}
