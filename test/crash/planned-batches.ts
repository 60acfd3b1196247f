/**
 * What the writer writes, as a function of its round: the test knows the content of every record without being told.
 * A batch appends pending steps to two episodes; every second batch also completes the steps of the batch before.
 */

import type { AgentId, EpisodeId, Ms } from "../../src/base/index.ts";
import { seededRng } from "../../src/base/index.ts";
import type { Completion, TrajectoryRecord } from "../../src/learn/trajectory/index.ts";

export function plannedBatch(round: number, batch: number): TrajectoryRecord[] {
  const rng = seededRng(round).fork(batch);
  // Mostly small, now and then large enough to go past the log and straight into the database file.
  const size = rng.int(12) === 0 ? 2_000 + rng.int(1_000) : 1 + rng.int(60);
  return Array.from({ length: size }, (_, i): TrajectoryRecord => {
    const step = Math.floor(i / 2);
    return {
      episode: `r${round}-b${batch}-${i % 2}` as EpisodeId,
      agent: `agent-${i % 2}` as AgentId,
      step,
      at: (1_000 * batch + step) as Ms,
      obs: Float32Array.from({ length: 8 }, (_, k) => step + k / 8),
      proposed: Float32Array.from({ length: 5 }, () => rng.next()),
      executed: Float32Array.of(batch, step, 0, 0, round),
      logProb: -step / 16,
      reward: null,
      end: "no",
    };
  });
}

export function plannedCompletions(round: number, batch: number): Completion[] {
  return plannedBatch(round, batch).map(({ episode, step }) => ({ episode, step, reward: step - batch / 4 }));
}
