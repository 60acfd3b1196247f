/**
 * One step of one agent, as it is remembered.
 * Owns: the record's fields and limits, late rewards (`Completion`), when two records are the same one.
 * Not here: bytes and lines (codec.ts, jsonl.ts), where records are kept (store.ts is the port, adapters/store keeps them).
 *
 * The proposed and the executed action are both kept: a guard may have changed the proposal, and learning from an action
 * that was never carried out would be wrong. The reward may arrive later than the record, so `null` means pending.
 */

import type { AgentId, EpisodeId, Failure, Ms } from "../../base/index.ts";
import { CodedError, failure, parseAgentId, parseEpisodeId } from "../../base/index.ts";

/** Travels with every encoded form (file, table, batch, line). A reader refuses what it does not know. */
export const RECORD_SCHEMA = 1;

/** A time limit truncates the recording, not the task; only a terminated episode has no future. */
export type EpisodeEnd = "no" | "terminated" | "truncated";
/** The order is the number that stores write: never reorder, only add. */
export const EPISODE_ENDS: readonly EpisodeEnd[] = ["no", "terminated", "truncated"];

export interface TrajectoryRecord {
  /** An episode belongs to one agent; episode and step together are the record's identity. */
  readonly episode: EpisodeId;
  readonly agent: AgentId;
  /** Logical step in the episode, from 0. */
  readonly step: number;
  /** When the action was decided. */
  readonly at: Ms;
  /** What the policy saw when it decided. */
  readonly obs: Float32Array;
  readonly proposed: Float32Array;
  readonly executed: Float32Array;
  /** Natural logarithm of the probability (density) of the proposed action; null for a policy without one. */
  readonly logProb: number | null;
  /** null while pending. */
  readonly reward: number | null;
  readonly end: EpisodeEnd;
  /** The observation after the last step; without it a truncated episode's last step cannot be bootstrapped. */
  readonly finalObs?: Float32Array;
  /** The actor's extra input (an embedding). */
  readonly actorContext?: Float32Array;
  /** The critic's extra input (a global state). */
  readonly criticContext?: Float32Array;
}

/** The late part of a record. Without `end` the record keeps the end it was appended with. */
export interface Completion {
  readonly episode: EpisodeId;
  readonly step: number;
  readonly reward: number;
  readonly end?: EpisodeEnd;
  readonly finalObs?: Float32Array;
}

export const MAX_STEP = 2 ** 31 - 1;
/** A vector has to fit one InfluxDB string field (64 KiB) as base64. */
export const MAX_VECTOR = 8_192;
/** Nanoseconds since the epoch have to fit 64 bits, as time series databases count them. */
export const MAX_AT = 9e12;

/** The first thing that is wrong with the batch, or undefined. Nothing is repaired. */
export function problemInRecords(records: readonly TrajectoryRecord[]): Failure | undefined {
  let episode = "";
  let agent = "";
  for (const record of records) {
    // Ids repeat from step to step: parse each run of equal ids once.
    if (record.episode !== episode) {
      const parsed = parseEpisodeId(record.episode);
      if (!parsed.ok) return parsed.failure;
      episode = record.episode;
    }
    if (record.agent !== agent) {
      const parsed = parseAgentId(record.agent);
      if (!parsed.ok) return parsed.failure;
      agent = record.agent;
    }
    const problem = problemOf(record);
    if (problem !== undefined) return invalid(record, problem);
  }
  return undefined;
}

export function problemInCompletions(completions: readonly Completion[]): Failure | undefined {
  for (const completion of completions) {
    const parsed = parseEpisodeId(completion.episode);
    if (!parsed.ok) return parsed.failure;
    const { step, reward, end, finalObs } = completion;
    const problem =
      stepProblem(step) ??
      (Number.isFinite(reward) ? undefined : `its reward is ${reward}`) ??
      (end === undefined || EPISODE_ENDS.includes(end) ? undefined : `its end is '${String(end)}'`) ??
      (finalObs === undefined ? undefined : vectorProblem("finalObs", finalObs));
    if (problem !== undefined) return invalid(completion, problem);
  }
  return undefined;
}

function problemOf(record: TrajectoryRecord): string | undefined {
  const { at, logProb, reward, finalObs, actorContext, criticContext } = record;
  return (
    stepProblem(record.step) ??
    (at >= 0 && at <= MAX_AT ? undefined : `its time is ${at}, not milliseconds since 1970`) ??
    vectorProblem("obs", record.obs) ??
    vectorProblem("proposed", record.proposed) ??
    vectorProblem("executed", record.executed) ??
    (logProb === null || Number.isFinite(logProb) ? undefined : `its logProb is ${logProb}`) ??
    (reward === null || Number.isFinite(reward) ? undefined : `its reward is ${reward}`) ??
    (EPISODE_ENDS.includes(record.end) ? undefined : `its end is '${String(record.end)}'`) ??
    (finalObs === undefined ? undefined : vectorProblem("finalObs", finalObs)) ??
    (actorContext === undefined ? undefined : vectorProblem("actorContext", actorContext)) ??
    (criticContext === undefined ? undefined : vectorProblem("criticContext", criticContext))
  );
}

function stepProblem(step: number): string | undefined {
  return Number.isInteger(step) && step >= 0 && step <= MAX_STEP
    ? undefined
    : "its step is not a whole number from 0 on";
}

function vectorProblem(name: string, vector: Float32Array): string | undefined {
  if (vector.length < 1 || vector.length > MAX_VECTOR) {
    return `its ${name} has ${vector.length} numbers, and 1 to ${MAX_VECTOR} fit`;
  }
  for (let i = 0; i < vector.length; i++) {
    if (!Number.isFinite(vector[i] ?? Number.NaN)) return `its ${name}[${i}] is ${vector[i]}`;
  }
  return undefined;
}

function invalid(which: { readonly episode: EpisodeId; readonly step: number }, problem: string): Failure {
  return failure(
    "trajectory.invalid",
    `step ${which.step} of episode ${which.episode} cannot be recorded: ${problem}; correct it where the step is made`,
  );
}

export function throwIfProblem(problem: Failure | undefined): void {
  if (problem !== undefined) throw new CodedError(problem);
}

/**
 * Whether appending `incoming` once more is a retry of `stored`. A retry of a pending record may come after its
 * completion, so a pending newcomer is compared without reward, end and final observation.
 */
export function isRepeat(incoming: TrajectoryRecord, stored: TrajectoryRecord): boolean {
  return (
    incoming.agent === stored.agent &&
    Object.is(incoming.at, stored.at) &&
    Object.is(incoming.logProb, stored.logProb) &&
    isSameVector(incoming.obs, stored.obs) &&
    isSameVector(incoming.proposed, stored.proposed) &&
    isSameVector(incoming.executed, stored.executed) &&
    isSameVector(incoming.actorContext, stored.actorContext) &&
    isSameVector(incoming.criticContext, stored.criticContext) &&
    (incoming.reward === null ||
      (Object.is(incoming.reward, stored.reward) &&
        incoming.end === stored.end &&
        isSameVector(incoming.finalObs, stored.finalObs)))
  );
}

/** Whether `completion` says again what the record already says. */
export function isRepeatedCompletion(
  completion: Completion,
  stored: Pick<TrajectoryRecord, "reward" | "end" | "finalObs">,
): boolean {
  return (
    Object.is(completion.reward, stored.reward) &&
    (completion.end === undefined || completion.end === stored.end) &&
    (completion.finalObs === undefined || isSameVector(completion.finalObs, stored.finalObs))
  );
}

export function completed(record: TrajectoryRecord, completion: Completion): TrajectoryRecord {
  return {
    ...record,
    reward: completion.reward,
    end: completion.end ?? record.end,
    ...(completion.finalObs === undefined ? {} : { finalObs: completion.finalObs }),
  };
}

/** A copy whose vectors are its own: callers may reuse their buffers, and what was handed over must not change with them. */
export function ownCopy(record: TrajectoryRecord): TrajectoryRecord {
  // Written out: every step of every agent passes here, and a spread costs more than the three vectors.
  const { episode, step, agent, at, logProb, reward, end, finalObs, actorContext, criticContext } = record;
  return {
    episode,
    step,
    agent,
    at,
    obs: record.obs.slice(),
    proposed: record.proposed.slice(),
    executed: record.executed.slice(),
    logProb,
    reward,
    end,
    ...(finalObs === undefined ? {} : { finalObs: finalObs.slice() }),
    ...(actorContext === undefined ? {} : { actorContext: actorContext.slice() }),
    ...(criticContext === undefined ? {} : { criticContext: criticContext.slice() }),
  };
}

export function ownCompletion(completion: Completion): Completion {
  const { finalObs } = completion;
  return finalObs === undefined ? completion : { ...completion, finalObs: finalObs.slice() };
}

function isSameVector(a: Float32Array | undefined, b: Float32Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!Object.is(a[i], b[i])) return false;
  }
  return true;
}

export function conflictingRecord(record: { readonly episode: EpisodeId; readonly step: number }): Failure {
  return failure(
    "store.conflict",
    `step ${record.step} of episode ${record.episode} is already stored with different content; use a new episode id, or complete the stored record instead of appending it again`,
  );
}

export function conflictingAgent(
  episode: EpisodeId,
  { stored, incoming }: { stored: AgentId; incoming: AgentId },
): Failure {
  return failure(
    "store.conflict",
    `episode ${episode} belongs to agent ${stored} and agent ${incoming} wants to append to it; give each agent episodes of its own`,
  );
}

export function conflictingCompletion(completion: Completion): Failure {
  return failure(
    "store.conflict",
    `step ${completion.step} of episode ${completion.episode} was already completed with another reward or end; a reward is given once`,
  );
}

export function unknownRecord(completion: Completion): Failure {
  return failure(
    "store.unknown-record",
    `step ${completion.step} of episode ${completion.episode} cannot be completed because it is not stored; append the record first`,
  );
}
