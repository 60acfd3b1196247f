/** Entry of a thread that trains agents beside the loop. */

import { giveWay, serveJobs } from "../../adapters/runtime/index.ts";
import { agentTrainingKinds } from "../../control/lifecycle/index.ts";

/** Turns of agents go before their training, and both after the API's answers. */
const TRAINING_NICE = 19;

giveWay(TRAINING_NICE);
serveJobs(agentTrainingKinds());
