/**
 * The platform of SIMPPO's studies: machines, functions, how often they are called.
 * Owns: the scene that every method of a study meets, alone or among others. Not here: methods (methods.ts), scores (score.ts).
 *
 * How much functions contend was set on a tuning seed, by rules alone: with 0.5 of all cores at work on average, ENSURE's 99th
 * percentiles are 1.15 times as long among others as alone in the median of functions and 1.8 times at most, and one who knows the
 * calls to come still keeps most SLOs. With 0.3 nobody is in anybody's way; with 0.6 ENSURE is at the paper's figure (1.27 to 1.33), but even one
 * who knows the calls to come has a third of them late, so that no controller could be told from another.
 */
import { parseWorkloadId, seconds, unwrap, type WorkloadId } from "../../base/index.ts";
import {
  type BadChoices,
  Fleet,
  type Pool,
  type RewardForm,
  usualBounds,
} from "../../control/tasks/functions/index.ts";
import {
  cloudInvokers,
  type FunctionProfile,
  type FunctionSpec,
  fluidServerlessWorld,
  functionMix,
  functionNames,
  functionProfiles,
  localInvokers,
  poissonPattern,
  type ServerlessWorld,
  serverlessWorld,
} from "../../sim/index.ts";

export interface SceneConfig {
  /** The paper's four machines of 28 cores, or its cloud's of 8 cores, of which there are more with more functions (7.4). */
  readonly cluster: "local" | "cloud";
  readonly functions: number;
  /** Containers at work on average, as a part of all cores, with all functions there. */
  readonly load: number;
  /** Seconds between two decisions, and steps of an episode (Table 2). */
  readonly step: number;
  readonly steps: number;
  readonly rung: "fluid" | "event";
  readonly reward: RewardForm;
}

/** One function for each of the paper's benchmarks on its own four machines. */
export const usualScene: SceneConfig = {
  cluster: "local",
  functions: functionNames.length,
  load: 0.5,
  step: 10,
  steps: 50,
  rung: "event",
  reward: "kept",
};

/** "Initially over-provisioned, and later managed" (3.1). */
const initial = { shares: 1_024, memory: 512, containers: 10 } as const;
const bounds = usualBounds;

export class Scene {
  readonly config: SceneConfig;
  readonly pool: Pool;
  readonly bounds = bounds;
  readonly #invokers;

  constructor(config: SceneConfig) {
    this.config = config;
    this.#invokers =
      config.cluster === "local"
        ? localInvokers()
        : cloudInvokers(Math.max(1, Math.round((config.functions * 20) / 110)));
    this.pool = {
      cores: this.#invokers.reduce((sum, { cores, speed }) => sum + cores * speed, 0),
      memory: this.#invokers.reduce((sum, { memory }) => sum + memory, 0),
    };
  }

  /** All of them, in the order of the paper's table and round again. */
  get functions(): readonly FunctionSpec[] {
    return functionMix(this.config.functions).map((profile, i) => this.function(i, profile));
  }

  /** One more, which the load of the others is not shared with. */
  function(number: number, profile: FunctionProfile): FunctionSpec {
    const { functions, load } = this.config;
    return {
      id: functionId(number),
      profile,
      pattern: poissonPattern(profile, { invokers: this.#invokers, functions, load }),
      initial,
    };
  }

  fleet(
    functions: readonly FunctionSpec[],
    { badChoices = "masked" }: { readonly badChoices?: BadChoices } = {},
  ): Fleet<FunctionSpec, ServerlessWorld> {
    const { step, steps, rung, reward } = this.config;
    const makeWorld = rung === "fluid" ? fluidServerlessWorld : serverlessWorld;
    return new Fleet({
      id: "a study's fleet",
      functions,
      makeWorld: (rng, specs) =>
        makeWorld({ seed: rng.uint32(), invokers: this.#invokers, functions: specs, step: seconds(step) }),
      controlStep: seconds(step),
      episodeSteps: steps,
      badChoices,
      reward,
      bounds,
    });
  }
}

export const functionId = (number: number): WorkloadId => unwrap(parseWorkloadId(`f${number}`));

/** Which of the paper's benchmarks a function of a scene is. */
export function profileOf(workload: string): FunctionProfile {
  const number = Number(workload.slice(1));
  return functionProfiles[functionNames[number % functionNames.length] as (typeof functionNames)[number]];
}
