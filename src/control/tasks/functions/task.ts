/**
 * Scaling of serverless functions as the contract has it: what agents, loops and training know of one function.
 * Owns: putting the parts of this folder together. Not here: the parts (observation.ts, action.ts, reward.ts), ENSURE
 * (control/fallbacks).
 *
 * Beyond the paper, choices that are illegal or undo the last one are masked: an agent cannot make them, so what it says is
 * what is done. The paper's own arm lets it make them, does nothing, and takes 1 from the reward.
 */
import { type Ms, seconds } from "../../../base/index.ts";
import { type FunctionReading, parseFunctionReading } from "../../../observe/telemetry/index.ts";
import type { Task } from "../../index.ts";
import {
  afterChoice,
  choiceOf,
  choiceProblem,
  type FunctionBounds,
  type FunctionSetting,
  functionChoices,
  functionKnobs,
  usualBounds,
} from "./action.ts";
import { type BootstrapOptions, bootstrapAdvisor, mayPolicyAct } from "./bootstrap/advisor.ts";
import {
  encodeFunction,
  type FunctionMemory,
  type FunctionSeen,
  freshFunctionMemory,
  functionSpace,
} from "./observation.ts";
import { functionAlpha, functionReward, type RewardForm } from "./reward.ts";

export type FunctionsTask = Task<FunctionReading, FunctionSetting, FunctionSeen>;

/** What becomes of choices that are illegal or undo the last one. */
export type BadChoices = "masked" | "penalised";

export interface FunctionsOptions {
  readonly badChoices?: BadChoices;
  readonly bounds?: FunctionBounds;
  readonly alpha?: number;
  readonly reward?: RewardForm;
  /** Between two decisions. The paper's takes 0.24 to 0.29 s of the platform, in which most functions are called once at most. */
  readonly controlStep?: Ms;
  readonly episodeSteps?: number;
  /** A policy goes on learning in a simulator fitted to its function, and acts where that says it is as good as the rules. Absent: no. */
  readonly bootstrap?: BootstrapOptions;
}

/** Table 2. */
const EPISODE_STEPS = 50;

export function functionsTask({
  badChoices = "masked",
  bounds = usualBounds,
  alpha = functionAlpha,
  reward: form = "kept",
  controlStep = seconds(10),
  episodeSteps = EPISODE_STEPS,
  bootstrap,
}: FunctionsOptions = {}): FunctionsTask {
  const hasMask = badChoices === "masked";
  return {
    name: `functions, bad choices ${badChoices}, reward ${form}`,
    controlStep,
    episodeSteps,
    observationSize: functionSpace({ hasMask }).size,
    actionSize: 1,
    choices: functionChoices.length,
    freshMemory: freshFunctionMemory,
    parse: parseFunctionReading,
    encode: (reading, { memory }) =>
      encodeFunction(reading, memory as FunctionMemory, { bounds, hasMask, keepsRecords: bootstrap !== undefined }),
    decode: (action, { have, last }) => {
      const choice = action[0] as number;
      if (Number.isNaN(choice)) return afterChoice(choice, have, bounds);
      return choiceProblem(choice, { have, last }, bounds) === undefined ? afterChoice(choice, have, bounds) : have;
    },
    encodeSetting: (setting, { have }) => Float32Array.of(choiceOf(setting, have, bounds)),
    reward: ({ measures }) => functionReward(measures, { alpha, form }),
    isMissed: ({ measures }) => measures.preservation < 1,
    nearness: ({ nearness, measures }) =>
      measures.preservation < 1 ? 1 / Math.max(LEAST, measures.preservation) : (nearness ?? 0),
    loadOf: ({ measures }) => measures.load,
    givesLess: (one, than) => functionKnobs.some((knob) => one[knob] < than[knob]),
    costOf: ({ shares, memory, containers }) => containers * (shares / SHARES_PER_CORE + memory / MEMORY_PER_CORE),
    isHarmed: ({ kills }) => kills > 0,
    ...(bootstrap
      ? {
          isReady: ({ memory }: FunctionSeen) => mayPolicyAct(memory, bootstrap),
          advisor: bootstrapAdvisor(bootstrap, { bounds, step: controlStep }),
        }
      : {}),
  };
}

/** A function that answers nobody is a hundred times beyond its SLO. */
const LEAST = 0.01;
/** In cores: 1,024 shares, or nine GiB at the prices of on-demand CPU and memory. */
const SHARES_PER_CORE = 1_024;
const MEMORY_PER_CORE = 9_216;
