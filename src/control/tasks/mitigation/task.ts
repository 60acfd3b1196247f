/**
 * Mitigation as the contract has it: what agents, loops and training know of one service.
 * Owns: putting the parts of this folder together; the rules around a policy. Not here: the parts (observation.ts,
 * action.ts, reward.ts), who is to blame (triage.ts).
 */
import type { Reason, Resource } from "../../../base/index.ts";
import { err, failure, ok, resources, seconds } from "../../../base/index.ts";
import type { Seen, Shield, Task } from "../../index.ts";
import {
  decodeMitigation,
  encodeLimits,
  MITIGATION_ACTIONS,
  type MitigationActions,
  type MitigationMove,
  type ServiceSetting,
} from "./action.ts";
import { aloneAfter, readingAsIf } from "./as-if-alone.ts";
import { encodeMitigation, MITIGATION_FEATURES } from "./observation.ts";
import { mitigationReward, usualAlpha } from "./reward.ts";
import { amounts, parseServiceReading, type ServiceReading, type Standing, useOf } from "./service-reading.ts";

/** What a policy is shown of a service, and what its numbers are to be read with. */
export interface MitigationSeen extends Seen {
  readonly move: MitigationMove;
  readonly use: { readonly [R in Resource]: number };
  readonly standing: Standing;
  readonly load: number;
  readonly nearness: number;
}

export type MitigationTask = Task<ServiceReading, ServiceSetting, MitigationSeen>;

export interface MitigationOptions {
  /** What the agent's numbers mean; `headroom` unless said. */
  readonly actions?: MitigationActions;
  /** Weight of the SLO in the reward. */
  readonly alpha?: number;
  /** Steps of a second; 30 unless said. */
  readonly episodeSteps?: number;
}

/** An HPA decides twice in it, and an anomaly is found, mended and over. */
const EPISODE_STEPS = 30;

export function mitigationTask({
  actions = "headroom",
  alpha = usualAlpha,
  episodeSteps = EPISODE_STEPS,
}: MitigationOptions = {}): MitigationTask {
  return {
    name: `mitigation, actions as ${actions}`,
    // FIRM 3.2.4.
    controlStep: seconds(1),
    episodeSteps,
    observationSize: MITIGATION_FEATURES,
    actionSize: MITIGATION_ACTIONS,
    freshMemory: null,
    parse: parseServiceReading,
    encode: (reading) => {
      const use = useOf(reading.containers);
      if (use === null)
        return err(failure("mitigation.no-sample", `no container of ${reading.service} has a sample`, { retry: true }));
      return ok({
        values: encodeMitigation({
          sloMaintenance: reading.sloMaintenance,
          workloadChange: reading.workloadChange,
          composition: reading.composition,
          use,
        }),
        memory: null,
        move: moveOf(reading, use, actions),
        use,
        standing: reading.standing,
        load: reading.offered ?? 0,
        nearness: reading.sloMaintenance < 1 ? 1 / reading.sloMaintenance : reading.nearness,
      });
    },
    decode: (action, { move }) => decodeMitigation(action, move).setting,
    encodeSetting: (setting, { move }) => encodeLimits(setting, move),
    reward: ({ move, use }) => mitigationGain({ sloMaintenance: move.sloMaintenance, use }, alpha),
    isMissed: ({ move }) => move.sloMaintenance < 1,
    nearness: ({ nearness }) => nearness,
    loadOf: ({ load }) => load,
    givesLess,
    costOf: coresOf,
    alone: { reading: readingAsIf, after: aloneAfter, found: (_, have) => have },
    shield,
  };
}

/**
 * The dissertation's reward less what a kept SLO earns: the same policies are best, a critic that begins at 0 has not to
 * climb to 4 first, and shares of a level mean something.
 */
export const mitigationGain = (input: Parameters<typeof mitigationReward>[0], alpha: number = usualAlpha): number =>
  mitigationReward(input, alpha) - alpha * resources.length;

/** The most that an episode can earn: every limit all used, and every SLO kept. */
export const mostGain = ({ episodeSteps }: Pick<MitigationTask, "episodeSteps">, alpha: number = usualAlpha): number =>
  episodeSteps * (1 - alpha) * resources.length;

function moveOf(reading: ServiceReading, use: MitigationSeen["use"], kind: MitigationActions): MitigationMove {
  const { containers, used, deployed, room, autoscaled, sloMaintenance, standing } = reading;
  const [first] = containers;
  if (first === undefined) throw new RangeError("a reading without a container was parsed");
  const { lower, upper, threads } = first;
  const limits = amounts((resource) => Math.max(...containers.map((one) => one.limits[resource])));
  const { replicas } = autoscaled.spec;
  const move = { kind, lower, upper, threads, limits, use, used, deployed, room, replicas, sloMaintenance };
  return standing.kind === "pressed" ? { ...move, lacking: standing.lacking } : move;
}

const coresOf = ({ replicas, cpu }: ServiceSetting): number => replicas * cpu;

/** Of anything, over all containers. */
const givesLess = (one: ServiceSetting, than: ServiceSetting): boolean =>
  resources.some((resource) => one.replicas * one[resource] < than.replicas * than[resource]);

const WAITS: readonly Reason[] = Object.freeze([{ by: "shield", rule: "not-its-turn" }]);
const NOTHING: readonly Reason[] = Object.freeze([]);

/**
 * A policy is asked every second and heard when triage says so: about those who are to blame or pressed at once, about the
 * others by turns, or all limits would be rewritten every second. That nothing is taken from whom requests wait for, and
 * nothing below what was deployed where no counter would tell, is part of what an action means (action.ts): training and
 * serving go by the same.
 */
const shield: Shield<ServiceReading, ServiceSetting, MitigationSeen> = {
  shape: ({ action, seen, have }) =>
    seen.standing.kind === "waiting"
      ? { setting: have, changed: WAITS }
      : { setting: decodeMitigation(action, seen.move).setting, changed: NOTHING },
  // Upper limits and the room on nodes bound every wish, and where the fallback misses the SLO a band would prolong that.
  hasCeiling: true,
  noise: { limit: 0.3, upwards: resources.map(() => true) },
  isNear: ({ move, nearness }, usualNearness) =>
    move.sloMaintenance < 1 || nearness >= Math.max(NEAR, usualNearness * 1.5),
};

/** Of an SLO: from here on nobody tries out less. */
const NEAR = 0.9;
