/** Entry of a thread that plays and computes for pre-training, in worlds of the pool. */

import { serveJobs, threadMemory } from "../../adapters/runtime/index.ts";
import { pretrainKinds } from "../../learn/meta/index.ts";
import { limitsGuide, poolWorld } from "../../pretraining/index.ts";
import { shareCells } from "../../sim/index.ts";

const memory = threadMemory();
if (memory) shareCells(memory);
serveJobs(pretrainKinds(poolWorld, limitsGuide));
