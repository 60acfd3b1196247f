/**
 * A learner's state as named parts, so that saving and loading are one list and cannot drift apart.
 * Owns: parts for networks, optimisers, random streams and counters; the check that every part fits before any is
 * touched, so that a refused checkpoint leaves the learner as it was.
 * Not here: the bytes (checkpoint.ts), which parts an algorithm has (its own file).
 */

import type { Result, Rng, RngState } from "../../base/index.ts";
import { err, failure, ok, restoreRng } from "../../base/index.ts";
import type { Network, Optimiser } from "../tensor/index.ts";
import type { Checkpoint, NumberBlock } from "./checkpoint.ts";
import { decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
import type { Replay } from "./replay.ts";

export interface StatePart {
  readonly name: string;
  /** Only in resumable checkpoints; a plain one may lack it, and then it starts empty. */
  readonly optional?: boolean;
  read(): { readonly [suffix: string]: NumberBlock };
  /** Whether the blocks (by suffix) could be written. Changes nothing. */
  fits(blocks: { readonly [suffix: string]: NumberBlock }): boolean;
  write(blocks: { readonly [suffix: string]: NumberBlock }): void;
}

export function networkPart(name: string, network: Network): StatePart {
  return {
    name,
    read: () => ({ params: network.snapshot() }),
    fits: ({ params }) =>
      params instanceof Float32Array && params.length === network.paramCount && isFiniteBlock(params),
    write: ({ params }) => network.load(params as Float32Array),
  };
}

export function optimiserPart(name: string, optimiser: Optimiser): StatePart {
  return {
    name,
    read: () => {
      const { steps, moments } = optimiser.state();
      return { steps: Float64Array.of(steps), moments };
    },
    fits: ({ steps, moments }) =>
      steps?.length === 1 && moments instanceof Float32Array && moments.length === optimiser.state().moments.length,
    write: ({ steps, moments }) =>
      optimiser.restore({ kind: "adam", steps: steps?.[0] ?? Number.NaN, moments: moments as Float32Array }),
  };
}

/** Numbers behind a getter and a setter: counters, noise, normalisers. */
export function numbersPart(
  name: string,
  { read, write }: { read: () => Float64Array; write: (values: Float64Array) => void },
): StatePart {
  return {
    name,
    read: () => ({ values: read() }),
    fits: ({ values }) => values instanceof Float64Array && values.length === read().length,
    write: ({ values }) => write(values as Float64Array),
  };
}

/** A random stream kept under a key of its holder, replaced on loading. */
export function rngPart<K extends string>(holder: { [key in K]: Rng }, key: K): StatePart {
  return numbersPart(`rng.${key}`, {
    read: () => packRng(holder[key].state()),
    write: (values) => {
      holder[key] = restoreRng(unpackRng(values)) as (typeof holder)[K];
    },
  });
}

export function packRng({ key, words, spare }: RngState): Float64Array {
  return Float64Array.of(...key, ...words, spare === null ? 0 : 1, spare ?? 0);
}

export function unpackRng(values: Float64Array): RngState {
  const [k0 = 0, k1 = 0, k2 = 0, k3 = 0, w0 = 0, w1 = 0, w2 = 0, w3 = 0, hasSpare = 0, spare = 0] = values;
  return { key: [k0, k1, k2, k3], words: [w0, w1, w2, w3], spare: hasSpare === 1 ? spare : null };
}

export function replayPart(replay: Replay): StatePart {
  return {
    name: "replay",
    optional: true,
    read: () => replay.blocks(),
    fits: (blocks) => replay.fits(blocks),
    write: (blocks) => replay.restore(blocks),
  };
}

function isFiniteBlock(values: Float32Array): boolean {
  return values.every((x) => Number.isFinite(x));
}

export interface StateHeader {
  readonly kind: string;
  /** Plain data: the shape and hidden widths that must match on loading, and the config for the record. */
  readonly meta: { readonly shape: object; readonly hidden: readonly number[]; readonly config: object };
}

export function saveState(
  { kind, meta }: StateHeader,
  parts: readonly StatePart[],
  { resumable }: { resumable: boolean },
): Uint8Array {
  const blocks: { [name: string]: NumberBlock } = {};
  for (const part of parts) {
    if (part.optional && !resumable) continue;
    for (const [suffix, block] of Object.entries(part.read())) blocks[`${part.name}/${suffix}`] = block;
  }
  return encodeCheckpoint({ kind, meta: meta as unknown as Checkpoint["meta"], blocks });
}

/** Reads bytes written by `saveState` for the same kind and the same `meta.shape`, or changes nothing. */
export function loadState(bytes: Uint8Array, { kind, meta }: StateHeader, parts: readonly StatePart[]): Result<void> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const found = decoded.value;
  if (found.kind !== kind) return mismatch(`it was written by ${found.kind} and is read by ${kind}`);
  for (const key of ["shape", "hidden"] as const) {
    const [saved, own] = [JSON.stringify(found.meta[key]), JSON.stringify(meta[key])];
    if (saved !== own) return mismatch(`its ${key} is ${saved} and the learner's is ${own}`);
  }
  const todo: { part: StatePart; blocks: { [suffix: string]: NumberBlock } }[] = [];
  for (const part of parts) {
    const blocks = blocksOf(found, part.name);
    if (part.optional && Object.keys(blocks).length === 0) continue;
    if (!part.fits(blocks)) return mismatch(`its part '${part.name}' is missing, of another size or not finite`);
    todo.push({ part, blocks });
  }
  for (const { part, blocks } of todo) part.write(blocks);
  return ok(undefined);
}

function blocksOf({ blocks }: Checkpoint, name: string): { [suffix: string]: NumberBlock } {
  const out: { [suffix: string]: NumberBlock } = {};
  for (const [key, block] of Object.entries(blocks)) {
    if (key.startsWith(`${name}/`)) out[key.slice(name.length + 1)] = block;
  }
  return out;
}

function mismatch(why: string): Result<never> {
  return err(
    failure(
      "checkpoint.mismatch",
      `the checkpoint does not belong to this learner: ${why}; build the learner it was saved from`,
    ),
  );
}
