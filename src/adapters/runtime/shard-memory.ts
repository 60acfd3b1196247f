/** The shared memory of a shard group: control words, losses, parameters, and per shard its data and its gradient. */

import type { ShardIo } from "../../learn/tensor/index.ts";
import type { ShardLayout } from "./thread-messages.ts";

/** Control words. */
export const STEP = 0;
export const DONE = 1;
/** Value of STEP that tells the members to leave. */
export const LEAVE = -1;

const CONTROL_WORDS = 16;
/** Neighbouring blocks written by different threads stay on different cache lines. */
const roundUp = (floats: number): number => Math.ceil(floats / 16) * 16;

export class ShardMemory {
  readonly control: Int32Array;
  readonly losses: Float64Array;
  readonly params: Float32Array;
  readonly io: readonly ShardIo[];

  constructor(block: SharedArrayBuffer, { shards, paramCount, dataCount }: ShardLayout) {
    let at = 0;
    const floats = (count: number): Float32Array => {
      const view = new Float32Array(block, at, count);
      at += roundUp(count) * 4;
      return view;
    };
    this.control = new Int32Array(block, 0, CONTROL_WORDS);
    at += CONTROL_WORDS * 4;
    this.losses = new Float64Array(block, at, shards);
    at += roundUp(shards * 2) * 4;
    const params = floats(paramCount);
    this.params = params;
    this.io = Array.from({ length: shards }, () => ({ params, data: floats(dataCount), gradient: floats(paramCount) }));
  }

  static bytes({ shards, paramCount, dataCount }: ShardLayout): number {
    const floats =
      CONTROL_WORDS + roundUp(shards * 2) + roundUp(paramCount) + shards * (roundUp(dataCount) + roundUp(paramCount));
    return floats * 4;
  }
}
