/**
 * A pre-training as a checkpoint.
 * Owns: which blocks it has, and the refusal of one that is of another training.
 * Not here: the bytes and their checksum (learn/rl's checkpoint format), the learners' own parts.
 */

import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { Checkpoint, NumberBlock } from "../../rl/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../rl/index.ts";
import type { TraitReaderState } from "../trait-reader.ts";
import type { Experience } from "./experience.ts";
import { within } from "./experience.ts";

const KIND = "pretraining";

/** What a joint round came to. */
export interface Curve {
  readonly round: number;
  /** Mean return of the episodes played, noise included. */
  readonly return: number;
  /** Mean over the round's environments of what the encoder learned from. */
  readonly loss: number;
  /** Length of the encoder's gradient before it was cut. */
  readonly gradNorm: number;
  /** Of the base learner's own steps. */
  readonly criticLoss: number;
  readonly actorLoss: number;
  /** Mean over the round's environments: how badly their traits are read off their embeddings. */
  readonly traitLoss: number;
}

const curveColumns = ["round", "return", "loss", "gradNorm", "criticLoss", "actorLoss", "traitLoss"] as const;

/** Returns of one and the same episode under the environment's embedding and under the neutral one. */
export interface EvaluationRow {
  readonly environment: number;
  readonly known: number;
  readonly neutral: number;
}

const evaluationColumns = ["environment", "known", "neutral"] as const;

/** What must be the same for a checkpoint to be continued. */
export interface Identity {
  readonly seed: number;
  readonly names: readonly string[];
  readonly config: string;
  readonly shape: string;
}

export interface PretrainState {
  readonly identity: Identity;
  readonly experiences: readonly Experience[];
  readonly curves: readonly Curve[];
  readonly evaluation: readonly EvaluationRow[];
}

export interface SavedPretraining {
  readonly round: number;
  readonly meta: Uint8Array;
  readonly learner: Uint8Array;
  /** Where environments have traits. */
  readonly traits: TraitReaderState | undefined;
  readonly experiences: readonly { readonly [name: string]: NumberBlock }[];
  readonly curves: readonly Curve[];
  readonly evaluation: readonly EvaluationRow[];
}

export function writePretraining(
  { identity, experiences, curves, evaluation }: PretrainState,
  { meta, learner, traits, round }: Pick<SavedPretraining, "meta" | "learner" | "traits" | "round">,
): Uint8Array {
  const blocks: { [name: string]: NumberBlock } = {
    meta,
    learner,
    curves: table(curves, curveColumns),
    evaluation: table(evaluation, evaluationColumns),
  };
  if (traits) {
    blocks["traits/params"] = traits.values;
    blocks["traits/moments"] = traits.optimiser.moments;
  }
  for (const [i, experience] of experiences.entries()) {
    for (const [name, block] of Object.entries(experience.blocks())) blocks[`environment ${i}/${name}`] = block;
  }
  const traitSteps = traits?.optimiser.steps ?? 0;
  return encodeCheckpoint({ kind: KIND, meta: { ...identity, round, traitSteps }, blocks });
}

/** Nothing is restored here; experiences are only asked whether theirs would fit. */
export function readPretraining(bytes: Uint8Array, { identity, experiences }: PretrainState): Result<SavedPretraining> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta, blocks } = decoded.value;
  if (kind !== KIND) return refused(`it was written by ${kind}`);
  for (const [key, own] of Object.entries(identity)) {
    if (JSON.stringify(meta[key]) !== JSON.stringify(own)) return refused(`its ${key} is another`);
  }
  const parts = partsOf(decoded.value);
  const own = experiences.map((_, i) => within(blocks, `environment ${i}/`));
  if (!parts || !own.every((found, i) => experiences[i]?.fits(found))) {
    return refused("one of its parts is missing or of another size");
  }
  return ok({ ...parts, experiences: own });
}

function partsOf({
  meta: { round, traitSteps },
  blocks,
}: Checkpoint): Omit<SavedPretraining, "experiences"> | undefined {
  const { meta, learner, curves, evaluation } = blocks;
  if (!(meta instanceof Uint8Array && learner instanceof Uint8Array && typeof round === "number")) return undefined;
  if (!(curves instanceof Float64Array && evaluation instanceof Float64Array)) return undefined;
  return {
    round,
    meta,
    learner,
    traits: traitsOf(blocks, traitSteps),
    curves: rowsOf<Curve>(curves, curveColumns),
    evaluation: rowsOf<EvaluationRow>(evaluation, evaluationColumns),
  };
}

function traitsOf(blocks: Checkpoint["blocks"], steps: unknown): TraitReaderState | undefined {
  const [values, moments] = [blocks["traits/params"], blocks["traits/moments"]];
  if (!(values instanceof Float32Array && moments instanceof Float32Array && typeof steps === "number"))
    return undefined;
  return { values, optimiser: { kind: "adam", steps, moments } };
}

function table<K extends string>(
  rows: readonly { readonly [key in K]: number }[],
  columns: readonly K[],
): Float64Array {
  return Float64Array.from(rows.flatMap((row) => columns.map((column) => row[column])));
}

function rowsOf<R>(values: Float64Array, columns: readonly (keyof R & string)[]): R[] {
  return Array.from({ length: values.length / columns.length }, (_, row) => {
    const entries = columns.map((column, i) => [column, values[row * columns.length + i]]);
    return Object.fromEntries(entries) as R;
  });
}

function refused(why: string): Result<never> {
  return err(
    failure(
      "checkpoint.mismatch",
      `the checkpoint is not of this pre-training: ${why}; resume with the settings it was started with`,
    ),
  );
}
