/** Entry of a thread that trains agents beside the loop. */

import { serveJobs } from "../../adapters/runtime/index.ts";
import { agentTrainingKinds } from "../../control/lifecycle/index.ts";

serveJobs(agentTrainingKinds());
