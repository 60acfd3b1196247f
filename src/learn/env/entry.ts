/** What the registry keeps about an environment. */

import type { Env, EnvSpec } from "./contract.ts";
import type { Core } from "./core.ts";

/** Plain data that can cross to a worker. */
export type EnvConfig = Readonly<Record<string, unknown>>;

export interface EnvEntry extends EnvSpec {
  /** Makes the functional core, the fast way; give this or `env`. */
  readonly core?: (config: EnvConfig) => Core;
  /** Makes a finished environment, for worlds that are not a core. */
  readonly env?: (config: EnvConfig) => Env<unknown, unknown>;
}
