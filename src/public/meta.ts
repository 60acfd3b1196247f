/** `coxswain/meta`: learners that begin with what `coxswain pretrain` left. */

export type { SharedModel } from "../learn/meta/index.ts";
export { AdaptedLearner, openSharedModel } from "../learn/meta/index.ts";
