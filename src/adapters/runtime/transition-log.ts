/**
 * Transitions of a fleet's agents on disk, before anybody is told that they happened.
 * Owns: one file of sealed lines for all agents of a process, its rotation, and what of it is needed after a restart.
 * Not here: what is learned from them (control/agents), what a line looks like (sealed-lines.ts).
 *
 * All of a step are one write and one flush to the disk. A line that was being written when the process was killed is cut off at the
 * next start: nobody was told of it.
 */
import {
  closeSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { CodedError, failure, parseWorkloadId, unwrap, type WorkloadId } from "../../base/index.ts";
import type { FleetTransition } from "../../control/agents/index.ts";
import { makeFolder } from "./make-folder.ts";
import { sealedLine, sealedLinesIn } from "./sealed-lines.ts";
import { syncFolder } from "./write-file.ts";

export interface TransitionLog {
  /** On disk when it returns; throws where it cannot be. */
  append(transitions: readonly FleetTransition[]): void;
  /** The newest of an agent, oldest first: no more than a policy may need since its checkpoint. */
  recent(agent: WorkloadId): readonly FleetTransition[];
  /** Lines of an earlier run that are not what was written. */
  readonly damaged: number;
  close(): void;
}

/** Two files of this size at most are kept: the one that is written, and the one before it. */
const MOST_BYTES = 64 * 2 ** 20;
/** Several rollouts of any learner that fleets have. */
const MOST_RECENT = 256;

export function openTransitionLog({
  folder,
  mostBytes = MOST_BYTES,
}: {
  readonly folder: string;
  readonly mostBytes?: number;
}): TransitionLog {
  makeFolder(folder);
  const file = join(folder, "transitions.log");
  const previous = join(folder, "transitions-before.log");
  const recent = new Map<string, FleetTransition[]>();
  const remember = (transition: FleetTransition): void => {
    const list = recent.get(transition.agent) ?? [];
    list.push(transition);
    if (list.length > 2 * MOST_RECENT) list.splice(0, list.length - MOST_RECENT);
    recent.set(transition.agent, list);
  };
  let damaged = 0;
  for (const path of [previous, file]) {
    const bytes = contentOf(path);
    const { lines, wholeUntil, damaged: broken } = sealedLinesIn(bytes);
    if (wholeUntil < bytes.length) truncateSync(path, wholeUntil);
    damaged += broken;
    for (const line of lines) remember(readTransition(line, path));
  }
  const begin = (): number => {
    const opened = openSync(file, "a");
    syncFolder(folder);
    return opened;
  };
  let handle = begin();
  let size = statSync(file).size;
  return {
    damaged,
    append(transitions) {
      if (transitions.length === 0) return;
      const text = Buffer.from(transitions.map((transition) => sealedLine(JSON.stringify(transition, plain))).join(""));
      for (let at = 0; at < text.length; ) at += writeSync(handle, text, at);
      fdatasyncSync(handle);
      for (const transition of transitions) remember(transition);
      size += text.length;
      if (size < mostBytes) return;
      closeSync(handle);
      renameSync(file, previous);
      handle = begin();
      size = 0;
    },
    recent: (agent) => recent.get(agent)?.slice(-MOST_RECENT) ?? [],
    close: () => closeSync(handle),
  };
}

const plain = (_key: string, value: unknown): unknown => (value instanceof Float32Array ? Array.from(value) : value);

const floats = z.array(z.number()).transform((values) => Float32Array.from(values));
const schema = z.strictObject({
  agent: z.string().transform((text) => unwrap(parseWorkloadId(text))),
  incarnation: z.int(),
  step: z.int(),
  updates: z.int(),
  obs: floats,
  action: floats,
  logProb: z.number(),
  reward: z.number(),
  nextObs: floats,
  context: floats,
  nextContext: floats,
});

/** Of a line without its seal. */
function readTransition(line: string, path: string): FleetTransition {
  const parsed = schema.safeParse(JSON.parse(line));
  if (parsed.success) return parsed.data;
  throw new CodedError(
    failure(
      "state.corrupt",
      `${path} has lines of another version; move it away to begin a new one, or use that version`,
    ),
  );
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw cause;
  }
}
