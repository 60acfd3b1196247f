/** `coxswain/runtime`: what computes, on this machine. */

export { loadKernels, openRolloutPool } from "../adapters/runtime/index.ts";
