/** The bidirectional GRU on our engine: the arithmetic of native/gru.c, on one thread or on lanes that share the work. */

import { seededRng } from "../../src/base/index.ts";
import { buildRecurrent, type KernelLanes, type Kernels } from "../../src/learn/tensor/index.ts";
import { BlockReader, GRU } from "./fixtures.ts";
import type { Task } from "./line-server.ts";

/** With lanes, `kernels` must be their first set and the lanes are closed with the task. */
export function gruTask(
  kernels: Kernels,
  fixture: Float32Array,
  lanes?: KernelLanes & { close(): Promise<void> },
): Task {
  const { input, hidden, layers, steps, batch } = GRU;
  const { memory } = kernels;
  const net = buildRecurrent(kernels, {
    cell: "gru",
    inputs: input,
    hidden,
    layers,
    bidirectional: true,
    steps,
    batch,
    rng: seededRng(0),
    ...(lanes ? { lanes } : {}),
  });
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
    async close() {
      net.dispose();
      memory.free(gradient);
      await lanes?.close();
    },
  };
}
