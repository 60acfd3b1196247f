/**
 * FIRM's mitigation under the name that commands take: one service of a simulated application, under anomalies.
 * Owns: the settings of this environment. Not here: the environment (control/tasks/mitigation), the world (sim).
 */
import { z } from "zod";
import { CodedError, failure } from "../../base/index.ts";
import { mitigationEnv } from "../../control/tasks/mitigation/index.ts";
import type { EnvEntry } from "../../learn/env/index.ts";
import { applications, simulatedGround } from "../../sim/index.ts";
import { didYouMean } from "../suggest.ts";
import { envSettings } from "./env-settings.ts";

const names = applications.map(({ name }) => name);

const schema = z.strictObject({
  application: z.enum(names).default("hotel-reservation"),
  /** Whose limits are set; the first that requests come to unless said. */
  service: z.string().optional(),
  /** Seconds of an episode. */
  steps: z.int().min(1).default(300),
  /** What an action's numbers mean: room above what is used, or the paper's limits. */
  actions: z.enum(["headroom", "limits"]).default("headroom"),
});

const id = "Mitigation-v0";

export const mitigationEntry: EnvEntry = {
  id,
  env(config) {
    const { application: name, service, steps, actions } = envSettings(schema, { id, config });
    const application = applications.find((one) => one.name === name);
    if (application === undefined) throw new Error(`the schema accepted an application that is not there: ${name}`);
    const ground = simulatedGround(application);
    const chosen = service ?? ground.services[0] ?? "";
    if (!ground.services.includes(chosen))
      throw new CodedError(
        failure(
          "env.config",
          `${name} has no service '${chosen}'${didYouMean(chosen, ground.services) || `; known are ${ground.services.join(", ")}`}`,
        ),
      );
    return mitigationEnv({ id, ground, service: chosen, steps, actions });
  },
};
