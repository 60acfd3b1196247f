/**
 * Whether the contenders computed the same thing: a faster wrong answer is no answer.
 * Each does the same steps from the same numbers; the largest difference to ours is printed and has to be small.
 */

import { join } from "node:path";
import { atMost, type Figure, round } from "../report.ts";
import { compareVectors } from "../statistics.ts";
import type { Crew, Role } from "./crew.ts";

export interface Question {
  readonly task: string;
  readonly what: string;
  readonly steps: number;
  /** Largest difference over the largest magnitude. Sums in another order drift apart a little with every step. */
  readonly tolerance: number;
  readonly peers: readonly Role[];
  /** The same in shards, whose answer is the end of the whole one; the number of threads must not change a bit. */
  readonly threaded?: string;
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
    threaded: "gru-threads",
  },
];

export async function agreement(crew: Crew, questions: readonly Question[] = QUESTIONS): Promise<Figure[]> {
  const base = (["wasm", "native"] as const).find((role) => crew.has(role));
  if (!base) return [];
  const figures: Figure[] = [];
  for (const question of questions) {
    const { task, threaded } = question;
    const ours = await ask(crew, base, question);
    if (!ours) continue;
    for (const role of question.peers.filter((peer) => peer !== base && crew.has(peer))) {
      crew.context.signal.throwIfAborted();
      const theirs = await ask(crew, role, question);
      // The two kernel sets are one source: they have to agree to the last bit.
      const pair = { id: `agreement.${task}.${role}`, between: `${base} and ${role}`, isSameSource: role === "native" };
      if (theirs) figures.push(verdict(question, pair, compareVectors(ours, theirs)));
    }
    if (threaded) figures.push(...(await threadsAgree(crew, { ...question, base, threaded, ours })));
  }
  return figures;
}

interface ThreadQuestion extends Question {
  readonly base: Role;
  readonly threaded: string;
  /** The answer of the unsharded task. */
  readonly ours: Float32Array;
}

async function threadsAgree(crew: Crew, question: ThreadQuestion): Promise<Figure[]> {
  const { base, task, threaded, ours } = question;
  const one = await ask(crew, base, { ...question, task: `${threaded}:1` });
  const two = await ask(crew, base, { ...question, task: `${threaded}:2` });
  if (!one || !two) return [];
  const gradient = { ...question, what: "gradients of the GRU" };
  const threads = { id: `agreement.${task}.threads`, between: `the same shards on one thread and on two (${base})` };
  const shards = { id: `agreement.${task}.shards`, between: `the whole batch and its shards (${base})` };
  const whole = ours.subarray(ours.length - one.length);
  return [
    verdict(gradient, { ...threads, isSameSource: true }, compareVectors(one, two)),
    verdict(gradient, { ...shards, isSameSource: false }, compareVectors(whole, one)),
  ];
}

async function ask(crew: Crew, role: Role, { task, steps }: Question): Promise<Float32Array | undefined> {
  try {
    const answerFile = join(crew.folder, `${task.replace(":", "-")}.${role}`);
    return await crew.get(role).check(task, { steps, answerFile });
  } catch (error) {
    crew.absent.push(`${role}, answer to ${task}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

interface Pair {
  readonly id: string;
  readonly between: string;
  readonly isSameSource: boolean;
}

function verdict(
  { what, tolerance }: Question,
  { id, between, isSameSource }: Pair,
  { difference, magnitude }: ReturnType<typeof compareVectors>,
): Figure {
  const relative = difference / magnitude;
  const bound = isSameSource ? atMost(0, "(the same bits)") : atMost(tolerance, "of the largest value");
  return {
    id,
    what: `largest difference between ${between}: ${what}`,
    value: round(relative),
    unit: "of the largest value",
    target: bound.text,
    holds: bound.accepts(relative),
  };
}
