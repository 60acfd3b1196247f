/** A simulator of one function, fitted to what was recorded of it, and policies that learn in it. */

export type { BootstrapMemory, BootstrapOptions } from "./advisor.ts";
export { bootstrapAdvisor, FUNCTION_BOOTSTRAP, mayPolicyAct } from "./advisor.ts";
export { noFunctionRecords, recordsAfter } from "./records.ts";
export type { BootstrapAdvice, Bootstrapped, BootstrapWork } from "./train.ts";
export { functionBootstrap } from "./train.ts";
