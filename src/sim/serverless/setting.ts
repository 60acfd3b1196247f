/**
 * What a function's controller sets.
 * Owns: the type, and the check that a setting can be asked for. Not here: what it does (pool.ts, contention.ts, work.ts).
 */
import { settingBounds } from "./calibration.ts";

/** cpu.shares and MiB for each container, and how many of them. */
export type FunctionSetting = {
  readonly shares: number;
  readonly memory: number;
  readonly containers: number;
};

/** The end of a sentence about a function; undefined where a setting can be asked for. */
export function settingProblem({ shares, memory, containers }: FunctionSetting): string | undefined {
  const within = (value: number, { min, max }: { readonly min: number; readonly max: number }): boolean =>
    value >= min && value <= max;
  if (!within(shares, settingBounds.shares)) return `cannot have ${shares} CPU shares: give 128 to 2,048`;
  if (!within(memory, settingBounds.memory)) return `cannot have ${memory} MiB: give 32 to 2,048`;
  if (!(Number.isInteger(containers) && within(containers, settingBounds.containers)))
    return `cannot have ${containers} containers: give a whole number from 0 to 1,000`;
  return undefined;
}
