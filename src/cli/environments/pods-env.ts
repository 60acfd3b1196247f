/**
 * Pod autoscaling under the names that commands take: one application of the generator's, its load and its SLO, on one of
 * the two cluster worlds.
 * Owns: the settings of these environments. Not here: the environment (control/tasks/pods), the scene (pretraining).
 */
import { z } from "zod";
import type { EnvEntry } from "../../learn/env/index.ts";
import { poolWorld } from "../../pretraining/index.ts";
import { envSettings } from "./env-settings.ts";

const schema = z.strictObject({
  /** Another seed, other applications and loads. */
  seed: z.int().min(0).default(1),
  /** Which of the seed's applications. */
  application: z.int().min(0).default(0),
  /** Those that pre-training learns on, or those that nothing is learned on. */
  part: z.enum(["known", "unseen"]).default("known"),
  /** What an action's numbers mean: multiples of what requests need, or the paper's limits. */
  actions: z.enum(["demand", "limits"]).default("demand"),
});

export function podsEnv(rung: "fluid" | "event"): EnvEntry {
  const id = rung === "fluid" ? "AutoscaleFluid-v0" : "AutoscaleEvent-v0";
  return {
    id,
    env(config) {
      const { seed, application, part, actions } = envSettings(schema, { id, config });
      return poolWorld({ seed, index: application, part, actions, rung });
    },
  };
}
