/**
 * How near a new environment is to those that were learned on.
 * Owns: nearest neighbours by cosine, and the line beyond which an environment is a stranger.
 * Not here: embeddings (fingerprint.ts), what is done about strangers (adaptation.ts).
 *
 * Cosines are taken from the middle of the pool: what all embeddings have in common makes everybody alike. The line is
 * drawn by the pool itself: a stranger is farther from its nearest neighbour than 19 of 20 members are from theirs.
 */

import type { KnownEnvironment } from "./pretrained.ts";
import { cosineSimilarity } from "./similarity.ts";

export interface Neighbour {
  readonly name: string;
  readonly similarity: number;
}

export interface Kinship {
  /** Most alike first. */
  readonly nearest: readonly Neighbour[];
  /** No member is as near as members usually are to one another. */
  readonly isStranger: boolean;
  /** The similarity below which it is one. */
  readonly line: number;
}

const SHARE_BELOW = 0.05;

export class KinshipMap {
  readonly #middle: Float64Array;
  readonly #members: readonly { readonly name: string; readonly vector: Float64Array }[];
  readonly #line: number;

  constructor(pool: readonly KnownEnvironment[]) {
    const width = pool[0]?.embedding.length ?? 0;
    this.#middle = Float64Array.from({ length: width }, (_, k) => {
      return pool.reduce((sum, { embedding }) => sum + embedding[k]!, 0) / Math.max(1, pool.length);
    });
    this.#members = pool.map(({ name, embedding }) => ({ name, vector: this.#centred(embedding) }));
    const usual = this.#members.map(({ vector }, i) => this.#neighbours(vector, i)[0]?.similarity ?? -1);
    usual.sort((a, b) => a - b);
    this.#line = usual[Math.floor(SHARE_BELOW * usual.length)] ?? 1;
  }

  /** Of an embedding that is known; a neutral one is like nobody. */
  of(embedding: ArrayLike<number>, count = 5): Kinship {
    const neighbours = this.#neighbours(this.#centred(embedding));
    const best = neighbours[0]?.similarity ?? -1;
    return { nearest: neighbours.slice(0, count), isStranger: best < this.#line, line: this.#line };
  }

  #centred(embedding: ArrayLike<number>): Float64Array {
    return this.#middle.map((middle, k) => embedding[k]! - middle);
  }

  #neighbours(vector: Float64Array, except = -1): readonly Neighbour[] {
    return this.#members
      .map((member, i) => ({ name: member.name, similarity: cosineSimilarity(vector, member.vector), i }))
      .filter(({ i }) => i !== except)
      .sort((a, b) => b.similarity - a.similarity)
      .map(({ name, similarity }) => ({ name, similarity }));
  }
}
