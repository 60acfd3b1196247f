export type { AttentionBlock, AttentionCall, AttentionOptions } from "./attention.ts";
export { buildAttention } from "./attention.ts";
export { crossEntropyLoss, ordinalClass, ordinalLoss } from "./class-losses.ts";
export type { ColumnCopy, Columns, GroupMean, RowRepeat } from "./glue.ts";
export { copyColumns, meanOverGroups, meanOverGroupsBackward, repeatRow, repeatRowBackward } from "./glue.ts";
export type { CategoricalBlocks, CategoricalGradients } from "./heads/categorical.ts";
export {
  categoricalBackward,
  categoricalEntropy,
  categoricalLogProb,
  modeCategorical,
  sampleCategorical,
} from "./heads/categorical.ts";
export type { GaussianBlocks, GaussianGradients } from "./heads/gaussian.ts";
export { gaussianBackward, gaussianEntropy, gaussianLogProb, sampleGaussian } from "./heads/gaussian.ts";
export type { SquashedBlocks, SquashedGradients } from "./heads/squashed-gaussian.ts";
export {
  sampleSquashed,
  squashedBackward,
  squashedLogProb,
  squashedReparameterisedBackward,
} from "./heads/squashed-gaussian.ts";
export type { Initialiser, InitialShape } from "./initialisers.ts";
export { constant, kaimingUniform, orthogonal, torchDefault, uniform, xavierUniform, zeros } from "./initialisers.ts";
export { referenceKernels } from "./kernel-sets/reference.ts";
export { compileKernels, wasmKernels } from "./kernel-sets/wasm.ts";
export type { WasmModule } from "./kernel-sets/webassembly.ts";
export { growableMemory } from "./kernel-sets/webassembly.ts";
export type { Act, Kernels } from "./kernels.ts";
export { ACT, GEMM } from "./kernels.ts";
export type { Activation, DenseOptions, LayerSpec } from "./layers.ts";
export { activation, dense, layerNorm, softmax } from "./layers.ts";
export type { LossOptions } from "./losses.ts";
export { hingeLoss, huberLoss, l1Loss, mapeLoss, mseLoss } from "./losses.ts";
export type { GrowableBuffer, Ptr } from "./memory.ts";
export { Memory, NULL, offset } from "./memory.ts";
export type { BackwardOptions, Network, NetworkOptions } from "./network.ts";
export { buildNetwork, INPUT_ONLY, PARAMS_AND_INPUT, PARAMS_ONLY } from "./network.ts";
export type { AdamOptions, Gradients, Optimiser, OptimiserState, SgdOptions, SoftUpdateOptions } from "./optimiser.ts";
export { adam, adamW, clipGradNorm, clipGradNorms, sgd, softUpdate } from "./optimiser.ts";
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
export type { Parameter, Parameters } from "./parameters.ts";
export type { RecurrentNetwork, RecurrentOptions, SequenceOptions } from "./recurrent.ts";
export { buildRecurrent } from "./recurrent.ts";
export type { Cell } from "./recurrent-direction.ts";
export type { ParameterSnapshot, Snapshottable } from "./snapshot.ts";
export { loadParameters, saveParameters } from "./snapshot.ts";
