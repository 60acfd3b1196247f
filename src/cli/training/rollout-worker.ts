/** Entry of a thread that takes environment steps for parallel training, in any environment that commands can name. */

import { serveJobs, threadSetup } from "../../adapters/runtime/index.ts";
import { rolloutKinds } from "../../learn/rl/index.ts";
import { loadEnv } from "../environments/catalog.ts";
import { loadModules } from "../modules/load-modules.ts";

/** What a thread needs to know before its first job. */
export interface RolloutSetup {
  readonly modules: readonly string[];
  readonly task: string;
}

const { modules, task } = threadSetup() as RolloutSetup;
await loadModules(modules);
await loadEnv(task);
serveJobs(rolloutKinds());
