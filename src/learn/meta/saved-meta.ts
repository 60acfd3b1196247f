/**
 * A meta learner as a checkpoint.
 * Owns: which blocks it has, and the refusal, by name, of one that was saved from other shapes.
 * Not here: the bytes and their checksum (learn/rl's checkpoint format), parameter snapshots (learn/tensor).
 */

import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Checkpoint, JsonValue, NumberBlock } from "../rl/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../rl/index.ts";
import type { Optimiser, OptimiserState, ParameterSnapshot, Snapshottable } from "../tensor/index.ts";
import { loadParameters, saveParameters } from "../tensor/index.ts";
import type { EncoderShape } from "./encoder.ts";
import { layoutText, layoutWidth } from "./features.ts";

const KIND = "meta";
const NETWORKS = ["recurrent", "dense"] as const;
type Networks = { readonly [N in (typeof NETWORKS)[number]]: Snapshottable };

export interface MetaState {
  readonly config: EncoderShape;
  readonly networks: Networks;
  readonly scale: Float64Array;
  readonly steps: number;
  /** In the order of the networks, or none. */
  readonly optimisers: readonly OptimiserState[];
}

/** A checkpoint that was found to be of the right shape. */
export interface SavedMeta {
  readonly networks: { readonly [N in (typeof NETWORKS)[number]]: ParameterSnapshot };
  readonly scale: Float64Array;
  readonly steps: number;
  readonly optimisers: readonly OptimiserState[];
}

/** What must be equal on loading. Capacities (steps, rows) and learning rates may differ. */
function shapeOf({ layout, hidden, layers, dense, embedding }: EncoderShape): { readonly [key: string]: JsonValue } {
  return { layout: layoutText(layout), hidden, layers, dense, embedding };
}

export function writeSaved({ config, networks, scale, steps, optimisers }: MetaState): Uint8Array {
  const blocks: { [name: string]: NumberBlock } = { scale };
  const shapes: { [name: string]: JsonValue } = {};
  for (const [i, name] of NETWORKS.entries()) {
    const snapshot = saveParameters(networks[name]);
    shapes[name] = snapshot.shapes;
    blocks[`${name}/params`] = snapshot.values;
    const optimiser = optimisers[i];
    if (optimiser) blocks[`${name}/moments`] = optimiser.moments;
  }
  const optimiserSteps = optimisers.map((optimiser) => optimiser.steps);
  return encodeCheckpoint({ kind: KIND, meta: { shape: shapeOf(config), shapes, steps, optimiserSteps }, blocks });
}

export function readSaved(bytes: Uint8Array, config: EncoderShape): Result<SavedMeta> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta, blocks } = decoded.value;
  if (kind !== KIND) return refused(`it was written by ${kind}`);
  const saved = (meta.shape ?? {}) as { readonly [key: string]: JsonValue };
  for (const [key, own] of Object.entries(shapeOf(config))) {
    const [theirs, ours] = [JSON.stringify(saved[key]), JSON.stringify(own)];
    if (theirs !== ours) return refused(`its ${key} is ${theirs} and this one's is ${ours}`);
  }
  const { scale } = blocks;
  if (!(scale instanceof Float64Array) || scale.length !== 1 + 2 * layoutWidth(config.layout)) {
    return refused("the scale of its features is missing or of another width");
  }
  const recurrent = snapshotOf(decoded.value, "recurrent");
  const dense = snapshotOf(decoded.value, "dense");
  const optimisers = optimisersOf(decoded.value);
  if (!recurrent || !dense || !optimisers || typeof meta.steps !== "number") {
    return refused("one of its parts is missing or of another type");
  }
  return ok({ networks: { recurrent, dense }, scale, steps: meta.steps, optimisers });
}

function snapshotOf({ meta, blocks }: Checkpoint, name: string): ParameterSnapshot | undefined {
  const values = blocks[`${name}/params`];
  const shapes = (meta.shapes as { readonly [name: string]: ParameterSnapshot["shapes"] } | undefined)?.[name];
  return values instanceof Float32Array && Array.isArray(shapes) ? { shapes, values } : undefined;
}

/** None in a checkpoint that is not resumable. */
function optimisersOf({ meta, blocks }: Checkpoint): readonly OptimiserState[] | undefined {
  const counts = meta.optimiserSteps;
  if (!Array.isArray(counts)) return undefined;
  if (counts.length === 0) return [];
  const states: OptimiserState[] = [];
  for (const [i, name] of NETWORKS.entries()) {
    const moments = blocks[`${name}/moments`];
    const steps: unknown = counts[i];
    if (!(moments instanceof Float32Array) || typeof steps !== "number") return undefined;
    if (moments.length !== 2 * (blocks[`${name}/params`]?.length ?? 0)) return undefined;
    states.push({ kind: "adam", steps, moments });
  }
  return states;
}

/** Puts everything back, or nothing. A frozen learner takes the parameters and has no use for the moments. */
export function restoreSaved(
  saved: SavedMeta,
  into: { readonly networks: Networks; readonly optimisers: readonly Optimiser[] },
): Result<void> {
  const before = NETWORKS.map((name) => into.networks[name].snapshot());
  for (const name of NETWORKS) {
    const loaded = loadParameters(into.networks[name], saved.networks[name]);
    if (loaded.ok) continue;
    for (const [i, each] of NETWORKS.entries()) into.networks[each].load(before[i]!);
    return loaded;
  }
  for (const [i, optimiser] of into.optimisers.entries()) {
    const count = into.networks[NETWORKS[i]!].paramCount;
    // A plain checkpoint is a warm start: moments of other parameters would push the new ones about.
    const fresh: OptimiserState = { kind: "adam", steps: 0, moments: new Float32Array(2 * count) };
    optimiser.restore(saved.optimisers[i] ?? fresh);
  }
  return ok(undefined);
}

function refused(why: string): Result<never> {
  return err(
    failure(
      "meta.checkpoint",
      `the checkpoint does not belong to this meta learner: ${why}; build it as it was saved, and let the policy act with the neutral embedding meanwhile`,
    ),
  );
}
