/**
 * One step of one managed workload as a document, and the sums of all steps, also as they are written down.
 * Owns: both. Not here: measuring (control's TaskView, a world's truth).
 */
import type { Setting } from "../act/index.ts";
import type { Account, Sample } from "../contract/index.ts";
import type { Measured } from "../control/index.ts";

/** What nothing has been added to yet; `sums` are the names that a task's view gives. */
export const emptyAccount = (sums: readonly string[]): Account => ({
  steps: 0,
  violations: 0,
  cost: 0,
  sums: Object.fromEntries(sums.map((name) => [name, 0])),
});

export function addTo(account: Account, { preservation, cost, sums }: Measured): Account {
  const before = account.sums;
  const added = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, (before[name] ?? 0) + value]));
  return {
    steps: account.steps + 1,
    violations: account.violations + (preservation !== null && preservation < 1 ? 1 : 0),
    cost: account.cost + cost,
    sums: { ...before, ...added },
  };
}

/** As files have it: one level, so that what an earlier version wrote is read as well. */
export interface WrittenAccount {
  readonly steps: number;
  readonly violations: number;
  readonly cost: number;
  readonly [sum: string]: number;
}

// What every account has comes last: a task's sum of the same name must not stand in for it.
export const writtenAccount = ({ steps, violations, cost, sums }: Account): WrittenAccount => ({
  ...sums,
  steps,
  violations,
  cost,
});

export function readAccount({ steps, violations, cost, ...sums }: WrittenAccount): Account {
  return { steps, violations, cost, sums };
}

export interface SampledStep {
  readonly measured: Measured;
  readonly have: Setting;
  /** Latency that a model expected for it, in milliseconds. */
  readonly expected: number | null;
}

export function sampleOf(at: number, { measured, have, expected }: SampledStep): Sample {
  const { load, latency, preservation, ready, use, reward, cost } = measured;
  return {
    at,
    load,
    latency,
    preservation,
    expected,
    ready,
    have,
    use,
    reward,
    cost,
  };
}
