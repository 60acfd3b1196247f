/**
 * Whether the contenders computed the same thing: a faster wrong answer is no answer.
 * Each does the same steps from the same numbers; the largest difference to ours is printed and has to be small.
 */

import { join } from "node:path";
import { atMost, type Figure, round } from "../report.ts";
import { compareVectors } from "../statistics.ts";
import type { Crew, Role } from "./crew.ts";

interface Question {
  readonly task: string;
  readonly what: string;
  readonly steps: number;
  /** Largest difference over the largest magnitude. Sums in another order drift apart a little with every step. */
  readonly tolerance: number;
  readonly peers: readonly Role[];
}

const QUESTIONS: readonly Question[] = [
  {
    task: "ddpg",
    what: "parameters after 50 DDPG updates",
    steps: 50,
    tolerance: 1e-4,
    peers: ["native", "c-ddpg", "torch"],
  },
  { task: "inference", what: "64 actions", steps: 1, tolerance: 1e-6, peers: ["native", "c-ddpg", "torch", "onnx"] },
  { task: "ppo", what: "parameters after 32 PPO updates", steps: 32, tolerance: 1e-4, peers: ["native", "torch"] },
  {
    task: "gru",
    what: "outputs and gradients of the GRU",
    steps: 1,
    tolerance: 1e-4,
    peers: ["native", "c-gru", "torch"],
  },
];

export async function agreement(crew: Crew): Promise<Figure[]> {
  const figures: Figure[] = [];
  const base = (["wasm", "native"] as const).find((role) => crew.has(role));
  if (!base) return figures;
  for (const { task, what, steps, tolerance, peers } of QUESTIONS) {
    const ask = (role: Role) => crew.get(role).check(task, { steps, answerFile: join(crew.folder, `${task}.${role}`) });
    const ours = await ask(base);
    for (const role of peers.filter((peer) => peer !== base && crew.has(peer))) {
      crew.context.signal.throwIfAborted();
      const { difference, magnitude } = compareVectors(ours, await ask(role));
      const relative = difference / magnitude;
      // The two kernel sets are one source: they have to agree to the last bit.
      const bound = role === "native" ? atMost(0, "(the same bits)") : atMost(tolerance, "of the largest value");
      figures.push({
        id: `agreement.${task}.${role}`,
        what: `largest difference between ${base} and ${role}: ${what}`,
        value: round(relative),
        unit: "of the largest value",
        target: bound.text,
        holds: bound.accepts(relative),
      });
    }
  }
  return figures;
}
