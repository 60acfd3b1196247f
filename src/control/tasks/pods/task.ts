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
import type { Observation, ObservationMemory } from "./observation.ts";
import { encodeObservation, freshObservationMemory, observationSpace } from "./observation.ts";
import { reward } from "./reward.ts";
import type { ShieldOptions } from "./shield.ts";
import { coresOf, defaultShield, nearness, podShield } from "./shield.ts";

export type PodsTask = Task<WorkloadReading, Allocation, Observation>;

export interface PodsTaskOptions {
  /** `noShield` is the paper's. */
  readonly shield?: ShieldOptions;
}

/** The words by which models for the task are named, so that multiples are never taken for limits. */
export const podsTaskName = ({ features, actions }: Pick<AutoscaleTask, "features" | "actions">): string =>
  `autoscaling, ${features} features, actions as ${actions}`;

/** Dollars for an hour of a core and of a GiB are about seven to one at public prices; only the ratio matters here. */
const CORE = 7;
const GIB = 2 ** 30;

export function podsTask(settings: AutoscaleTask, { shield = defaultShield }: PodsTaskOptions = {}): PodsTask {
  return {
    name: podsTaskName(settings),
    controlStep: settings.controlStep,
    episodeSteps: settings.episodeSteps,
    observationSize: observationSpace(settings).size,
    actionSize: actionOrder.length,
    freshMemory: freshObservationMemory,
    parse: parseReading,
    encode: (reading, { memory, now }) =>
      encodeObservation(settings, reading, { memory: memory as ObservationMemory, now }),
    decode: (action, { demand }) => decodeAction(settings, action, demand),
    encodeSetting: (allocation, { demand }) => encodeAction(settings, allocation, demand),
    reward: ({ measures }, { setting, previous }) => reward(settings, { measures, allocation: setting, previous }),
    isMissed: ({ measures }) => measures.preservation < 1,
    nearness,
    loadOf: ({ measures }) => measures.load,
    givesLess: (one, than) => coresOf(one) < coresOf(than) || one.memory < than.memory,
    costOf: ({ replicas, cpu, memory }) => replicas * ((CORE * cpu) / 1_000 + memory / GIB),
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
