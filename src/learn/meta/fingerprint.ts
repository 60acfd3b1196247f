/**
 * What is known of one environment: its best trajectories, their summaries, and the embedding they give.
 * Owns: the cache. Not here: the networks (encoder.ts), when embeddings are asked for (the lifecycle).
 *
 * The mean over trajectories separates, so each is read once: a new one costs one pass over its own rows and one mean.
 * The mean is taken anew over the kept summaries, best first, instead of adding to a running sum: 20 × 512 additions are
 * nothing beside a GRU, and so the embedding is to the bit the one that encoding everything again would give, however
 * many trajectories have come and gone.
 */

import type { Failure, Result } from "../../base/index.ts";
import { CodedError, failure, ok } from "../../base/index.ts";
import type { Insertion } from "./bundle.ts";
import { BUNDLE_SIZE, Bundle } from "./bundle.ts";
import type { Trajectory } from "./trajectory.ts";

/** What a fingerprint needs of the meta learner. */
export interface Embedder {
  /** Changes whenever the same trajectory would get another summary. */
  readonly version: number;
  readonly embeddingSize: number;
  check(trajectory: Trajectory): Result<void>;
  summarise(trajectories: readonly Trajectory[]): readonly Float32Array[];
  embed(summaries: readonly Float32Array[]): Float32Array;
}

export type Embedding =
  | { readonly kind: "known"; readonly vector: Float32Array; readonly trajectories: number }
  /** Zeros: the policy acts as it does without knowing where it is. */
  | { readonly kind: "neutral"; readonly vector: Float32Array; readonly trajectories: number; readonly why: Failure };

export interface FingerprintOptions {
  /** M, the most trajectories that count. Default 20. */
  readonly size?: number;
  /** Below this many the embedding is neutral. Default 1. */
  readonly least?: number;
}

interface Entry {
  readonly reward: number;
  readonly trajectory: Trajectory;
  summary: Float32Array | undefined;
}

/** A trajectory as it is kept, with its summary where it was read already. */
export interface KnownTrajectory {
  readonly trajectory: Trajectory;
  readonly summary: Float32Array | undefined;
}

export class Fingerprint {
  readonly #embedder: Embedder;
  readonly #least: number;
  readonly #bundle: Bundle<Entry>;
  #version: number;
  #embedding: Embedding | undefined;

  constructor(embedder: Embedder, { size = BUNDLE_SIZE, least = 1 }: FingerprintOptions = {}) {
    if (!Number.isInteger(least) || least < 1 || least > size) {
      throw new CodedError(
        failure("meta.config", `an embedding cannot wait for ${least} trajectories of a bundle of ${size}`),
      );
    }
    this.#embedder = embedder;
    this.#least = least;
    this.#bundle = new Bundle(size);
    this.#version = embedder.version;
  }

  /** The trajectories that count, best first. */
  get trajectories(): readonly Trajectory[] {
    return this.#bundle.items.map(({ trajectory }) => trajectory);
  }

  /** The same, with what was computed of them. */
  get known(): readonly KnownTrajectory[] {
    return this.#bundle.items;
  }

  /**
   * Takes in a trajectory if it is among the best so far. One that the encoder cannot read changes nothing, and neither
   * does one that is there already: what is remembered a second time, after a restart, is not seen twice.
   */
  insert(trajectory: Trajectory, summary?: Float32Array): Result<Insertion<Trajectory>> {
    const checked = this.#embedder.check(trajectory);
    if (!checked.ok) return checked;
    const twin = this.#bundle.items.find((entry) => isSame(entry.trajectory, trajectory));
    if (twin) {
      twin.summary ??= summary;
      return ok({ kept: false });
    }
    const inserted = this.#bundle.insert({ reward: trajectory.reward, trajectory, summary });
    if (!inserted.kept) return ok(inserted);
    this.#embedding = undefined;
    return ok({ ...inserted, dropped: inserted.dropped?.trajectory });
  }

  /** The current embedding. Reads only what came since the last call, or all of it after the meta learner has learned. */
  embedding(): Embedding {
    if (this.#version !== this.#embedder.version) this.#forgetSummaries();
    this.#embedding ??= this.#compute();
    return this.#embedding;
  }

  #compute(): Embedding {
    const { items } = this.#bundle;
    if (items.length < this.#least) return this.neutral(items.length);
    const unread = items.filter(({ summary }) => summary === undefined);
    const summaries = this.#embedder.summarise(unread.map(({ trajectory }) => trajectory));
    for (const [i, entry] of unread.entries()) entry.summary = summaries[i];
    const vector = this.#embedder.embed(items.map(({ summary }) => summary as Float32Array));
    return { kind: "known", vector, trajectories: items.length };
  }

  /** What there is with so few trajectories. */
  neutral(trajectories: number): Embedding {
    return {
      kind: "neutral",
      vector: new Float32Array(this.#embedder.embeddingSize),
      trajectories,
      why: failure(
        "meta.too-few",
        `the environment has ${trajectories} of the ${this.#least} trajectories that an embedding needs, so the neutral one is used; let it run for more episodes`,
        { retry: true },
      ),
    };
  }

  #forgetSummaries(): void {
    for (const entry of this.#bundle.items) entry.summary = undefined;
    this.#embedding = undefined;
    this.#version = this.#embedder.version;
  }
}

function isSame(one: Trajectory, other: Trajectory): boolean {
  if (one.reward !== other.reward || one.steps !== other.steps) return false;
  return one.values.every((value, i) => value === other.values[i]);
}
