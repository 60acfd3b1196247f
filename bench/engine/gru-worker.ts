/** Entry of a thread that computes shards of the GRU. */

import { serveJobs } from "../../src/adapters/runtime/index.ts";
import { gruKinds } from "./gru-shards.ts";

serveJobs(gruKinds);
