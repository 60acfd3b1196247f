/**
 * The lives of the demonstration's agents: the product's lifecycle with shorter episodes and windows, so that all stages
 * are seen within minutes. Every gate is there and judged as ever; less evidence is asked for, and that is all.
 * Owns: these settings. Not here: the lifecycle (control/lifecycle).
 */
import { minutes, perSecond, ratio, unwrap } from "../../base/index.ts";
import type { ModeName } from "../../contract/index.ts";
import type { AgentSettings, LifecycleProfile } from "../../control/lifecycle/index.ts";
import { modelGates, parseLifecycleProfile } from "../../control/lifecycle/index.ts";
import type { AutoscaleTask } from "../../control/tasks/pods/index.ts";
import { autoscaleTask, mostPerEpisode, productMode, usualThresholds } from "../../control/tasks/pods/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import type { Load } from "../../sim/index.ts";
import { meanRate } from "../../sim/index.ts";
import { bounds, guardLimits } from "./demo-cluster.ts";
import type { WorkloadLife } from "./simulated-workload.ts";

/** Six minutes of world time. */
export const EPISODE_STEPS = 24;
/** As profiles have it unless they say otherwise. */
const ATTAINMENT = 0.99;

const demoSettings: Partial<AgentSettings> = {
  fade: { episodes: 12, to: 0.25 },
  annealEpisodes: 10,
  estimateEvery: 1,
  keepEpisodes: 16,
};

/** Asked for several times in every tick, so each is made once. */
function oncePerMode(make: (mode: ModeName) => LifecycleProfile): (mode: ModeName) => LifecycleProfile {
  const made = new Map<ModeName, LifecycleProfile>();
  return (mode) => {
    const profile = made.get(mode) ?? make(mode);
    made.set(mode, profile);
    return profile;
  };
}

/** By cost, unless a model that was trained for the paper's reward is to act. */
export type DemoObjective = "cost" | "paper";

const profiles: Readonly<Record<DemoObjective, (mode: ModeName) => LifecycleProfile>> = {
  cost: oncePerMode((mode) =>
    unwrap(
      parseLifecycleProfile({
        mode,
        // An hour: one missed step is worth a quarter of an episode, so a few of them say little.
        window: 10,
        maxReward: mostPerEpisode({ episodeSteps: EPISODE_STEPS, objective: "cost" }),
        ...usualThresholds.cost,
        gates: modelGates({ mode, attainment: ATTAINMENT }),
      }),
    ),
  ),
  paper: oncePerMode(paperProfile),
};

function paperProfile(mode: ModeName): LifecycleProfile {
  return unwrap(
    parseLifecycleProfile({
      mode,
      window: 4,
      maxReward: mostPerEpisode({ episodeSteps: EPISODE_STEPS }),
      // A policy that is as good as the rules, give or take what a few short episodes can tell.
      online: { kind: "fallback", times: 0.95, plus: 0 },
      serving: { kind: "fallback", times: 0.95, plus: 0 },
      deviation: { kind: "fallback", times: 2, atLeast: 5 },
      gates: {
        offPolicy: { maxAgeEpisodes: 4, margin: 0.25 },
        shadow: { episodes: 2, maxTripRate: 0.5, maxFailureRate: 0.02, maxRiskyRate: 0.25 },
        canary: { start: 0.25, widen: 2, narrow: 0.5, allowance: 2, slack: 0.1 },
        rollback: { excess: 10, credit: 10, maxFaultShare: 0.5, wait: 3 },
      },
    }),
  );
}

export const demoLife = (load: Load, objective: DemoObjective): WorkloadLife => ({
  mode: "act",
  profile: profiles[objective],
  task: (slo) => demoTask(load, slo, objective),
  limits: guardLimits,
  settings: demoSettings,
});

function demoTask(load: Load, slo: Slo, objective: DemoObjective): AutoscaleTask {
  return unwrap(
    autoscaleTask({
      slo,
      bounds,
      usualLoad: perSecond(Math.max(0.1, meanRate(load))),
      episodeSteps: EPISODE_STEPS,
      maxAge: minutes(1.5),
      attainment: ratio(ATTAINMENT),
      ...(objective === "cost" ? productMode : {}),
    }),
  );
}
