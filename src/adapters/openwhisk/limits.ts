/**
 * What OpenWhisk's limits are as a function's setting.
 * Owns: the translation both ways, what cannot be set, the bounds for whoever decides. Not here: requests.
 *
 * CPU: OpenWhisk has no limit of an action for it. Invokers start a container with cpu.shares in proportion to its memory
 * (ContainerPoolConfig.cpuShare), so shares are read, move with memory, and cannot be set.
 * Containers: `instances` is the most that the scheduler of OpenWhisk 2.0 starts for an action. It starts fewer when fewer are needed,
 * and none ahead of demand. Where it was never set, the namespace's limit of concurrent activations stands in for it.
 */
import * as z from "zod";
import type { Setting } from "../../act/index.ts";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { OpenWhiskTarget } from "./options.ts";

export type OpenWhiskSetting = Setting<"shares" | "memory" | "containers">;

export const ActionBody = z.object({
  exec: z.object({ kind: z.string() }),
  limits: z.object({ memory: z.int().positive(), instances: z.int().nonnegative().optional() }),
});

export const NamespaceLimitsBody = z.object({
  concurrentInvocations: z.int().nonnegative(),
  maxActionInstances: z.int().nonnegative().optional(),
  minActionMemory: z.int().positive().optional(),
  maxActionMemory: z.int().positive().optional(),
});

/** Docker's share of a whole core, and its least. */
const ALL_SHARES = 1_024;
const LEAST_SHARES = 2;

/** As the invoker works it out: as many containers of this memory as fit share 1,024. */
export function sharesOf(memory: number, invokerMemory: number): number {
  return Math.max(LEAST_SHARES, Math.floor(ALL_SHARES / Math.max(1, Math.floor(invokerMemory / memory))));
}

/** What a PUT has to say, and nothing that stays as it is; undefined where all stays. */
export interface WantedLimits {
  readonly memory?: number;
  readonly instances?: number;
}

const settable: readonly string[] = ["memory", "containers"];

export function limitsFor(
  set: Readonly<Partial<Record<string, number>>>,
  have: OpenWhiskSetting,
  { invokerMemory, hasScheduler }: Pick<OpenWhiskTarget, "invokerMemory" | "hasScheduler">,
): Result<WantedLimits | undefined> {
  const { memory = have.memory, containers = have.containers } = set;
  for (const name of Object.keys(set))
    if (name !== "shares" && !settable.includes(name)) return cannotSet(`OpenWhisk has no limit '${name}'`);
  if (!(Number.isInteger(memory) && memory > 0))
    return cannotSet(`${memory} MiB of memory are no whole number above 0`);
  if (!(Number.isInteger(containers) && containers >= 0))
    return cannotSet(`${containers} containers are no whole number from 0`);
  const shares = sharesOf(memory, invokerMemory);
  // Asking for what comes with the memory anyway is no contradiction.
  if (set.shares !== undefined && set.shares !== shares)
    return cannotSet(`CPU shares follow from memory, ${memory} MiB come with ${shares}; set memory alone`);
  if (containers !== have.containers && !hasScheduler)
    return cannotSet("without the scheduler of OpenWhisk 2.0 containers have no limit of their own");
  if (memory === have.memory && containers === have.containers) return ok(undefined);
  return ok({
    ...(memory === have.memory ? {} : { memory }),
    ...(containers === have.containers ? {} : { instances: containers }),
  });
}

const cannotSet = (what: string) => err(failure("functions.platform.knob", `nothing was set: ${what}`));

/** A knob's range as the functions task has it. */
interface KnobRange {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

export interface OpenWhiskBounds {
  readonly shares: KnobRange;
  readonly memory: KnobRange;
  readonly containers: KnobRange;
}

/** `whisk.memory` where the namespace does not say. */
const USUAL_MEMORY = { min: 128, max: 512 };
const MEMORY_STEP = 32;

/**
 * For policies and their guard. A step wider than the range is one that can never be made: shares always, containers where nobody
 * heeds their limit. A function without any container answers nobody, so the least is one.
 */
export function boundsOf(
  limits: z.infer<typeof NamespaceLimitsBody>,
  { hasScheduler }: Pick<OpenWhiskTarget, "hasScheduler">,
): OpenWhiskBounds {
  const most = Math.max(1, mostContainers(limits));
  return {
    shares: { min: LEAST_SHARES, max: ALL_SHARES, step: ALL_SHARES },
    memory: {
      min: limits.minActionMemory ?? USUAL_MEMORY.min,
      max: limits.maxActionMemory ?? USUAL_MEMORY.max,
      step: MEMORY_STEP,
    },
    containers: { min: 1, max: most, step: hasScheduler ? 1 : most },
  };
}

export const mostContainers = ({
  concurrentInvocations,
  maxActionInstances,
}: z.infer<typeof NamespaceLimitsBody>): number => maxActionInstances ?? concurrentInvocations;
