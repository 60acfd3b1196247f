/** `coxswain/runtime`: what computes, on this machine, and its clock. */

export { loadKernels, openRolloutPool, systemClock } from "../adapters/runtime/index.ts";
