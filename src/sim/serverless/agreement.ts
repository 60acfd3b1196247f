/**
 * Whether the two rungs of the serverless world agree: one condition, run in both.
 * Owns: what a condition is and what is measured in it. Not here: which are compared, and what is claimed of them.
 */
import { milliseconds, seconds, type WorkloadId } from "../../base/index.ts";
import { type FunctionName, functionProfiles } from "./functions.ts";
import { localInvokers } from "./invokers.ts";
import type { InvocationPattern } from "./patterns.ts";
import type { FunctionSpec, ServerlessOptions } from "./spec.ts";
import type { ServerlessWorld } from "./world.ts";

export interface ServerlessCell {
  readonly name: FunctionName;
  readonly containers: number;
  /** Calls that come, over what the containers can do alone; above 1 is overload. */
  readonly utilisation: number;
  /** Cores of the one machine that others keep busy, as a part of them. */
  readonly contention: number;
  /** The rate changes with each step of 10 s, uniformly from nothing to twice the mean; else it is flat. */
  readonly isBursty: boolean;
}

export interface ServerlessMeasurement {
  /** ms; null where hardly anybody is answered. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Of those that came: completed, and dropped or refused. */
  readonly answered: number;
  readonly dropped: number;
  /** Use over what is granted. */
  readonly cpu: number;
  readonly memory: number;
}

export interface MeasureServerlessOptions {
  readonly seed: number;
  /** Seconds that count, after the first twenty. */
  readonly span: number;
}

const WARMUP = 20;
const ANSWERED_ENOUGH = 0.05;
const CORES = 14;
const MEMORY = 2_048;
const [measured, neighbour] = ["measured" as WorkloadId, "neighbour" as WorkloadId];

export function measureServerlessCell(
  makeWorld: (options: ServerlessOptions) => ServerlessWorld,
  { name, containers, utilisation, contention, isBursty }: ServerlessCell,
  { seed, span }: MeasureServerlessOptions,
): ServerlessMeasurement {
  const profile = functionProfiles[name];
  const [machine] = localInvokers(1);
  if (machine === undefined) throw new RangeError("a cluster of one machine has none");
  // Half of a machine of the paper's, so that a few functions fill it.
  const { bandwidth, cache } = machine;
  const invoker = { ...machine, cores: CORES, bandwidth: bandwidth / 2, cache: cache / 2 };
  const rate = (utilisation * containers * 1_000) / (profile.io.time + profile.compute.time);
  const pattern: InvocationPattern = isBursty ? { kind: "poisson", most: 2 * rate } : { kind: "flat", rate };
  const own: FunctionSpec = { id: measured, profile, pattern, initial: { shares: 1_024, memory: MEMORY, containers } };
  const other = functionProfiles["page-rank"];
  const busy = Math.round(contention * CORES);
  const others: FunctionSpec = {
    id: neighbour,
    profile: other,
    // As many containers as cores it is to take, half again as many calls as they can do: always at work, as they are always late.
    pattern: { kind: "flat", rate: (1.5 * busy * 1_000) / other.compute.time },
    initial: { shares: 1_024, memory: MEMORY, containers: busy },
  };
  const functions = busy > 0 ? [own, others] : [own];
  const world = makeWorld({ seed, invokers: [invoker], functions, step: seconds(10) });
  world.advance(seconds(WARMUP));
  world.truth(measured);
  world.advance(milliseconds(1_000 * (WARMUP + span)));
  const truth = world.truth(measured);
  const arrived = Math.max(1, truth.arrived);
  const isTelling = truth.completed >= ANSWERED_ENOUGH * arrived;
  return {
    p50: isTelling ? truth.p50 : null,
    p99: isTelling ? truth.p99 : null,
    answered: truth.completed / arrived,
    dropped: (truth.dropped + truth.refused) / arrived,
    cpu: truth.cpuUsed / truth.cpuGranted,
    memory: truth.memoryUsed / truth.memoryGranted,
  };
}
