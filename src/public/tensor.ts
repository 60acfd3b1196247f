/** `coxswain/tensor`: networks, losses and optimisers without a learner around them. */

export type { Kernels } from "../learn/tensor/index.ts";
export { adam, buildNetwork, dense, mseLoss } from "../learn/tensor/index.ts";
