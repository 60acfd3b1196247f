/**
 * What a workload's requests need, whoever serves them: the yardstick of a policy's actions.
 * Owns: the demand after a reading, and what has to be remembered for it. Not here: how much more than it is given
 * (autoscale-action.ts).
 *
 * Both figures look back, CPU for minutes and memory for days: a limit right at what is used now is too small a moment
 * later, and a policy would have to learn that before anything else.
 */
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";

export interface Demand {
  /** Millicores that all pods together used, the most of the last readings. */
  readonly cores: number;
  /** Bytes that one pod used or was killed for, the most of the last days. */
  readonly memory: number;
}

/** Plain data: it is saved with an agent. */
export interface DemandMemory {
  /** Millicores in the last readings, oldest first. */
  readonly cores: readonly number[];
  readonly peak: number;
}

export const noDemand: DemandMemory = Object.freeze({ cores: [], peak: 0 });

/** Two minutes of steps of 15 s: as long as a burst that was just served may well come again. */
const READINGS = 8;
/**
 * A peak of memory is forgotten by half in three days of steps of 15 s. The next one may come with the next day: a fifth
 * is forgotten by then, which the shield's margin makes up for.
 */
const PEAK_DECAY = 0.5 ** (1 / 17_280);
/** A pod that was killed needed more than it had; the VPA adds a fifth, too. */
const AFTER_KILL = 1.2;

/** `use`: CPU over limit, over the pods that are ready, as measured now or last. */
export function demandAfter({ cores, peak }: DemandMemory, reading: WorkloadReading, use: number): DemandMemory {
  let limits = 0;
  let hottest = PEAK_DECAY * peak;
  for (const { readyAt, cpuLimit, memory } of reading.pods) {
    if (readyAt !== null) limits += cpuLimit;
    if (memory !== null && memory > hottest) hottest = memory;
  }
  for (const { memoryLimit } of reading.ooms) hottest = Math.max(hottest, AFTER_KILL * memoryLimit);
  // Where nothing runs nothing is used, and that says nothing about what is needed.
  if (limits === 0) return { cores, peak: hottest };
  return { cores: withNewest(cores, use * limits), peak: hottest };
}

/** A full list moves up by one place. Copied once and in place: this is passed in every step of every agent. */
function withNewest(cores: readonly number[], newest: number): readonly number[] {
  if (cores.length < READINGS) return [...cores, newest];
  const next = cores.slice(cores.length - READINGS);
  for (let i = 1; i < READINGS; i++) next[i - 1] = next[i] ?? 0;
  next[READINGS - 1] = newest;
  return next;
}

export function demandOf({ cores, peak }: DemandMemory): Demand {
  let most = 0;
  for (const used of cores) if (used > most) most = used;
  return { cores: most, memory: peak };
}
