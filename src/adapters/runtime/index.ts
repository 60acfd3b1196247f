export { loadKernels } from "./load-kernels.ts";
