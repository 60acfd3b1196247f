/** Entry of a thread that takes environment steps for parallel training, in the environments of the package. */

import { rolloutKinds } from "../../learn/rl/index.ts";
import { serveJobs } from "./serve-jobs.ts";

serveJobs(rolloutKinds());
