/**
 * A fleet of serverless functions under the names that `env serve` takes: SIMPPO's twelve on one platform, an agent each.
 * Owns: the settings of these environments, who comes and goes in an episode. Not here: the fleet (control/tasks/functions), the
 * world (sim).
 */
import { z } from "zod";
import { CodedError, failure, parseWorkloadId, seconds, seededRng, unwrap, type WorkloadId } from "../../base/index.ts";
import { Fleet, functionChoices, functionSpace } from "../../control/tasks/functions/index.ts";
import { discrete, type EnvConfig, type FleetEnv, type Step } from "../../learn/env/index.ts";
import {
  cloudInvokers,
  fluidServerlessWorld,
  functionMix,
  localInvokers,
  poissonPattern,
  type ServerlessOptions,
  serverlessWorld,
} from "../../sim/index.ts";
import { envSettings } from "./env-settings.ts";

const schema = z.strictObject({
  /** Agents at the beginning, in the order of the paper's table. */
  functions: z.int().min(1).max(130).default(12),
  /** Functions that may join later. */
  spares: z.int().min(0).max(130).default(0),
  /** After so many steps the oldest agent leaves and a spare joins, again and again while there are spares; 0 is never. */
  churn: z.int().min(0).default(0),
  cluster: z.enum(["local", "cloud"]).default("local"),
  invokers: z.int().min(1).max(100).optional(),
  /** Containers at work on average, of all functions, as a part of all cores. */
  load: z.number().positive().max(2).default(0.3),
  /** Seconds between two decisions, and steps of an episode. */
  step: z.number().positive().default(10),
  steps: z.int().min(1).default(50),
  badChoices: z.enum(["masked", "penalised"]).default("masked"),
  /** Whether utilisation is paid as far as the SLO is kept, or beside it as the paper has it. */
  reward: z.enum(["kept", "paper"]).default("kept"),
});

const initial = { shares: 1_024, memory: 512, containers: 10 } as const;

export type FleetId = "FunctionsFleetEvent-v0" | "FunctionsFleetFluid-v0";

type Member = ServerlessOptions["functions"][number];

export function functionsFleetEnv(id: FleetId, config: EnvConfig): FleetEnv<Float32Array, number> {
  const settings = envSettings(schema, { id, config });
  const { step: stepSeconds, steps: episodeSteps, badChoices, reward, cluster, load, churn } = settings;
  const makeWorld = id === "FunctionsFleetFluid-v0" ? fluidServerlessWorld : serverlessWorld;
  const invokers = (cluster === "local" ? localInvokers : cloudInvokers)(settings.invokers);
  const sizing = { invokers, functions: settings.functions, load };
  const members: readonly Member[] = functionMix(settings.functions + settings.spares).map((profile, i) => ({
    id: unwrap(parseWorkloadId(`function-${i + 1}`)),
    profile,
    pattern: poissonPattern(profile, sizing),
    initial,
  }));
  const functions = members.slice(0, settings.functions);
  const makeFleet = () =>
    new Fleet({
      id,
      functions,
      makeWorld: (rng, given: readonly Member[]) =>
        makeWorld({ seed: rng.uint32(), invokers, functions: given, step: seconds(stepSeconds) }),
      controlStep: seconds(stepSeconds),
      episodeSteps,
      badChoices,
      reward,
    });
  const actionSpace = discrete(functionChoices.length);
  let rng = seededRng(0);
  let episode = 0;
  let fleet = makeFleet();
  let spares: Member[] = [];
  let done = 0;
  let isOver = true;

  const checkActions = (actions: ReadonlyMap<string, number>): void => {
    const agents: readonly string[] = fleet.agents;
    for (const agent of actions.keys())
      if (!agents.includes(agent))
        throw new CodedError(
          failure("fleet.unknown-agent", `${id} has no agent '${agent}' now; take a name from its agents`),
        );
    for (const agent of agents)
      if (!actionSpace.contains(actions.get(agent)))
        throw new CodedError(
          failure("space.mismatch", `${id} needs ${actionSpace.describe()} of '${agent}'; choose one for every agent`),
        );
  };

  /** One leaves for one that joins; who left, if anybody did. */
  const exchange = (): WorkloadId | undefined => {
    const isTime = churn > 0 && done % churn === 0;
    const next = isTime ? spares.shift() : undefined;
    const [oldest] = fleet.agents;
    if (next === undefined || oldest === undefined) return undefined;
    unwrap(fleet.leave(oldest));
    unwrap(fleet.join(next));
    return oldest;
  };

  return {
    spec: { id, maxSteps: episodeSteps },
    possibleAgents: members.map((member) => member.id),
    get agents() {
      return isOver ? [] : fleet.agents;
    },
    observationSpace: functionSpace({ hasMask: badChoices === "masked" }),
    actionSpace,
    maskSize: badChoices === "masked" ? functionChoices.length : 0,
    reset({ seed, options = {} } = {}) {
      for (const key of Object.keys(options))
        throw new CodedError(failure("env.options", `${id} has no reset option '${key}'; it knows none`));
      if (seed !== undefined) {
        rng = seededRng(seed);
        episode = 0;
      }
      // A new one each time: who came and went in the last episode is no part of this one.
      fleet = makeFleet();
      spares = members.slice(settings.functions);
      fleet.reset({ seed: rng.fork(episode).uint32() });
      episode += 1;
      done = 0;
      isOver = false;
      return { obs: new Map(fleet.agents.map((agent) => [agent, fleet.seen(agent).values.slice()])), info: {} };
    },
    step(actions) {
      if (isOver)
        throw new CodedError(failure("env.needs-reset", `${id} has no episode under way and cannot step; reset() it`));
      checkActions(actions);
      const { outcomes, end } = fleet.step(
        new Map([...actions].map(([agent, action]) => [agent as WorkloadId, { action }])),
      );
      done += 1;
      isOver = end !== "no";
      const steps = new Map<string, Step<Float32Array>>();
      for (const [agent, { seen, reward }] of outcomes) steps.set(agent, { obs: seen.values.slice(), reward, end });
      // One that joins now has nothing to say in the last step.
      if (isOver) return steps;
      for (const agent of fleet.agents)
        if (!steps.has(agent)) steps.set(agent, { obs: fleet.seen(agent).values.slice(), reward: 0, end });
      const gone = exchange();
      const last = gone === undefined ? undefined : steps.get(gone);
      if (gone !== undefined && last !== undefined) steps.set(gone, { ...last, end: "terminated" });
      return steps;
    },
    close() {
      isOver = true;
    },
  };
}
