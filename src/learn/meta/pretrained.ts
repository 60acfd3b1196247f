/**
 * What pre-training hands over: the encoder, the shared policy, and what the pool looked like.
 * Owns: the file they are kept in together, and the refusal of one that is damaged or of something else.
 * Not here: making it (pretraining/), using it (adaptation.ts).
 */

import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { DdpgConfig, JsonValue, LearnerShape } from "../rl/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../rl/index.ts";
import type { MetaConfig } from "./meta-learner.ts";

const KIND = "pretrained";

/** An environment that was learned on. */
export interface KnownEnvironment {
  readonly name: string;
  readonly embedding: Float32Array;
}

export interface PretrainedModel {
  /** How the encoder is built; `rows` is room and may be chosen anew. */
  readonly meta: MetaConfig;
  readonly learner: DdpgConfig;
  readonly shape: LearnerShape;
  /** M: trajectories that an embedding is computed from. */
  readonly bundle: number;
  readonly encoder: Uint8Array;
  readonly policy: Uint8Array;
  readonly pool: readonly KnownEnvironment[];
  /** What its observations and actions mean, in the words of whoever trained it; others are not to be guessed at. */
  readonly task?: string;
}

export function encodePretrained(model: PretrainedModel): Uint8Array {
  const { meta, learner, shape, bundle, encoder, policy, pool, task } = model;
  const width = meta.embedding;
  const embeddings = new Float32Array(pool.length * width);
  for (const [i, { embedding }] of pool.entries()) embeddings.set(embedding, i * width);
  const config = { meta, learner, shape, bundle, ...(task === undefined ? {} : { task }) } as unknown as {
    readonly [key: string]: JsonValue;
  };
  const names = pool.map(({ name }) => name);
  return encodeCheckpoint({ kind: KIND, meta: { ...config, names }, blocks: { encoder, policy, embeddings } });
}

export function decodePretrained(bytes: Uint8Array): Result<PretrainedModel> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta: found, blocks } = decoded.value;
  if (kind !== KIND) return refused(`it was written by ${kind}`);
  const { encoder, policy, embeddings } = blocks;
  const { meta, learner, shape, bundle, task, names } = found as unknown as PretrainedModel & {
    readonly names: string[];
  };
  const isWhole =
    encoder instanceof Uint8Array &&
    policy instanceof Uint8Array &&
    embeddings instanceof Float32Array &&
    Array.isArray(names) &&
    [meta, learner, shape].every((part) => typeof part === "object" && part !== null) &&
    typeof bundle === "number";
  if (!isWhole) return refused("one of its parts is missing or of another type");
  const width = meta.embedding;
  if (embeddings.length !== names.length * width) return refused("it has not one embedding for each name");
  const pool = names.map((name, i) => ({ name, embedding: embeddings.slice(i * width, (i + 1) * width) }));
  const named = typeof task === "string" ? { task } : {};
  return ok({ meta, learner, shape, bundle, encoder, policy, pool, ...named });
}

function refused(why: string): Result<never> {
  return err(
    failure(
      "meta.pretrained",
      `these bytes are not a pre-trained model: ${why}; give the model.ckpt of a finished pre-training, and let the fallback act meanwhile`,
    ),
  );
}
