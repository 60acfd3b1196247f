/** Entry of a thread that trains a model of a study. */

import { serveJobs } from "../../adapters/runtime/index.ts";
import { modelKinds } from "./model-kinds.ts";

serveJobs(modelKinds);
