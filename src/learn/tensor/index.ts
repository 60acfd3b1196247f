export { referenceKernels } from "./kernel-sets/reference.ts";
export type { Act, Kernels } from "./kernels.ts";
export { ACT, GEMM } from "./kernels.ts";
export type { GrowableBuffer, Ptr } from "./memory.ts";
export { Memory, NULL, offset } from "./memory.ts";
