/**
 * The services of an application as what a plane manages: mitigation with its learner, its fallback and its guard.
 * Owns: putting these together, and a life for steps of a second. Not here: the parts (control, learn), the world
 * (services-world.ts), turns (plane).
 */
import { parseAgentId, unwrap } from "../../../base/index.ts";
import type { ModeName } from "../../../contract/index.ts";
import { defaultGates, type LifecycleProfile, parseLifecycleProfile } from "../../../control/lifecycle/index.ts";
import {
  mitigationLearner,
  mitigationTask,
  mostGain,
  type ServicesPort,
  serviceHpaFallback,
  serviceLimits,
  serviceView,
  servingDdpg,
} from "../../../control/tasks/mitigation/index.ts";
import type { Kernels } from "../../../learn/tensor/index.ts";
import { type Target, taskTarget } from "../../../plane/index.ts";
import { serviceId } from "./services-world.ts";

export interface ServiceTargetsOptions {
  readonly application: string;
  readonly port: ServicesPort;
  readonly kernels: Kernels;
  /** What all agents begin with, from a pre-training; nothing was learned yet where absent. */
  readonly policy: Uint8Array | undefined;
  readonly mode: ModeName;
  readonly seed: number;
}

const task = mitigationTask();

/**
 * A minute of the wall is two episodes here and 15 seconds are one step there, so what AWARE's agents show in hours these
 * show in minutes: the fallback is measured for four episodes, a canary that begins with half of the range is over after
 * two clean ones, and four good ones make a policy that serves. Nothing is left out; what counts as harm is counted in
 * steps of a second, so there may be more of it.
 */
const profiles = new Map<ModeName, LifecycleProfile>();

export function serviceProfile(mode: ModeName): LifecycleProfile {
  const profile =
    profiles.get(mode) ??
    unwrap(
      parseLifecycleProfile({
        mode,
        window: 4,
        maxReward: mostGain(task),
        online: { kind: "fallback", times: 1, plus: 0 },
        serving: { kind: "fallback", times: 1.02, plus: 0 },
        deviation: { kind: "fallback", times: 1.5, atLeast: 5 },
        gates: {
          ...defaultGates,
          canary: { start: 0.5, widen: 2, narrow: 0.5, allowance: 3, slack: 0.1 },
          rollback: { excess: 20, credit: 20, maxFaultShare: 0.5, wait: 4 },
        },
      }),
    );
  profiles.set(mode, profile);
  return profile;
}

export function serviceTargets(options: ServiceTargetsOptions): readonly Target[] {
  const { application, port, kernels, policy, mode, seed } = options;
  const first = new Map(port.readInstances().map((reading) => [reading.service, reading]));
  return [...first].map(([service, container], slot) => {
    const id = serviceId(application, service);
    const own = seed + 101 * (slot + 1);
    const { cpu, memory, llc, io, network } = container.limits;
    const have = { cpu, memory, llc, io, network, replicas: 1 };
    return taskTarget({
      id,
      agent: unwrap(parseAgentId(`${id}-agent`)),
      title: service,
      fallback: "HPA",
      slo: { kind: "none" },
      mode,
      have,
      twinHave: have,
      profile: serviceProfile,
      view: serviceView,
      task: () => task,
      limits: serviceLimits(container),
      rules: serviceHpaFallback(),
      createLearner: ({ attempt }) => mitigationLearner({ kernels, seed: own + 7_919 * attempt, policy }),
      settings: SETTINGS,
      seed: own,
      training: { trainEvery: task.episodeSteps, updates: 64, replaySize: () => servingDdpg.bufferSize },
    });
  });
}

/** The policy was trained before: it explores little, and a push lasts until its effect has been measured. */
const SETTINGS = {
  noise: { kind: "gaussian", sigma: 0.1 },
  holdNoise: 5,
  fade: { episodes: 40, to: 0.25 },
  estimateEvery: 2,
} as const;
