/**
 * Pod autoscaling as the contract has it: what agents, loops and training know of it.
 * Owns: putting the parts of this folder together. Not here: the parts (observation.ts, action.ts, reward.ts, shield.ts,
 * as-if-alone.ts), what defines the task for one workload (autoscale.ts).
 */
import type { Allocation } from "../../../act/index.ts";
import type { Ms } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import { parseReading } from "../../../observe/telemetry/index.ts";
import type { LaggardContext, Task } from "../../index.ts";
import { actionOrder, decodeAction, encodeAction } from "./action.ts";
import { aloneAfter, readingAsIf, sizesThereAre } from "./as-if-alone.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import { podsAdvisor } from "./calibration/advisor.ts";
import type { LoadHistory } from "./capacity/minutes.ts";
import { centreOf, plannerOf, withModel } from "./modelled.ts";
import { costReward } from "./objective.ts";
import type { Observation, ObservationMemory } from "./observation.ts";
import { encodeObservation, freshObservationMemory, observationSpace } from "./observation.ts";
import { rateOf, ratesAt, ratesByHour } from "./rates.ts";
import { decodeResidual, encodeResidual, residualOrder } from "./residual.ts";
import { reward } from "./reward.ts";
import type { ShieldOptions } from "./shield.ts";
import { coresOf, defaultShield, nearness, podShield } from "./shield.ts";

export type PodsTask = Task<WorkloadReading, Allocation, Observation>;

export interface PodsTaskOptions {
  /** `noShield` is the paper's. */
  readonly shield?: ShieldOptions;
  /** Loads from before the agent began, for its capacity model's forecasters; absent: none are known. */
  readonly history?: LoadHistory;
}

/** The words by which models for the task are named, so that multiples are never taken for limits. */
export const podsTaskName = ({ features, actions }: Pick<AutoscaleTask, "features" | "actions">): string =>
  `autoscaling, ${features} features, actions as ${actions}`;

/**
 * The task as a model was trained for it: one for the paper's reward may have learned to set limits, which a profile does not
 * ask for. Anything else stays as it is, and is refused by its name where agents begin.
 */
export function taskForModel(task: AutoscaleTask, modelled: string | undefined): AutoscaleTask {
  const inLimits: AutoscaleTask = { ...task, actions: "limits" };
  return task.objective === "paper" && modelled === podsTaskName(inLimits) ? inLimits : task;
}

export const actionSizeOf = ({ actions }: Pick<AutoscaleTask, "actions">): number =>
  actions === "residual" ? residualOrder.length : actionOrder.length;

export function podsTask(settings: AutoscaleTask, options: PodsTaskOptions = {}): PodsTask {
  const task = plainTask(settings, options);
  return settings.actions === "residual" ? steered(task, settings, options) : task;
}

/** The same, acting around the plan of the capacity model. It needs no shield: what an action can mean is what may be done. */
function steered({ shield: _, ...task }: PodsTask, settings: AutoscaleTask, { history }: PodsTaskOptions): PodsTask {
  const planner = plannerOf(settings, history);
  return {
    ...task,
    encode(reading, { memory, now, reach }) {
      const seen = encodeObservation(settings, reading, { memory: memory as ObservationMemory, now });
      if (!seen.ok) return seen;
      const { calibration } = memory as ObservationMemory;
      const portfolio = settings.portfolio
        ? { calibration, bounds: settings.bounds, budget: 1 - settings.attainment }
        : undefined;
      return withModel(planner, { seen: seen.value, reading }, { now, reach, portfolio });
    },
    decode(action, seen) {
      const centre = centreOf(planner, settings, seen);
      return centre ? decodeResidual(action, centre) : NOTHING;
    },
    encodeSetting(setting, seen) {
      const centre = centreOf(planner, settings, seen);
      return centre ? encodeResidual(setting, centre) : new Float32Array(residualOrder.length);
    },
    isReady: ({ modelled }) => modelled?.plan != null,
    // Only where there is more to try.
    isFailing: ({ modelled }) =>
      modelled?.plan != null &&
      coresOf(modelled.plan.setting) > coresOf(modelled.have) &&
      planner.isUncured(modelled.memory),
    reasons({ modelled }) {
      if (!modelled?.plan) return [];
      const rule = { by: "capacity", rule: modelled.plan.rule };
      return modelled.by === "prior" ? [rule, { by: "portfolio", rule: "prior" }] : [rule];
    },
    ...(settings.portfolio ? { advisor: podsAdvisor(settings) } : {}),
    expectedNearness({ replicas, cpu }, { modelled }) {
      if (!modelled?.plan) return null;
      const { load } = modelled.plan;
      return load > 0 ? Math.exp(planner.strainOf(modelled.memory, { replicas, cpu, load })) : null;
    },
  };
}

/** No action has a meaning yet; the guard refuses it, should anybody ask. */
const NOTHING = { replicas: Number.NaN, cpu: Number.NaN, memory: Number.NaN } as Allocation;

function plainTask(settings: AutoscaleTask, { shield = defaultShield }: PodsTaskOptions): PodsTask {
  const rates = ratesByHour(settings);
  return {
    name: podsTaskName(settings),
    controlStep: settings.controlStep,
    episodeSteps: settings.episodeSteps,
    observationSize: observationSpace(settings).size,
    actionSize: actionSizeOf(settings),
    freshMemory: freshObservationMemory,
    parse: parseReading,
    encode: (reading, { memory, now }) =>
      encodeObservation(settings, reading, { memory: memory as ObservationMemory, now }),
    decode: (action, { demand }) => decodeAction(settings, action, demand),
    encodeSetting: (allocation, { demand }) => encodeAction(settings, allocation, demand),
    reward({ at, measures, harmed }, { setting, previous, fallback = previous }) {
      if (settings.objective === "paper") return reward(settings, { measures, allocation: setting, previous });
      const isMissed = measures.preservation < 1;
      return costReward({ setting, previous, fallback, isMissed, kills: harmed, rates: ratesAt(rates, at) });
    },
    isMissed: ({ measures }) => measures.preservation < 1,
    nearness,
    loadOf: ({ measures }) => measures.load,
    givesLess: (one, than) => coresOf(one) < coresOf(than) || one.memory < than.memory,
    costOf: (setting, { at }) => rateOf(setting, ratesAt(rates, at)),
    shortfall: (given, fallback) => ({
      // Smaller pods are slower ones, however many there are.
      felt: coresOf(given) < coresOf(fallback) || given.cpu < fallback.cpu,
      // Less memory does nothing until a pod is killed for it.
      latent: given.memory < fallback.memory,
    }),
    isHarmed: ({ ooms }) => ooms.length > 0,
    laggards,
    alone: { reading: readingAsIf, after: aloneAfter, found: sizesThereAre },
    shield: podShield(settings, shield),
  };
}

/** Pods that have not got the size yet, because the fallback let them wait; the size is meant for all of them. */
function laggards(
  want: Allocation,
  { reading, have, changedAt }: LaggardContext<WorkloadReading, Allocation>,
): readonly string[] | undefined {
  if (want.cpu !== have.cpu || want.memory !== have.memory) return undefined;
  // A reading from before the last resize would call every pod a laggard.
  if (Math.max(changedAt.cpu ?? NEVER, changedAt.memory ?? NEVER) >= reading.at) return undefined;
  const late = reading.pods.filter(({ cpuLimit, memoryLimit }) => cpuLimit !== want.cpu || memoryLimit !== want.memory);
  return late.length === 0 ? undefined : late.map(({ pod }) => pod);
}

const NEVER = 0 as Ms;
