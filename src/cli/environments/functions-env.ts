/**
 * Scaling of a serverless function under the names that commands take: one managed function of SIMPPO's twelve, alone or
 * beside others that keep their settings, on one of the two rungs of the serverless world.
 * Owns: the settings of these environments. Not here: the environment (control/tasks/functions), the world (sim).
 */
import { z } from "zod";
import { locateDataset, type RecordedFunction, readAzureFunctions } from "../../adapters/datasets/index.ts";
import { CodedError, parseWorkloadId, type Result, seconds, unwrap } from "../../base/index.ts";
import { functionsEnv } from "../../control/tasks/functions/index.ts";
import type { EnvEntry } from "../../learn/env/index.ts";
import {
  cloudInvokers,
  type FunctionProfile,
  fluidServerlessWorld,
  functionMix,
  functionNames,
  functionProfiles,
  type InvocationPattern,
  localInvokers,
  poissonPattern,
  recordedPattern,
  type ServerlessOptions,
  serverlessWorld,
} from "../../sim/index.ts";
import { envSettings } from "./env-settings.ts";

const schema = z.strictObject({
  function: z.enum(functionNames).default("primes"),
  /** Functions beside it, in the order of the paper's table; they keep what they begin with. */
  others: z.int().min(0).max(129).default(0),
  /** The paper's four machines of 28 cores, or so many of its cloud's of 8. */
  cluster: z.enum(["local", "cloud"]).default("local"),
  invokers: z.int().min(1).max(100).optional(),
  /** Rates drawn each step from the Azure traces, or uniformly from nothing to twice the mean. */
  pattern: z.enum(["poisson", "recorded"]).default("poisson"),
  /** Containers at work on average, of all functions, as a part of all cores. */
  load: z.number().positive().max(2).default(0.3),
  /** Functions that the load is divided among, however many there are: alone, one is as busy as among so many. */
  shared: z.int().min(1).default(12),
  /** Seconds between two decisions, and steps of an episode. */
  step: z.number().positive().default(10),
  steps: z.int().min(1).default(50),
  /** What becomes of choices that are illegal or undo the last one; penalised is the paper's. */
  badChoices: z.enum(["masked", "penalised"]).default("masked"),
  /** Whether utilisation is paid as far as the SLO is kept, or beside it as the paper has it. */
  reward: z.enum(["kept", "paper"]).default("kept"),
});

/** "Initially over-provisioned, and later managed" (SIMPPO, 3.1). */
const initial = { shares: 1_024, memory: 512, containers: 10 } as const;

export async function functionsEntry(rung: "fluid" | "event"): Promise<EnvEntry> {
  const id = rung === "fluid" ? "FunctionsFluid-v0" : "FunctionsEvent-v0";
  const makeWorld = rung === "fluid" ? fluidServerlessWorld : serverlessWorld;
  const folder = locateDataset("azure-functions-2019");
  const records: Result<RecordedFunction[]> = folder.ok ? await readAzureFunctions(folder.value) : folder;
  return {
    id,
    env(config) {
      const settings = envSettings(schema, { id, config });
      const { step, steps, badChoices, reward, cluster, pattern, load, others } = settings;
      const invokers = (cluster === "local" ? localInvokers : cloudInvokers)(settings.invokers);
      const sizing = { invokers, functions: Math.max(settings.shared, others + 1), load };
      const patternOf = (profile: FunctionProfile): InvocationPattern => {
        if (pattern === "poisson") return poissonPattern(profile, sizing);
        if (!records.ok) throw new CodedError(records.failure);
        return recordedPattern(records.value, profile, sizing);
      };
      const managed = functionProfiles[settings.function];
      const functions: ServerlessOptions["functions"] = [managed, ...functionMix(others)].map((profile, i) => ({
        id: unwrap(parseWorkloadId(i === 0 ? settings.function : `other-${i}`)),
        profile,
        pattern: patternOf(profile),
        initial,
      }));
      return functionsEnv({
        id,
        workload: unwrap(parseWorkloadId(settings.function)),
        makeWorld: (rng) => makeWorld({ seed: rng.uint32(), invokers, functions, step: seconds(step) }),
        controlStep: seconds(step),
        episodeSteps: steps,
        badChoices,
        reward,
      });
    },
  };
}
