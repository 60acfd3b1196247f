/**
 * The bidirectional GRU in shards of the batch, as a training run on several threads has it.
 * Owns: the model that every thread builds, and what goes into a shard. Not here: threads (our-gru.ts opens them).
 */

import { seededRng } from "../../src/base/index.ts";
import { buildRecurrent, type JobKinds, type Kernels, type ShardModel } from "../../src/learn/tensor/index.ts";
import { GRU } from "./fixtures.ts";

/** Two threads have one shard each. */
export const GRU_SHARDS = 2;
const ROWS = GRU.batch / GRU_SHARDS;

export const buildGru = (kernels: Kernels, batch: number) =>
  buildRecurrent(kernels, {
    cell: "gru",
    inputs: GRU.input,
    hidden: GRU.hidden,
    layers: GRU.layers,
    bidirectional: true,
    steps: GRU.steps,
    batch,
    rng: seededRng(0),
  });

/** A shard's data are its sequences [steps, ROWS, input] and the gradient of their outputs [steps, ROWS, outputs]. */
function gruModel(_: unknown, kernels: Kernels): ShardModel {
  const { memory } = kernels;
  const net = buildGru(kernels, ROWS);
  const inputs = GRU.steps * ROWS * GRU.input;
  const outputs = GRU.steps * ROWS * net.outputs;
  const gradient = memory.alloc(outputs);
  return {
    paramCount: net.paramCount,
    dataCount: inputs + outputs,
    compute(io) {
      // Not `load`, which looks at every number: these come from the thread beside, not from a file.
      memory.view(net.params, net.paramCount).set(io.params);
      memory.view(net.input, inputs).set(io.data.subarray(0, inputs));
      memory.view(gradient, outputs).set(io.data.subarray(inputs));
      net.zeroGrads();
      net.forward(GRU.steps, ROWS);
      net.backward(gradient);
      io.gradient.set(memory.view(net.grads, net.paramCount));
      // There is no loss: the gradient of the outputs is given, as for the other contenders.
      return 0;
    },
    dispose() {
      net.dispose();
      memory.free(gradient);
    },
  };
}

export const gruKinds: JobKinds = { tasks: {}, models: { gru: gruModel } };

/** The rows of one shard out of a block [steps, batch, width]. */
export function shardRows(block: Float32Array, shard: number): Float32Array {
  const width = block.length / (GRU.steps * GRU.batch);
  const rows = new Float32Array(GRU.steps * ROWS * width);
  for (let t = 0; t < GRU.steps; t++) {
    const from = (t * GRU.batch + shard * ROWS) * width;
    rows.set(block.subarray(from, from + ROWS * width), t * ROWS * width);
  }
  return rows;
}
