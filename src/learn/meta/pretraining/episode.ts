/**
 * One episode in flat columns, as it crosses between threads.
 * Owns: its shape, and the two things that are made of it: rows of a replay buffer and a trajectory for the encoder.
 */

import { unwrap } from "../../../base/index.ts";
import type { End } from "../../env/index.ts";
import type { Replay } from "../../rl/index.ts";
import type { FeatureLayout } from "../features.ts";
import { joinRow } from "../features.ts";
import type { Trajectory } from "../trajectory.ts";
import { createTrajectory } from "../trajectory.ts";

export interface Episode {
  readonly steps: number;
  /** [steps + 1, observation]: the last row is what the last step led to. */
  readonly obs: Float32Array;
  /** [steps, action]: as executed. */
  readonly actions: Float32Array;
  readonly rewards: Float32Array;
  /** How it ended. */
  readonly end: End;
}

export function returnOf({ rewards }: Episode): number {
  return rewards.reduce((sum, reward) => sum + reward, 0);
}

export function addToReplay(replay: Replay, { steps, obs, actions, rewards, end }: Episode): void {
  const [seen, acted] = [obs.length / (steps + 1), actions.length / steps];
  for (let t = 0; t < steps; t++) {
    replay.add({
      obs: obs.subarray(t * seen, (t + 1) * seen),
      action: actions.subarray(t * acted, (t + 1) * acted),
      reward: rewards[t]!,
      nextObs: obs.subarray((t + 1) * seen, (t + 2) * seen),
      end: t === steps - 1 ? end : "no",
    });
  }
}

export function trajectoryOf(episode: Episode, layout: FeatureLayout): Trajectory {
  const { steps, obs, actions, rewards } = episode;
  const [seen, acted] = [obs.length / (steps + 1), actions.length / steps];
  const rows = Array.from({ length: steps }, (_, t) =>
    unwrap(
      joinRow(layout, [
        obs.subarray(t * seen, (t + 1) * seen),
        actions.subarray(t * acted, (t + 1) * acted),
        rewards.subarray(t, t + 1),
      ]),
    ),
  );
  return unwrap(createTrajectory(rows, { layout, reward: returnOf(episode) }));
}
