/**
 * Workloads of a user's own, from the targets of a settings file.
 * Owns: building what the simulated cluster runs for each, and its agent's life from the profile.
 * Not here: reading and checking the file (cli/config), the demonstration's workloads (demo-workloads.ts).
 */
import { minutes, perSecond, seconds, unwrap } from "../../base/index.ts";
import { type ModeName, sloKinds } from "../../contract/index.ts";
import type { LifecycleProfile } from "../../control/lifecycle/index.ts";
import { lifecycleOf, modelGates } from "../../control/lifecycle/index.ts";
import type { WorkloadProfile } from "../../control/tasks/pods/index.ts";
import { mostPerEpisode, profileLimits, profileTask, shieldOf } from "../../control/tasks/pods/index.ts";
import type { Application, Load } from "../../sim/index.ts";
import { generateLoad, HIGH_PER_DAY, meanRate, studyLoad } from "../../sim/index.ts";
import type { Target } from "../config/index.ts";
import { composed, demoApplication, LOAD_DAYS, rulesFor, startOf } from "./demo-workloads.ts";
import type { Rules, SimulatedWorkload, WorkloadLife } from "./simulated-workload.ts";

export const userWorkloads = (targets: readonly Target[], seed: number): readonly SimulatedWorkload[] =>
  targets.map((target, slot) => workloadOf(target, seed + 1_000 * slot));

const SECONDS_PER_DAY = 86_400;

function workloadOf({ title, profile, rules, simulate }: Target, seed: number): SimulatedWorkload {
  const { workload: id, slo, bounds } = profile;
  const application = applicationOf(id, simulate.application);
  const { shape, meanPerSecond: mean } = simulate.load;
  const level = mean * SECONDS_PER_DAY > HIGH_PER_DAY ? "high" : "low";
  const load = studyLoad(generateLoad({ seed, days: LOAD_DAYS, shape, level, mean }), application);
  return {
    id,
    title,
    application,
    load,
    slo,
    bounds,
    initial: startOf(application, load, bounds),
    rules: within(bounds, {
      leastCpu: rules.minCpu,
      targetPercent: rules.targetPercent,
      leastReplicas: rules.minReplicas,
      usual: rulesFor[sloKinds[slo.kind].mayQueue ? "throughput" : "latency"],
    }),
    releases: { first: seconds(0), changes: [] },
    life: lifeOf(profile, load),
  };
}

/** As the demonstration's are served, where it is a list of segments. */
function applicationOf(id: string, named: Target["simulate"]["application"]): Application {
  const known = typeof named === "string" ? demoApplication(named) : undefined;
  if (known !== undefined) return { ...known, id };
  return composed(id, typeof named === "string" ? [named] : named, { threads: 12, timeout: 6_000 });
}

type Asked = { readonly [key in keyof Rules]: Rules[key] | undefined } & { readonly usual: Rules };

/** What was not said is as usual; rules that may not be carried out would be none. */
function within({ replicas, cpu }: WorkloadProfile["bounds"], asked: Asked): Rules {
  const { usual } = asked;
  const inside = (value: number, { min, max }: { readonly min: number; readonly max: number }) =>
    Math.min(Math.max(value, min), max);
  return {
    leastCpu: inside(asked.leastCpu ?? usual.leastCpu, cpu),
    targetPercent: asked.targetPercent ?? usual.targetPercent,
    leastReplicas: inside(asked.leastReplicas ?? usual.leastReplicas, {
      min: Math.max(1, replicas.min),
      max: replicas.max,
    }),
  };
}

function lifeOf(profile: WorkloadProfile, load: Load): WorkloadLife {
  const usualLoad = perSecond(Math.max(0.1, meanRate(load)));
  const lives = new Map<ModeName, LifecycleProfile>();
  return {
    mode: profile.mode,
    profile: (mode) => {
      // A learner that its owner chose has to earn its place around the model's plan, as every learner has.
      const isPlan = profile.objective !== "paper" && profile.learner === undefined;
      const gates = isPlan ? { gates: modelGates({ mode, attainment: profile.attainment }) } : {};
      const life =
        lives.get(mode) ?? unwrap(lifecycleOf({ ...profile, mode }, { maxReward: mostPerEpisode(profile), ...gates }));
      lives.set(mode, life);
      return life;
    },
    task: (slo) => unwrap(profileTask({ ...profile, slo }, { usualLoad, maxAge: minutes(1.5) })),
    limits: unwrap(profileLimits(profile)),
    settings: {},
    shield: shieldOf(profile),
    ...(profile.sharedModel === undefined ? {} : { sharedModel: profile.sharedModel }),
    ...(profile.learner === undefined ? {} : { learner: profile.learner }),
  };
}
