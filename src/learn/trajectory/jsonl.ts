/**
 * Records as lines of JSON, for people and other tools.
 * Owns: one line per record, exact in both directions (a float32 is written as the decimal that reads back to it).
 * Not here: files (adapters/store), the compact form (codec.ts).
 */

import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import { schemaMismatch } from "./codec.ts";
import type { EpisodeEnd, TrajectoryRecord } from "./record.ts";
import { problemInRecords, RECORD_SCHEMA, throwIfProblem } from "./record.ts";

const NUMBERS = ["step", "at"] as const;
const NULLABLE = ["logProb", "reward"] as const;
const VECTORS = ["obs", "proposed", "executed"] as const;
const OPTIONAL_VECTORS = ["finalObs", "actorContext", "criticContext"] as const;
const KEYS = new Set<string>([
  "schema",
  "episode",
  "agent",
  "end",
  ...NUMBERS,
  ...NULLABLE,
  ...VECTORS,
  ...OPTIONAL_VECTORS,
]);

export function recordToLine(record: TrajectoryRecord): string {
  const parts = [
    `"schema":${RECORD_SCHEMA}`,
    `"episode":${JSON.stringify(record.episode)}`,
    `"agent":${JSON.stringify(record.agent)}`,
    `"end":"${record.end}"`,
  ];
  for (const key of NUMBERS) parts.push(`"${key}":${number(record[key])}`);
  for (const key of NULLABLE) parts.push(`"${key}":${number(record[key])}`);
  for (const key of VECTORS) parts.push(`"${key}":${vector(record[key])}`);
  for (const key of OPTIONAL_VECTORS) {
    const value = record[key];
    if (value !== undefined) parts.push(`"${key}":${vector(value)}`);
  }
  return `{${parts.join(",")}}`;
}

/** `where` is `file:line`, for the message. Throws `trajectory.line`, `store.schema` or what is wrong with the record. */
export function lineToRecord(line: string, where: string): TrajectoryRecord {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch {
    throw badLine(where, "is not JSON");
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw badLine(where, "is not an object");
  const fields = found as Record<string, unknown>;
  if (fields.schema !== RECORD_SCHEMA) throw new CodedError(schemaMismatch(where, fields.schema));
  for (const key of Object.keys(fields)) {
    if (!KEYS.has(key)) throw badLine(where, `has the unknown key '${key.slice(0, 40)}'`);
  }
  const text = (key: string): string => {
    const value = fields[key];
    if (typeof value !== "string") throw badLine(where, `has no text under '${key}'`);
    return value;
  };
  const numeric = (key: string): number => {
    const value = fields[key];
    if (typeof value !== "number") throw badLine(where, `has no number under '${key}'`);
    return value;
  };
  const vectorAt = (key: string): Float32Array => {
    const value = fields[key];
    if (!Array.isArray(value) || value.some((v) => typeof v !== "number")) {
      throw badLine(where, `has no list of numbers under '${key}'`);
    }
    return Float32Array.from(value as number[]);
  };
  const optional = (key: (typeof OPTIONAL_VECTORS)[number]) =>
    fields[key] === undefined ? {} : { [key]: vectorAt(key) };
  const record: TrajectoryRecord = {
    episode: text("episode") as EpisodeId,
    agent: text("agent") as AgentId,
    step: numeric("step"),
    at: numeric("at") as Ms,
    obs: vectorAt("obs"),
    proposed: vectorAt("proposed"),
    executed: vectorAt("executed"),
    logProb: fields.logProb === null ? null : numeric("logProb"),
    reward: fields.reward === null ? null : numeric("reward"),
    end: text("end") as EpisodeEnd,
    ...optional("finalObs"),
    ...optional("actorContext"),
    ...optional("criticContext"),
  };
  throwIfProblem(problemInRecords([record]));
  return record;
}

// JSON.stringify writes -0 as 0; JSON.parse reads "-0" as -0, so writing the sign keeps the round trip exact.
function number(value: number | null): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function vector(values: Float32Array): string {
  let text = "[";
  for (let i = 0; i < values.length; i++) text += (i === 0 ? "" : ",") + number(values[i] ?? 0);
  return `${text}]`;
}

function badLine(where: string, what: string): CodedError {
  return new CodedError(
    failure(
      "trajectory.line",
      `${where} ${what}; each line is one record as 'exportJsonl' writes it, so check where the file comes from`,
    ),
  );
}
