/**
 * Our engine as a contender: one process per kernel set, as a program would use it. Arguments: kernel set, fixtures.
 * One set per process also keeps V8's call sites as they are in production, where only one set is loaded.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import { serveLines, type Task } from "./line-server.ts";
import { agentMemoryTask, ddpgTask, inferenceTask } from "./our-ddpg.ts";
import { gemmTask, kernelTask } from "./our-gemm.ts";
import { gruShardsTask, gruTask } from "./our-gru.ts";
import { ddpgActTask, ddpgLearnerTask, ppoLearnerTask } from "./our-learners.ts";
import { ppoTask } from "./our-ppo.ts";

const [wanted = "", folder = ""] = process.argv.slice(2);
const kernels = loadKernels({ prefer: wanted as Kernels["name"] });
if (kernels.name !== wanted) {
  process.stderr.write(`the ${wanted} kernels are not available here (found ${kernels.name})\n`);
  process.exit(1);
}

function fixture(name: string): Float32Array {
  const bytes = readFileSync(join(folder, `${name}.f32`));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

async function start(task: string): Promise<Task> {
  const [kind = "", ...rest] = task.split(":");
  switch (kind) {
    case "ddpg":
      return ddpgTask(kernels, fixture("ddpg"));
    case "inference":
      return inferenceTask(kernels, fixture("inference"));
    case "ppo":
      return ppoTask(kernels, fixture("ppo"));
    case "gru":
      return gruTask(kernels, fixture("gru"));
    case "gru-threads":
      return gruShardsTask(kernels, fixture("gru"), { threads: Number(rest[0]) });
    case "gemm":
      return gemmTask(kernels, rest.join(":"));
    case "kernel":
      return kernelTask(kernels, rest.join(":"));
    case "ddpg-learner":
      return ddpgLearnerTask(kernels);
    case "ddpg-act":
      return ddpgActTask(kernels);
    case "ppo-learner":
      return ppoLearnerTask(kernels);
    case "agent-memory":
      // A set of its own: scratch that other tasks left behind would hide what the agent needs.
      return agentMemoryTask(loadKernels({ prefer: kernels.name }), { batch: Number(rest[0]) });
    case "meta-trajectory":
    case "meta-bundle":
    case "meta-pass":
    case "meta-decide":
    case "meta-round": {
      // Not at the top: the other tasks are timed without the worlds that pre-training plays in.
      const { metaTask } = await import("../meta/our-meta.ts");
      return metaTask(kernels, { task: kind, fixture, argument: rest[0] ?? "" });
    }
    default:
      throw new Error(`no task ${task}`);
  }
}

await serveLines({ start });
