/** Entry of a thread that plays and computes for pre-training, in worlds of the pool. */

import { serveJobs } from "../../adapters/runtime/index.ts";
import { pretrainKinds } from "../../learn/meta/index.ts";
import { poolWorld } from "../../studies/index.ts";

serveJobs(pretrainKinds(poolWorld));
