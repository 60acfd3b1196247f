/**
 * A pre-trained model in use: opened once in a thread, whoever begins from it.
 * Owns: the one encoder that all workloads of a thread are read by, the pool's kinship, the model's identity, and the
 * refusal of a model whose parts do not fit one another before anybody acts by it.
 * Not here: the file's format (pretrained.ts), what a workload makes of it (adapted-learner.ts).
 *
 * The encoder is large (1.8 million numbers at full size) and frozen, so workloads share it; a policy is small and each
 * has its own, because it is fine-tuned.
 */

import type { Result } from "../../base/index.ts";
import { CodedError, err, failure, failureOf, ok } from "../../base/index.ts";
import { crc32c, Ddpg, type DdpgConfig } from "../rl/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { Embedder } from "./fingerprint.ts";
import type { Kinship } from "./kinship.ts";
import { KinshipMap } from "./kinship.ts";
import { MetaLearner } from "./meta-learner.ts";
import type { PretrainedModel } from "./pretrained.ts";
import { decodePretrained } from "./pretrained.ts";

export class SharedModel {
  /** Of the very bytes: what was fine-tuned from one model is nothing to another. */
  readonly identity: string;
  readonly model: PretrainedModel;
  /** In memory that threads can share, so that nobody copies it to train beside the loop. */
  readonly bytes: Uint8Array;
  readonly #encoder: MetaLearner;
  /** Made at once: every member is compared with every other one, which is nothing for a tick to wait for. */
  readonly #kin: KinshipMap;

  constructor(bytes: Uint8Array, { model, encoder }: { model: PretrainedModel; encoder: MetaLearner }) {
    this.identity = identityOf(bytes);
    this.bytes = inSharedMemory(bytes);
    this.model = model;
    this.#encoder = encoder;
    this.#kin = new KinshipMap(model.pool);
  }

  get encoder(): Embedder {
    return this.#encoder;
  }

  kinshipOf(embedding: ArrayLike<number>): Kinship {
    return this.#kin.of(embedding);
  }

  dispose(): void {
    this.#encoder.dispose();
  }
}

export function openSharedModel(bytes: Uint8Array, kernels: Kernels): Result<SharedModel> {
  // Copied: text is not decoded out of shared memory, and a Buffer's slices are views of all that it shares memory with.
  const decoded = decodePretrained(new Uint8Array(bytes));
  if (!decoded.ok) return decoded;
  const model = decoded.value;
  let encoder: MetaLearner | undefined;
  try {
    // One trajectory at a time is what arrives.
    encoder = new MetaLearner({ kernels, config: { ...model.meta, rows: 1 }, seed: 0, trainable: false });
    const loaded = encoder.load(model.encoder);
    const fitting = loaded.ok ? policyProblem(model, kernels) : loaded;
    if (fitting.ok) return ok(new SharedModel(bytes, { model, encoder }));
    encoder.dispose();
    return fitting;
  } catch (thrown) {
    encoder?.dispose();
    return err(
      failureOf(thrown) ??
        failure("meta.pretrained", "the shared model cannot be built from what its file says; pre-train it anew", {
          cause: thrown,
        }),
    );
  }
}

/** AWARE's (Table 2). */
const FINE_TUNING_BATCH = 64;

/**
 * The learner's settings at a workload. Pre-training takes larger batches, of many environments at once; on twelve
 * workloads of tuning seeds 128 rows earned no more than 64 (135.6 and 134.6 an episode in the end) for twice the work.
 */
export function fineTuning({ learner }: Pick<PretrainedModel, "learner">): DdpgConfig {
  return { ...learner, batch: Math.min(learner.batch, FINE_TUNING_BATCH) };
}

/** A model's own policy, ready to be fine-tuned. */
export function openPolicy(model: PretrainedModel, kernels: Kernels, seed: number): Ddpg {
  const opened = new Ddpg({ kernels, shape: model.shape, config: fineTuning(model), seed });
  const loaded = opened.load(model.policy);
  if (loaded.ok) return opened;
  opened.dispose();
  throw new CodedError(loaded.failure);
}

function policyProblem(model: PretrainedModel, kernels: Kernels): Result<void> {
  const { shape, meta } = model;
  if (shape.actorContext !== meta.embedding)
    return err(
      failure(
        "meta.pretrained",
        `the shared model's policy takes embeddings of ${shape.actorContext} numbers and its encoder gives ${meta.embedding}; give the model.ckpt of one pre-training`,
      ),
    );
  openPolicy(model, kernels, 0).dispose();
  return ok(undefined);
}

/** Without the checksum at the end: over a text and its own checksum every checksum is the same. */
function identityOf(bytes: Uint8Array): string {
  return crc32c(new Uint8Array(bytes).subarray(0, -CHECKSUM_BYTES)).toString(16).padStart(8, "0");
}

const CHECKSUM_BYTES = 4;

const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer;

function inSharedMemory(bytes: Uint8Array): Uint8Array {
  if (isShared(bytes)) return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
