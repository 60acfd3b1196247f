/** `coxswain/sim`: a simulated cluster and a simulated serverless platform to try agents in. */

export type { FunctionSpec, FunctionTruth, ServerlessWorld } from "../sim/index.ts";
export {
  characterizationNodes,
  composeApplication,
  fluidServerlessWorld,
  fluidWorld,
  functionMix,
  generateLoad,
  localInvokers,
  poissonPattern,
  serverlessWorld,
} from "../sim/index.ts";
