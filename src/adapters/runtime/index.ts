export type { KernelSetName, LoadKernelsOptions } from "./load-kernels.ts";
export { loadKernels, tryKernels } from "./load-kernels.ts";
export { packageRoot } from "./package-root.ts";
