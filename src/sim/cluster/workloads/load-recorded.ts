/**
 * Recorded loads for studies.
 * Owns: which records are fit for it, their division into high and low, their scale. Not here: reading them
 * (adapters/datasets), cutting them to what a cluster serves (study-load.ts).
 */
import { seededRng } from "../../../base/index.ts";
import { studyCapacity } from "./calibration.ts";
import { type Load, loadFromCounts, scaleLoad } from "./load.ts";
import { withinLog } from "./load-shapes.ts";

/** Calls a minute below which a recorded load is mostly chance: scaled up, its counts would be swings of the rate. */
const FEWEST_PER_MINUTE = 10;

export interface RecordedOptions {
  /**
   * Scales every load to a mean drawn, with this seed, from the range of its level for studies. Without it rates are as
   * recorded: 1.2 to 14 requests/s for the high loads of azure-functions-2019, and less for the low ones.
   */
  readonly studySeed?: number;
}

/** Loads of recorded counts by level; records of less than ten requests a minute are left out. */
export function recordedLoads(
  records: readonly { readonly id: string; readonly counts: ArrayLike<number> }[],
  { studySeed }: RecordedOptions = {},
): Readonly<Record<Load["level"], readonly Load[]>> {
  const loads = records
    .filter(({ counts }) => sumOf(counts) >= FEWEST_PER_MINUTE * counts.length)
    .map(({ id, counts }) => {
      const load = loadFromCounts(counts, { id });
      if (studySeed === undefined) return load;
      const rng = seededRng(studySeed).fork("recorded").fork(id);
      return scaleLoad(load, withinLog(rng, studyCapacity[load.level]));
    });
  return {
    high: loads.filter(({ level }) => level === "high"),
    low: loads.filter(({ level }) => level === "low"),
  };
}

function sumOf(counts: ArrayLike<number>): number {
  return Array.from(counts).reduce((sum, count) => sum + count, 0);
}
