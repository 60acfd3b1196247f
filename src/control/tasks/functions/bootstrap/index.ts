/** A simulator of one function, fitted to what was recorded of it, and policies that learn in it. */

export { FUNCTION_BOOTSTRAP } from "./advisor.ts";
export { functionBootstrap } from "./train.ts";
export type { BootstrapWork } from "./work.ts";
