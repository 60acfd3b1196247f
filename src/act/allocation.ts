/**
 * The setting of a workload that runs as equal copies: how many there are, and what each may use.
 * Owns: the type. Simulated clusters, fallbacks and the pods task speak of it; guard and loop do not.
 */
import type { Bytes, Millicores } from "../base/index.ts";

/** CPU and memory are limits of one replica. */
export type Allocation = {
  readonly replicas: number;
  readonly cpu: Millicores;
  readonly memory: Bytes;
};

export type Dimension = keyof Allocation;
export const dimensions: readonly Dimension[] = ["replicas", "cpu", "memory"];
