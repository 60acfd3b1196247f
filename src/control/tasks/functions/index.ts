/** Serverless functions, SIMPPO's task: CPU shares, memory and containers of one function on a shared platform. */

export { functionChoices } from "./action.ts";
export { functionsEnv } from "./env.ts";
export { functionsPpo } from "./learner.ts";
