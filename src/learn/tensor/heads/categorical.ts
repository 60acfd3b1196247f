/**
 * Categorical policy heads over logits: one choice per row, or several independent ones side by side.
 * Owns: sampling, log-probability, entropy, the most likely choice, and their gradients.
 * A single choice is the multi-categorical head with one group, so there is one implementation.
 * Not here: the softmax layer (a policy's logits do not need it), cross-entropy (class-losses.ts).
 *
 * Actions are class numbers stored as floats, [rows, groups].
 */

import type { Rng } from "../../../base/index.ts";
import type { Memory, Ptr } from "../memory.ts";
import { NULL } from "../memory.ts";
import { doubles } from "./room.ts";

export interface CategoricalBlocks {
  /** [rows, sum of sizes]: the groups' logits side by side. */
  readonly logits: Ptr;
  readonly rows: number;
  /** Choices per group: [5] for one choice of five, [3, 3, 2] for three choices. */
  readonly sizes: readonly number[];
}

/** Draws `actions` [rows, groups] and, unless NULL or absent, the row's summed `logProb` [rows]. */
export function sampleCategorical(
  memory: Memory,
  blocks: CategoricalBlocks & { readonly actions: Ptr; readonly logProb?: Ptr },
  rng: Rng,
): void {
  const { rows, sizes, logProb = NULL } = blocks;
  const f32 = memory.f32;
  const actions = blocks.actions >> 2;
  let at = blocks.logits >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    let sum = 0;
    for (let group = 0; group < sizes.length; group++, i++) {
      const size = sizes[group]!;
      const powers = doubles(size);
      const most = largest(f32, at, size);
      const total = exponentials(powers, f32, { at, size, most });
      // Inverse of the cumulative distribution; the last class takes what rounding leaves over.
      let left = rng.next() * total;
      let choice = 0;
      for (; choice < size - 1; choice++) {
        left -= powers[choice]!;
        if (left < 0) break;
      }
      // Unless it is ruled out: then the last that is not.
      while (powers[choice] === 0) choice--;
      f32[actions + i] = choice;
      sum += f32[at + choice]! - most - Math.log(total);
      at += size;
    }
    if (logProb !== NULL) f32[(logProb >> 2) + row] = sum;
  }
}

/** The most likely `actions` [rows, groups]; the first of equals. */
export function modeCategorical(memory: Memory, blocks: CategoricalBlocks & { readonly actions: Ptr }): void {
  const { rows, sizes } = blocks;
  const f32 = memory.f32;
  const actions = blocks.actions >> 2;
  let at = blocks.logits >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    for (let group = 0; group < sizes.length; group++, i++) {
      const size = sizes[group]!;
      let best = 0;
      for (let k = 1; k < size; k++) if (f32[at + k]! > f32[at + best]!) best = k;
      f32[actions + i] = best;
      at += size;
    }
  }
}

/** `logProb` [rows], summed over the groups, and in the same pass, unless NULL or absent, `entropy` [rows]. */
export function categoricalLogProb(
  memory: Memory,
  blocks: CategoricalBlocks & { readonly actions: Ptr; readonly logProb: Ptr; readonly entropy?: Ptr },
): void {
  const { rows, sizes, entropy = NULL } = blocks;
  const f32 = memory.f32;
  const actions = blocks.actions >> 2;
  const out = blocks.logProb >> 2;
  let at = blocks.logits >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    let sum = 0;
    let spread = 0;
    for (let group = 0; group < sizes.length; group++, i++) {
      const size = sizes[group]!;
      const powers = doubles(size);
      const most = largest(f32, at, size);
      const total = exponentials(powers, f32, { at, size, most });
      sum += f32[at + f32[actions + i]!]! - most - Math.log(total);
      if (entropy !== NULL) spread += groupEntropy(powers, f32, { at, size, most, total });
      at += size;
    }
    f32[out + row] = sum;
    if (entropy !== NULL) f32[(entropy >> 2) + row] = spread;
  }
}

export interface CategoricalGradients {
  /** [rows]: gradient of the objective with respect to each row's log-probability; NULL for zeros. */
  readonly dLogProb: Ptr;
  /** The same for each row's entropy; NULL or absent for zeros. */
  readonly dEntropy?: Ptr;
  /** [rows, sum of sizes], overwritten. */
  readonly dLogits: Ptr;
}

/** Gradient of the objective with respect to the logits, the actions being fixed. */
export function categoricalBackward(
  memory: Memory,
  blocks: CategoricalBlocks & CategoricalGradients & { readonly actions: Ptr },
): void {
  const { rows, sizes, dLogProb, dEntropy = NULL } = blocks;
  const f32 = memory.f32;
  const actions = blocks.actions >> 2;
  let at = blocks.logits >> 2;
  let into = blocks.dLogits >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    const score = dLogProb === NULL ? 0 : f32[(dLogProb >> 2) + row]!;
    const spread = dEntropy === NULL ? 0 : f32[(dEntropy >> 2) + row]!;
    for (let group = 0; group < sizes.length; group++, i++) {
      const size = sizes[group]!;
      const powers = doubles(size);
      const most = largest(f32, at, size);
      const total = exponentials(powers, f32, { at, size, most });
      const norm = most + Math.log(total);
      const entropy = groupEntropy(powers, f32, { at, size, most, total });
      const chosen = f32[actions + i]!;
      for (let k = 0; k < size; k++) {
        const p = powers[k]! / total;
        // dH/dlogit = −p·(log p + H); where p is 0 so is the product, even for a logit of −∞ (a choice ruled out).
        const pull = p === 0 ? 0 : p * (score + spread * (f32[at + k]! - norm + entropy));
        f32[into + k] = (k === chosen ? score : 0) - pull;
      }
      at += size;
      into += size;
    }
  }
}

interface Group {
  /** Where the group's logits begin. */
  readonly at: number;
  readonly size: number;
  /** The largest of them. */
  readonly most: number;
}

function largest(f32: Float32Array, at: number, size: number): number {
  let most = f32[at]!;
  for (let k = 1; k < size; k++) most = Math.max(most, f32[at + k]!);
  return most;
}

/** Writes e^(logit − most) for each logit and returns their sum, which is at least 1. */
function exponentials(powers: Float64Array, f32: Float32Array, { at, size, most }: Group): number {
  let total = 0;
  for (let k = 0; k < size; k++) {
    const power = Math.exp(f32[at + k]! - most);
    powers[k] = power;
    total += power;
  }
  return total;
}

/** −Σ p·log p = log total − Σ p·(logit − most): no logarithm of a probability, which may be zero. */
function groupEntropy(powers: Float64Array, f32: Float32Array, group: Group & { readonly total: number }): number {
  const { at, size, most, total } = group;
  let sum = 0;
  for (let k = 0; k < size; k++) if (powers[k]! > 0) sum += powers[k]! * (f32[at + k]! - most);
  return Math.log(total) - sum / total;
}
