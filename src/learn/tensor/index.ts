export { copyColumns, meanOverGroups, meanOverGroupsBackward } from "./glue.ts";
export {
  categoricalBackward,
  categoricalLogProb,
  modeCategorical,
  sampleCategorical,
} from "./heads/categorical.ts";
export { gaussianBackward, gaussianEntropy, gaussianLogProb, sampleGaussian } from "./heads/gaussian.ts";
export { constant, orthogonal } from "./initialisers.ts";
export { referenceKernels } from "./kernel-sets/reference.ts";
export { compileKernels, wasmKernels } from "./kernel-sets/wasm.ts";
export type { WasmModule } from "./kernel-sets/webassembly.ts";
export { growableMemory } from "./kernel-sets/webassembly.ts";
export type { Kernels } from "./kernels.ts";
export { ACT, GEMM } from "./kernels.ts";
export type { Activation, LayerSpec } from "./layers.ts";
export { dense } from "./layers.ts";
export { huberLoss, mseLoss } from "./losses.ts";
export type { Ptr } from "./memory.ts";
export { Memory, NULL, offset } from "./memory.ts";
export type { Network, NetworkOptions } from "./network.ts";
export { buildNetwork, INPUT_ONLY, PARAMS_AND_INPUT, PARAMS_ONLY } from "./network.ts";
export type { Gradients, Optimiser, OptimiserState } from "./optimiser.ts";
export { adam, clipGradNorm, clipGradNorms, softUpdate } from "./optimiser.ts";
export type {
  JobKinds,
  JobName,
  ModelKind,
  ShardGroup,
  ShardIo,
  ShardModel,
  TaskContext,
  TaskKind,
  TaskOptions,
  WorkerPool,
} from "./parallel.ts";
export { addShards } from "./parallel.ts";
export type { RecurrentNetwork } from "./recurrent.ts";
export { buildRecurrent } from "./recurrent.ts";
export type { ParameterSnapshot, Snapshottable } from "./snapshot.ts";
export { loadParameters, saveParameters } from "./snapshot.ts";
