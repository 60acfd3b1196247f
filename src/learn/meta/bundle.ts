/**
 * Which trajectories speak for an environment: the M with the highest rewards, because those of a poor policy say more
 * about the policy than about the workload (AWARE, section 3.2).
 * Owns: the order and the selection. Not here: what is computed from a bundle (encoder.ts, fingerprint.ts).
 *
 * Best first; of equal rewards the older comes first and stays longer. So the selection does not depend on how the
 * trajectories came in pieces, and a run of equal rewards does not push out what is cached.
 */

import { CodedError, failure } from "../../base/index.ts";

/** M in AWARE: its sensitivity analysis found the fastest adaptation with the fewest trajectories there. */
export const BUNDLE_SIZE = 20;

interface Rewarded {
  readonly reward: number;
}

/** The best `size` of what came in the order of age. */
export function bestOf<T extends Rewarded>(oldestFirst: readonly T[], size: number = BUNDLE_SIZE): readonly T[] {
  assertSize(size);
  // Sorting is stable, so equal rewards stay in the order of age.
  return [...oldestFirst].sort((a, b) => b.reward - a.reward).slice(0, size);
}

export type Insertion<T> =
  | { readonly kept: true; readonly rank: number; readonly dropped: T | undefined }
  | { readonly kept: false };

/** The same selection, one trajectory at a time. */
export class Bundle<T extends Rewarded> {
  readonly size: number;
  readonly #items: T[] = [];

  constructor(size: number = BUNDLE_SIZE) {
    assertSize(size);
    this.size = size;
  }

  /** Best first. */
  get items(): readonly T[] {
    return this.#items;
  }

  insert(item: T): Insertion<T> {
    let rank = this.#items.length;
    while (rank > 0 && (this.#items[rank - 1] as T).reward < item.reward) rank -= 1;
    if (rank === this.size) return { kept: false };
    this.#items.splice(rank, 0, item);
    const dropped = this.#items.length > this.size ? this.#items.pop() : undefined;
    return { kept: true, rank, dropped };
  }
}

function assertSize(size: number): void {
  if (Number.isInteger(size) && size >= 1) return;
  throw new CodedError(
    failure("meta.config", `a bundle's size has to be a whole number of trajectories from 1 on and is ${size}`),
  );
}
