/** onnxruntime-node as a contender: batch-1 inference of the policy in `inference.onnx`, one thread. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ACTOR, BlockReader, CRITIC, DDPG, denseSize } from "./fixtures.ts";
import { serveLines, type Task } from "./line-server.ts";

/** The few names of onnxruntime-node's API used here; the package is installed on demand and has no types here. */
interface OnnxRuntime {
  readonly InferenceSession: {
    create(
      path: string,
      options: object,
    ): Promise<{ run(feeds: object): Promise<Record<string, { data: Float32Array }>> }>;
  };
  readonly Tensor: new (type: "float32", data: Float32Array, dims: readonly number[]) => object;
}

const [packages = "", folder = ""] = process.argv.slice(2);
const onnx = createRequire(join(packages, "package.json"))("onnxruntime-node") as OnnxRuntime;

async function inference(): Promise<Task> {
  const bytes = await readFile(join(folder, "inference.f32"));
  const blocks = new BlockReader(
    new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
  );
  blocks.take(denseSize(ACTOR) + denseSize(CRITIC));
  const states = blocks.take(DDPG.batch * DDPG.state);
  const session = await onnx.InferenceSession.create(join(folder, "inference.onnx"), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: "all",
  });
  const observation = new Float32Array(DDPG.state);
  const feeds = { observation: new onnx.Tensor("float32", observation, [1, DDPG.state]) };
  const act = async (row: number) => {
    observation.set(states.subarray(row * DDPG.state, (row + 1) * DDPG.state));
    return (await session.run(feeds)).action?.data as Float32Array;
  };
  return {
    async run(iterations) {
      for (let i = 0; i < iterations; i++) await act(i % DDPG.batch);
    },
    async answer() {
      const actions = new Float32Array(DDPG.batch * DDPG.action);
      for (let row = 0; row < DDPG.batch; row++) actions.set(await act(row), row * DDPG.action);
      return actions;
    },
  };
}

await serveLines({
  start(task) {
    if (task !== "inference") throw new Error(`onnxruntime only runs inference, not ${task}`);
    return inference();
  },
});
