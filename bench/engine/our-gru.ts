/** The bidirectional GRU on our engine: the arithmetic of native/gru.c, on one thread or in shards on several. */

import { openWorkerPool, workerEntry } from "../../src/adapters/runtime/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import { BlockReader, GRU } from "./fixtures.ts";
import { buildGru, GRU_SHARDS, gruKinds, shardRows } from "./gru-shards.ts";
import type { Task } from "./line-server.ts";

export function gruTask(kernels: Kernels, fixture: Float32Array): Task {
  const { input, steps, batch } = GRU;
  const { memory } = kernels;
  const net = buildGru(kernels, batch);
  const blocks = new BlockReader(fixture);
  net.load(blocks.take(net.paramCount));
  memory.view(net.input, steps * batch * input).set(blocks.take(steps * batch * input));
  const outputs = steps * batch * net.outputs;
  const gradient = memory.alloc(outputs);
  memory.view(gradient, outputs).set(blocks.take(outputs));
  let out = net.input;
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        net.zeroGrads();
        out = net.forward(steps, batch);
        net.backward(gradient);
      }
    },
    answer() {
      const all = new Float32Array(outputs + net.paramCount);
      all.set(memory.view(out, outputs));
      all.set(memory.view(net.grads, net.paramCount), outputs);
      return all;
    },
    close() {
      net.dispose();
      memory.free(gradient);
    },
  };
}

/** The same batch in fixed shards, on so many threads; its answer is the gradient alone. */
export async function gruShardsTask(
  kernels: Kernels,
  fixture: Float32Array,
  { threads }: { threads: number },
): Promise<Task> {
  const { input, hidden, steps, batch } = GRU;
  const entry = workerEntry("./gru-worker.ts", import.meta.url);
  const pool = openWorkerPool({ kinds: gruKinds, entry, threads, kernels });
  const group = await pool.openShards({ kind: "gru", config: {} }, { shards: GRU_SHARDS });
  const blocks = new BlockReader(fixture);
  group.params.set(blocks.take(group.params.length));
  const inputs = blocks.take(steps * batch * input);
  const gradients = blocks.take(steps * batch * 2 * hidden);
  for (let shard = 0; shard < GRU_SHARDS; shard++) {
    const rows = shardRows(inputs, shard);
    group.data(shard).set(rows);
    group.data(shard).set(shardRows(gradients, shard), rows.length);
  }
  return {
    async run(iterations) {
      for (let i = 0; i < iterations; i++) await group.step();
    },
    answer: () => group.gradient.slice(),
    close: () => pool.close(),
  };
}
