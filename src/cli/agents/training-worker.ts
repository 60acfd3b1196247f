/** Entry of a thread that trains agents beside the loop. */

import { giveWay, serveJobs, threadSetup } from "../../adapters/runtime/index.ts";
import { loadModules } from "../modules/load-modules.ts";
import { backgroundKinds } from "./background-kinds.ts";

/** What a thread needs to know before its first job. */
export interface TrainingSetup {
  readonly modules: readonly string[];
}

/** Turns of agents go before their training, and both after the API's answers. */
const TRAINING_NICE = 19;

giveWay(TRAINING_NICE);
await loadModules((threadSetup() as TrainingSetup).modules);
serveJobs(backgroundKinds());
