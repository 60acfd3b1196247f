/**
 * Records as InfluxDB points, and back.
 * A point of the measurement `transition` is named by its tags (agent, episode) and its time, and writing a point again
 * adds to its fields. So a late reward is a second write of the same point, and a repeated write changes nothing.
 *
 * The time is the decision time in milliseconds plus the step as nanoseconds: steps decided in the same millisecond stay
 * apart, and retention and dashboards still see true times. `at` is kept exactly in a field of its own. `tail` is
 * 4·step + end, so that one maximum over an episode tells both its last step and how it ended. Vectors are base64 of
 * little-endian float32: InfluxDB has no lists, and one field per number would make a point of dozens.
 */

import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { EpisodeEnd, TrajectoryRecord } from "../../learn/trajectory/index.ts";
import { bytesToVector, EPISODE_ENDS, vectorToBytes } from "../../learn/trajectory/index.ts";

export const MEASUREMENT = "transition";
export const META = "coxswain_meta";

/** What comes back of a point: fields by name, absent ones missing or null. */
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Point {
  readonly agent: string;
  readonly episode: string;
  readonly fields: Fields;
}

/** What is known of an episode without reading its vectors. */
export interface SeriesSummary {
  readonly agent: AgentId;
  readonly episode: EpisodeId;
  readonly records: number;
  readonly rewards: number;
  readonly return: number;
  /** The largest `tail`. */
  readonly tail: number;
  readonly startedAt: Ms;
  readonly endedAt: Ms;
}

export function lineOf(record: TrajectoryRecord): string {
  const fields = [
    `tail=${tailOf(record.step, record.end)}i`,
    `at=${record.at}`,
    `obs="${base64(record.obs)}"`,
    `proposed="${base64(record.proposed)}"`,
    `executed="${base64(record.executed)}"`,
  ];
  if (record.logProb !== null) fields.push(`logProb=${decimal(record.logProb)}`);
  if (record.reward !== null) fields.push(`reward=${decimal(record.reward)}`);
  if (record.finalObs !== undefined) fields.push(`finalObs="${base64(record.finalObs)}"`);
  if (record.actorContext !== undefined) fields.push(`actorContext="${base64(record.actorContext)}"`);
  if (record.criticContext !== undefined) fields.push(`criticContext="${base64(record.criticContext)}"`);
  return `${keyOf(record)} ${fields.join(",")} ${timeOf(record)}`;
}

/** Only what came late: the rest of the point is there already. */
export function lateLineOf(record: TrajectoryRecord & { readonly reward: number }): string {
  const fields = [`tail=${tailOf(record.step, record.end)}i`, `reward=${decimal(record.reward)}`];
  if (record.finalObs !== undefined) fields.push(`finalObs="${base64(record.finalObs)}"`);
  return `${keyOf(record)} ${fields.join(",")} ${timeOf(record)}`;
}

export function recordOf({ agent, episode, fields }: Point): TrajectoryRecord {
  const vector = (name: string): Float32Array | undefined => {
    const text = fields[name];
    return typeof text === "string" && text !== "" ? bytesToVector(Buffer.from(text, "base64")) : undefined;
  };
  const number = (name: string): number | null => (typeof fields[name] === "number" ? fields[name] : null);
  const tail = number("tail");
  const at = number("at");
  const [obs, proposed, executed] = [vector("obs"), vector("proposed"), vector("executed")];
  if (tail === null || at === null || obs === undefined || proposed === undefined || executed === undefined) {
    throw new CodedError(
      failure(
        "store.corrupt",
        `episode ${episode} in InfluxDB has a point without its fields; something else writes to the measurement ${MEASUREMENT}, give the store a database of its own`,
      ),
    );
  }
  const finalObs = vector("finalObs");
  const actorContext = vector("actorContext");
  const criticContext = vector("criticContext");
  return {
    episode: episode as EpisodeId,
    agent: agent as AgentId,
    step: stepOf(tail),
    at: at as Ms,
    obs,
    proposed,
    executed,
    logProb: number("logProb"),
    reward: number("reward"),
    end: endOf(tail),
    ...(finalObs === undefined ? {} : { finalObs }),
    ...(actorContext === undefined ? {} : { actorContext }),
    ...(criticContext === undefined ? {} : { criticContext }),
  };
}

export function stepOf(tail: number): number {
  return Math.floor(tail / 4);
}

export function endOf(tail: number): EpisodeEnd {
  return EPISODE_ENDS[tail % 4] ?? "no";
}

function tailOf(step: number, end: EpisodeEnd): number {
  return 4 * step + EPISODE_ENDS.indexOf(end);
}

// Ids are letters, digits, '.', '_' and '-' (base/ids), so nothing needs escaping here or in queries.
function keyOf({ agent, episode }: TrajectoryRecord): string {
  return `${MEASUREMENT},agent=${agent},episode=${episode}`;
}

/** Nanoseconds since the epoch; beyond what a number holds exactly. */
export function timeOf({ at, step }: { readonly at: number; readonly step: number }): bigint {
  return BigInt(Math.floor(at)) * 1_000_000n + BigInt(step % 1_000_000);
}

function decimal(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function base64(vector: Float32Array): string {
  const bytes = vectorToBytes(vector);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
