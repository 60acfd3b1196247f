/**
 * Whether a similarity means anything: how often a pair that belongs together is more alike than one that does not.
 * Owns: the area under the curve over pairs, and the share of nearest neighbours that belong together.
 */

import { cosineSimilarity } from "./similarity.ts";

/** The area under the receiver operating characteristic, ties counting half; NaN where one of the two sides is empty. */
export function areaUnderCurve(together: readonly number[], apart: readonly number[]): number {
  const all = [...together.map((value) => ({ value, weight: 1 })), ...apart.map((value) => ({ value, weight: 0 }))];
  all.sort((a, b) => a.value - b.value);
  let won = 0;
  let below = 0;
  for (let from = 0; from < all.length; ) {
    let to = from;
    let [here, ties] = [0, 0];
    while (to < all.length && all[to]!.value === all[from]!.value) {
      if (all[to]!.weight === 1) here += 1;
      else ties += 1;
      to += 1;
    }
    won += here * (below + ties / 2);
    below += ties;
    from = to;
  }
  return won / (together.length * apart.length);
}

/** How well cosines of embeddings tell members of one class from members of two. */
export interface Ranking {
  /** Chance is 0.5. */
  readonly area: number;
  /** Share of members whose nearest neighbour is of their class, of those that have company there. */
  readonly nearest: number;
  /** What `nearest` would be if neighbours were drawn. */
  readonly nearestByChance: number;
  readonly pairs: { readonly together: number; readonly apart: number };
}

export function rankByCosine<T>(
  members: readonly { readonly vector: ArrayLike<number>; readonly class: T }[],
): Ranking {
  const together: number[] = [];
  const apart: number[] = [];
  const nearest = members.map(() => ({ similarity: Number.NEGATIVE_INFINITY, isSame: false }));
  for (let i = 0; i < members.length; i++) {
    for (let j = i + 1; j < members.length; j++) {
      const [a, b] = [members[i]!, members[j]!];
      const similarity = cosineSimilarity(a.vector, b.vector);
      const isSame = a.class === b.class;
      (isSame ? together : apart).push(similarity);
      for (const k of [i, j]) if (similarity > nearest[k]!.similarity) nearest[k] = { similarity, isSame };
    }
  }
  const company = members.map((one) => members.filter((other) => other.class === one.class).length - 1);
  const judged = nearest.filter((_, i) => company[i]! > 0);
  const byChance = company.filter((count) => count > 0).map((count) => count / (members.length - 1));
  return {
    area: areaUnderCurve(together, apart),
    nearest: judged.filter(({ isSame }) => isSame).length / judged.length,
    nearestByChance: byChance.reduce((sum, share) => sum + share, 0) / byChance.length,
    pairs: { together: together.length, apart: apart.length },
  };
}
