/** `coxswain/sim`: a simulated cluster to try agents in. */

export { characterizationNodes, composeApplication, fluidWorld, generateLoad } from "../sim/index.ts";
