/** One transformer encoder block in double precision, from the paper's formulas. Forward only. */

import { denseLayer, layerNormRows, softmaxRows } from "./layers.ts";
import type { Matrix } from "./matrix.ts";
import { add, columns, map, product, transpose } from "./matrix.ts";

export interface OracleBlock {
  readonly width: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly causal: boolean;
}

/** One sequence [steps][width]; parameters flat in the engine's documented order. */
export function runBlock(
  block: OracleBlock,
  params: ArrayLike<number>,
  { sequence, mask }: { sequence: Matrix; mask?: readonly number[] },
): Matrix {
  const { width, heads, feedForward, causal } = block;
  let at = 0;
  const take = (count: number) => Array.from({ length: count }, () => params[at++]!);
  const linear = (inputs: number, outputs: number) => ({
    weight: Array.from({ length: inputs }, () => take(outputs)),
    bias: take(outputs),
  });
  const norm = () => ({ gamma: take(width), beta: take(width), epsilon: 1e-5 });
  const [qkv, out, norm1] = [linear(width, 3 * width), linear(width, width), norm()];
  const [inner, outer, norm2] = [linear(width, feedForward), linear(feedForward, width), norm()];

  const projected = denseLayer(sequence, { ...qkv, activation: "none" });
  const size = width / heads;
  const contexts = Array.from({ length: heads }, (_, head) => {
    const third = (n: number) => columns(projected, n * width + head * size, n * width + (head + 1) * size);
    const scores = map(product(third(0), transpose(third(1))), (score, query, key) => {
      const isSeen = (mask?.[key] ?? 1) !== 0 && (!causal || key <= query);
      return isSeen ? score / Math.sqrt(size) : Number.NEGATIVE_INFINITY;
    });
    return product(softmaxRows(scores), third(2));
  });
  const context = sequence.map((_, t) => contexts.flatMap((head) => [...head[t]!]));
  const first = layerNormRows(add(sequence, denseLayer(context, { ...out, activation: "none" })), norm1);
  const hidden = denseLayer(first, { ...inner, activation: "relu" });
  return layerNormRows(add(first, denseLayer(hidden, { ...outer, activation: "none" })), norm2);
}
