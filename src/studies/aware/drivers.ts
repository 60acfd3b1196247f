/**
 * Who may sit at the wheel in a study.
 * Owns: rules alone, and any other controller that does not learn by reward. Learners under the lifecycle are in agents.ts.
 */
import type { Action, Allocation } from "../../act/index.ts";
import { freshGuardState, guard } from "../../act/index.ts";
import type { Ms } from "../../base/index.ts";
import type { PodFallback } from "../../control/fallbacks/index.ts";
import { startingWith } from "../../control/fallbacks/index.ts";
import type { Fallback, FallbackStep } from "../../control/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { guardLimits, WORLD_START } from "../../pretraining/index.ts";
import type { Driver, View } from "./drive.ts";
import { warmHistory } from "./rules.ts";

/** HPA and VPA through the guard, every 15 s, as the controllers are run today; `start` is when their world begins. */
export function rulesDriver<S>(scene: Scene, fallback: PodFallback<S>, start: Ms = WORLD_START): Driver {
  return fallbackDriver(scene, startingWith(fallback, { history: warmHistory(scene, start) }));
}

export interface Decided {
  readonly step: FallbackStep<unknown, Allocation>;
  readonly have: Allocation;
  /** What the actuator gets. */
  readonly action: Action<Allocation>;
}

/** Any fallback through the guard; whoever counts is told of every decision. */
export function fallbackDriver<S>(
  scene: Scene,
  fallback: Fallback<S, WorkloadReading, Allocation>,
  told: (decided: Decided) => void = () => undefined,
): Driver {
  let state = fallback.start();
  let guardState = freshGuardState;
  return {
    stage: "rules",
    decide({ reading, have, nodes, now }: View): Action<Allocation> {
      const step = fallback.step(state, reading, now);
      state = step.state;
      const proposal = { workload: scene.workload, want: step.want, measuredAt: reading.at };
      const { followers } = step;
      const verdict = guard(followers === undefined ? proposal : { ...proposal, followers }, {
        limits: guardLimits,
        state: guardState,
        have,
        nodes,
        now,
      });
      guardState = verdict.state;
      told({ step, have, action: verdict.action });
      return verdict.action;
    },
  };
}
