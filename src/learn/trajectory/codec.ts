/**
 * Batches as bytes, for the way between processes.
 * Owns: the layout below and its checks; decoding never reads past the end and never trusts a count.
 * Not here: lines for people (jsonl.ts), the record's own limits (record.ts).
 *
 * Little-endian. Header: "CXTB", schema u16, kind u16, count u32, ids u32; then the ids (u8 length, ASCII), each once,
 * because steps of an episode repeat them; then the entries: 4 + 4 bytes of id numbers, step i32, at f64, logProb f64,
 * reward f64 (NaN is null: a stored number is always finite), end u8 (255: not given), seven u16 vector lengths
 * (0: absent), and the vectors as float32.
 */

import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { Completion, TrajectoryRecord } from "./record.ts";
import { EPISODE_ENDS, problemInCompletions, problemInRecords, RECORD_SCHEMA, throwIfProblem } from "./record.ts";
import type { Transition } from "./store.ts";

const MAGIC = 0x42545843; // "CXTB" read as a little-endian word
const HEADER = 16;
const FIXED = 4 + 4 + 4 + 8 + 8 + 8 + 1 + 7 * 2;
const NOT_GIVEN = 255;
const KINDS = { records: 1, completions: 2, transitions: 3 } as const;
const NO_AGENT = "none";

/** What the three kinds have in common on the wire. */
interface Entry {
  readonly episode: string;
  readonly agent: string;
  readonly step: number;
  readonly at: number;
  readonly logProb: number | null;
  readonly reward: number | null;
  readonly end: number;
  /** obs, proposed, executed, finalObs, actorContext, criticContext, nextObs */
  readonly vectors: readonly (Float32Array | undefined)[];
}

export function encodeRecords(records: readonly TrajectoryRecord[]): Uint8Array<ArrayBuffer> {
  return encode(
    KINDS.records,
    records.map((r) => entryOf(r, undefined)),
  );
}

export function encodeTransitions(transitions: readonly Transition[]): Uint8Array<ArrayBuffer> {
  return encode(
    KINDS.transitions,
    transitions.map((t) => entryOf(t.record, t.nextObs ?? undefined)),
  );
}

export function encodeCompletions(completions: readonly Completion[]): Uint8Array<ArrayBuffer> {
  const none = undefined;
  const entries = completions.map(({ episode, step, reward, end, finalObs }) => ({
    episode,
    agent: NO_AGENT,
    step,
    at: 0,
    logProb: null,
    reward,
    end: end === undefined ? NOT_GIVEN : EPISODE_ENDS.indexOf(end),
    vectors: [none, none, none, finalObs, none, none, none],
  }));
  return encode(KINDS.completions, entries);
}

/** Throws `trajectory.malformed`, `store.schema` or what is wrong with a record. */
export function decodeRecords(data: Uint8Array): TrajectoryRecord[] {
  const records = decode(KINDS.records, data).map(recordOf);
  throwIfProblem(problemInRecords(records));
  return records;
}

export function decodeTransitions(data: Uint8Array): Transition[] {
  return decode(KINDS.transitions, data).map((entry) => {
    const record = recordOf(entry);
    throwIfProblem(problemInRecords([record]));
    if (record.reward === null) throw malformed("a transition has no reward");
    return { record: { ...record, reward: record.reward }, nextObs: entry.vectors[6] ?? null };
  });
}

export function decodeCompletions(data: Uint8Array): Completion[] {
  const completions = decode(KINDS.completions, data).map((entry): Completion => {
    const { reward, end, vectors } = entry;
    if (reward === null) throw malformed("a completion has no reward");
    const finalObs = vectors[3];
    return {
      episode: entry.episode as EpisodeId,
      step: entry.step,
      reward,
      ...(end === NOT_GIVEN ? {} : { end: endOf(end) }),
      ...(finalObs === undefined ? {} : { finalObs }),
    };
  });
  throwIfProblem(problemInCompletions(completions));
  return completions;
}

function entryOf(r: TrajectoryRecord, nextObs: Float32Array | undefined): Entry {
  return {
    episode: r.episode,
    agent: r.agent,
    step: r.step,
    at: r.at,
    logProb: r.logProb,
    reward: r.reward,
    end: EPISODE_ENDS.indexOf(r.end),
    vectors: [r.obs, r.proposed, r.executed, r.finalObs, r.actorContext, r.criticContext, nextObs],
  };
}

function recordOf(entry: Entry): TrajectoryRecord {
  const [obs, proposed, executed, finalObs, actorContext, criticContext] = entry.vectors;
  if (obs === undefined || proposed === undefined || executed === undefined) throw malformed("a vector is missing");
  return {
    episode: entry.episode as EpisodeId,
    agent: entry.agent as AgentId,
    step: entry.step,
    at: entry.at as Ms,
    obs,
    proposed,
    executed,
    logProb: entry.logProb,
    reward: entry.reward,
    end: endOf(entry.end),
    ...(finalObs === undefined ? {} : { finalObs }),
    ...(actorContext === undefined ? {} : { actorContext }),
    ...(criticContext === undefined ? {} : { criticContext }),
  };
}

function endOf(code: number): TrajectoryRecord["end"] {
  const end = EPISODE_ENDS[code];
  if (end === undefined) throw malformed(`an end has the number ${code}`);
  return end;
}

function encode(kind: number, entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
  const numbers = new Map<string, number>();
  let size = HEADER;
  const numberOf = (id: string): void => {
    if (numbers.has(id)) return;
    numbers.set(id, numbers.size);
    size += 1 + id.length;
  };
  for (const entry of entries) {
    numberOf(entry.episode);
    numberOf(entry.agent);
    size += FIXED;
    for (const vector of entry.vectors) size += (vector?.length ?? 0) * 4;
  }
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, RECORD_SCHEMA, true);
  view.setUint16(6, kind, true);
  view.setUint32(8, entries.length, true);
  view.setUint32(12, numbers.size, true);
  let at = HEADER;
  for (const id of numbers.keys()) {
    out[at++] = id.length;
    for (let i = 0; i < id.length; i++) out[at++] = id.charCodeAt(i);
  }
  for (const entry of entries) at = writeEntry(view, at, { entry, numbers });
  return out;
}

function writeEntry(
  view: DataView,
  start: number,
  { entry, numbers }: { entry: Entry; numbers: ReadonlyMap<string, number> },
): number {
  view.setUint32(start, numbers.get(entry.episode) ?? 0, true);
  view.setUint32(start + 4, numbers.get(entry.agent) ?? 0, true);
  view.setInt32(start + 8, entry.step, true);
  view.setFloat64(start + 12, entry.at, true);
  view.setFloat64(start + 20, entry.logProb ?? Number.NaN, true);
  view.setFloat64(start + 28, entry.reward ?? Number.NaN, true);
  view.setUint8(start + 36, entry.end);
  let at = start + FIXED;
  for (let k = 0; k < 7; k++) {
    const vector = entry.vectors[k];
    view.setUint16(start + 37 + 2 * k, vector?.length ?? 0, true);
    if (vector === undefined) continue;
    for (let i = 0; i < vector.length; i++, at += 4) view.setFloat32(at, vector[i] ?? 0, true);
  }
  return at;
}

function decode(kind: number, data: Uint8Array): Entry[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.byteLength < HEADER || view.getUint32(0, true) !== MAGIC)
    throw malformed("it does not begin as a batch does");
  const schema = view.getUint16(4, true);
  if (schema !== RECORD_SCHEMA) throw new CodedError(schemaMismatch("a batch", schema));
  if (view.getUint16(6, true) !== kind) throw malformed("it is a batch of another kind");
  const count = view.getUint32(8, true);
  const idCount = view.getUint32(12, true);
  let at = HEADER;
  const need = (length: number): void => {
    if (at + length > data.byteLength) throw malformed("it ends too early");
  };
  const ids: string[] = [];
  for (let i = 0; i < idCount; i++) {
    need(1);
    const length = view.getUint8(at);
    at += 1;
    need(length);
    ids.push(String.fromCharCode(...data.subarray(at, at + length)));
    at += length;
  }
  const idAt = (offset: number): string => {
    const id = ids[view.getUint32(offset, true)];
    if (id === undefined) throw malformed("it names an id that it does not list");
    return id;
  };
  const nullable = (value: number): number | null => (Number.isNaN(value) ? null : value);
  const entries: Entry[] = [];
  for (let n = 0; n < count; n++) {
    need(FIXED);
    const start = at;
    at += FIXED;
    const vectors: (Float32Array | undefined)[] = [];
    for (let k = 0; k < 7; k++) {
      const length = view.getUint16(start + 37 + 2 * k, true);
      need(length * 4);
      vectors.push(length === 0 ? undefined : readVector(view, at, length));
      at += length * 4;
    }
    entries.push({
      episode: idAt(start),
      agent: idAt(start + 4),
      step: view.getInt32(start + 8, true),
      at: view.getFloat64(start + 12, true),
      logProb: nullable(view.getFloat64(start + 20, true)),
      reward: nullable(view.getFloat64(start + 28, true)),
      end: view.getUint8(start + 36),
      vectors,
    });
  }
  if (at !== data.byteLength) throw malformed("it goes on after its last entry");
  return entries;
}

function readVector(view: DataView, from: number, length: number): Float32Array {
  const vector = new Float32Array(length);
  for (let i = 0; i < length; i++) vector[i] = view.getFloat32(from + 4 * i, true);
  return vector;
}

/** Stores that keep vectors as bytes all use this form: float32, little-endian. */
export function vectorToBytes(vector: Float32Array): Uint8Array {
  if (isLittleEndian) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const view = new DataView(new ArrayBuffer(vector.byteLength));
  vector.forEach((value, i) => {
    view.setFloat32(4 * i, value, true);
  });
  return new Uint8Array(view.buffer);
}

export function bytesToVector(data: Uint8Array): Float32Array {
  if (data.byteLength % 4 !== 0) throw malformed(`a vector has ${data.byteLength} bytes, which is no multiple of 4`);
  return readVector(new DataView(data.buffer, data.byteOffset, data.byteLength), 0, data.byteLength / 4);
}

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function malformed(what: string): CodedError {
  return new CodedError(
    failure(
      "trajectory.malformed",
      `a batch of trajectory records cannot be read: ${what}; send it again from the same version`,
    ),
  );
}

export function schemaMismatch(what: string, found: unknown) {
  return failure(
    "store.schema",
    `${what} has trajectory schema ${String(found)} and this version reads schema ${RECORD_SCHEMA}; use the version that wrote it, or export there and import here`,
  );
}
