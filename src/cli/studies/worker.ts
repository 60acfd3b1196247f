/** Entry of a thread that runs jobs of studies. */

import { serveJobs } from "../../adapters/runtime/index.ts";
import { studyKinds } from "./study-kinds.ts";

serveJobs(studyKinds);
