/**
 * What a function is bound by, told by what slows it down: the categories whose agents share a base model (SIMPPO, section 6:
 * "based on their sensitivity to the allocation of each type of resource").
 * Owns: the arithmetic from records to categories. Not here: how a function is disturbed, which is for whoever has the platform.
 *
 * A function is measured in quiet, and beside neighbours that press on one resource alone: cores, memory traffic, input and output.
 * Almost all of them need a core, so which resource slows a function down the most says little. What counts is by how much more
 * than it slows down the others: a category is where a function is furthest above what is usual. Neighbours must want clearly more
 * of their resource than there is: what is not short slows nobody down, and all would count as bound by their core.
 */
import { err, failure, ok, type Result } from "../../base/index.ts";

export const resourceKinds = ["cpu", "memory", "io"] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** Execution times of activations, ms, under a pressure in any unit that is the same for all functions. */
export interface Disturbed {
  readonly times: readonly number[];
  readonly pressure: number;
}

export type SensitivityRecords = { readonly quiet: readonly number[] } & { readonly [K in ResourceKind]: Disturbed };

/** By how much of its quiet time a call takes longer, per unit of pressure. */
export type Sensitivity = { readonly [K in ResourceKind]: number };

/** Medians of fewer calls than this are chance. */
const FEWEST = 20;
/** A call that takes less than this longer is as it was. */
const NOISE = 0.05;

export function sensitivityOf(records: SensitivityRecords): Result<Sensitivity> {
  const fewest = Math.min(records.quiet.length, ...resourceKinds.map((kind) => records[kind].times.length));
  if (fewest < FEWEST)
    return err(
      failure("agents.too-few-records", `${fewest} calls say nothing about a function: measure ${FEWEST} or more`, {
        retry: true,
      }),
    );
  const quiet = median(records.quiet);
  const of = ({ times, pressure }: Disturbed): number => {
    const longer = median(times) / quiet - 1;
    return longer < NOISE ? 0 : longer / pressure;
  };
  const sensitivity = { cpu: of(records.cpu), memory: of(records.memory), io: of(records.io) };
  if (resourceKinds.some((kind) => !Number.isFinite(sensitivity[kind])))
    return err(failure("agents.not-measured", "times or pressures are 0 or no numbers: measure the function again"));
  return ok(sensitivity);
}

/** The mean of all: what categories are told against. Keep it for functions that come later. */
export function usualSensitivity(all: readonly Sensitivity[]): Sensitivity {
  const mean = (kind: ResourceKind) => all.reduce((sum, one) => sum + one[kind], 0) / Math.max(1, all.length);
  return { cpu: mean("cpu"), memory: mean("memory"), io: mean("io") };
}

/** `cpu` where nothing slows it down: it is what every function needs. */
export function kindBySensitivity(one: Sensitivity, usual: Sensitivity): ResourceKind {
  const above = (kind: ResourceKind): number => (usual[kind] > 0 ? one[kind] / usual[kind] : 0);
  return resourceKinds.reduce((most, kind) => (above(kind) > above(most) ? kind : most));
}

/** As the training of a fleet takes them; a function that was not measured counts as bound by its core. */
export function groupsBySensitivity(
  measured: ReadonlyMap<string, Sensitivity>,
  usual: Sensitivity = usualSensitivity([...measured.values()]),
): { readonly names: readonly ResourceKind[]; readonly of: (workload: string) => ResourceKind } {
  return {
    names: resourceKinds,
    of: (workload) => {
      const one = measured.get(workload);
      return one === undefined ? "cpu" : kindBySensitivity(one, usual);
    },
  };
}

/**
 * Groups of members that are measured as they come: the first of them say what is usual, and whoever joins later is told against
 * that, so that nobody's group depends on who joined since. One that cannot be measured counts as bound by its core.
 */
export function groupsByMeasuring<W extends string>(
  first: readonly W[],
  measure: (workload: W) => Sensitivity | undefined,
): { readonly names: readonly ResourceKind[]; readonly of: (workload: W) => ResourceKind } {
  const measured = new Map<string, Sensitivity>();
  const look = (workload: W): void => {
    const one = measured.has(workload) ? undefined : measure(workload);
    if (one !== undefined) measured.set(workload, one);
  };
  for (const workload of first) look(workload);
  const groups = groupsBySensitivity(measured, usualSensitivity([...measured.values()]));
  return {
    names: groups.names,
    of: (workload) => {
      look(workload);
      return groups.of(workload);
    },
  };
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = sorted[half] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2;
}
