/**
 * What was made of a shared model for one workload, as bytes: its policy, the embedding it acts under, and the
 * trajectories that the embedding is from.
 * Owns: the format, and the refusal of what was made of another model. Not here: the checkpoint format (learn/rl).
 */

import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { NumberBlock } from "../rl/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../rl/index.ts";
import type { KnownTrajectory } from "./fingerprint.ts";
import type { RecorderState } from "./trajectory-recorder.ts";

export const ADAPTED = "adapted";

type Blocks = { readonly [name: string]: NumberBlock };

/** Only in resumable checkpoints. */
export interface AdaptedMemory {
  readonly replay: Blocks;
  /** Steps in the replay that the policy took itself. */
  readonly own: number;
  readonly running: RecorderState;
}

export interface AdaptedState {
  /** The shared model's. */
  readonly identity: string;
  readonly seed: number;
  /** Room of the replay. */
  readonly replaySteps: number;
  readonly steps: number;
  readonly rounds: number;
  readonly policy: Uint8Array;
  readonly embedding: Float32Array;
  /** Trajectories that the embedding is from; 0 for the neutral one. */
  readonly trajectories: number;
  readonly known: readonly KnownTrajectory[];
  readonly memory: AdaptedMemory | null;
}

/** Widths that the blocks are cut by. */
export interface AdaptedWidths {
  readonly row: number;
  readonly embedding: number;
}

export function encodeAdapted({ memory, known, policy, embedding, ...facts }: AdaptedState): Uint8Array {
  const meta = { ...facts, ...(memory ? { own: memory.own, runningReward: memory.running.reward } : {}) };
  return encodeCheckpoint({
    kind: ADAPTED,
    meta,
    blocks: {
      policy,
      embedding,
      "best/values": joined(known.map(({ trajectory }) => trajectory.values)),
      "best/facts": Float64Array.from(
        known.flatMap(({ trajectory, summary }) => [trajectory.steps, trajectory.reward, summary?.length ?? 0]),
      ),
      "best/summaries": joined(known.flatMap(({ summary }) => (summary ? [summary] : []))),
      ...(memory ? memoryBlocks(memory) : {}),
    },
  });
}

function memoryBlocks({ replay, running }: AdaptedMemory): { [name: string]: NumberBlock } {
  const blocks: { [name: string]: NumberBlock } = {
    "running/rows": joined(running.rows),
    "running/after": running.after,
  };
  for (const [name, block] of Object.entries(replay)) blocks[`replay/${name}`] = block;
  return blocks;
}

/** What a learner has to be made with to take the bytes over. */
export function adaptedOrigin(bytes: Uint8Array): Result<Pick<AdaptedState, "seed" | "replaySteps">> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta } = decoded.value;
  if (kind !== ADAPTED) return foreign(`it was written by ${kind}`);
  const { seed, replaySteps } = meta;
  return typeof seed === "number" && typeof replaySteps === "number"
    ? ok({ seed, replaySteps })
    : foreign("one of its parts is missing");
}

export function decodeAdapted(
  bytes: Uint8Array,
  { identity, widths }: { readonly identity: string; readonly widths: AdaptedWidths },
): Result<AdaptedState> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta, blocks } = decoded.value;
  if (kind !== ADAPTED) return foreign(`it was written by ${kind}`);
  if (meta.identity !== identity)
    return err(
      failure(
        "meta.other-model",
        `the policy was fine-tuned from the shared model ${String(meta.identity)} and this agent's is ${identity}; give it the model it began with, or let it begin again from this one`,
      ),
    );
  const { policy, embedding } = blocks;
  const known = knownOf(blocks, widths.row);
  const { seed, replaySteps, steps, rounds, trajectories } = meta;
  const numbers = [seed, replaySteps, steps, rounds, trajectories];
  const isWhole =
    policy instanceof Uint8Array &&
    embedding instanceof Float32Array &&
    embedding.length === widths.embedding &&
    known !== undefined &&
    numbers.every((value) => typeof value === "number");
  if (!isWhole) return foreign("one of its parts is missing or of another size");
  const facts = meta as unknown as AdaptedState;
  return ok({
    identity,
    seed: facts.seed,
    replaySteps: facts.replaySteps,
    steps: facts.steps,
    rounds: facts.rounds,
    trajectories: facts.trajectories,
    policy,
    embedding,
    known,
    memory: memoryOf(meta, blocks, widths),
  });
}

function memoryOf(
  { own, runningReward }: { readonly [key: string]: unknown },
  blocks: Blocks,
  { row }: AdaptedWidths,
): AdaptedMemory | null {
  if (typeof own !== "number" || typeof runningReward !== "number") return null;
  const rows = Float32Array.from(blocks["running/rows"] ?? []);
  const replay = Object.entries(blocks).filter(([name]) => name.startsWith("replay/"));
  return {
    own,
    replay: Object.fromEntries(replay.map(([name, block]) => [name.slice("replay/".length), block])),
    running: {
      rows: Array.from({ length: rows.length / row }, (_, i) => rows.slice(i * row, (i + 1) * row)),
      reward: runningReward,
      after: Float32Array.from(blocks["running/after"] ?? []),
    },
  };
}

/** Undefined where the blocks contradict one another. */
function knownOf(blocks: Blocks, row: number): readonly KnownTrajectory[] | undefined {
  const [values, facts, summaries] = [blocks["best/values"], blocks["best/facts"], blocks["best/summaries"]];
  if (!(values instanceof Float32Array && facts instanceof Float64Array && summaries instanceof Float32Array))
    return undefined;
  const known: KnownTrajectory[] = [];
  let [at, read] = [0, 0];
  for (let i = 0; i < facts.length; i += 3) {
    const [steps = 0, reward = 0, width = 0] = facts.subarray(i, i + 3);
    const trajectory = { steps, reward, values: values.slice(at, at + steps * row) };
    known.push({ trajectory, summary: width > 0 ? summaries.slice(read, read + width) : undefined });
    at += steps * row;
    read += width;
  }
  return at === values.length && read === summaries.length ? known : undefined;
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function foreign(why: string): Result<never> {
  return err(
    failure(
      "checkpoint.mismatch",
      `the checkpoint does not belong to a policy of a shared model: ${why}; build the learner it was saved from`,
    ),
  );
}
