/**
 * A load-indexed prior: pods and cores for the load that was there lately, or at the same time yesterday.
 *
 *   cores = max(n · b, load · CPU per request / u + n · s)     in n pods, or as many more as the largest pods need
 *
 * Owns: the form, and its plan for a reading. Pure. Not here: searching n, b, u, s and how far it looks back (search.ts).
 */
import type { Allocation } from "../../../../act/index.ts";
import type { Ms } from "../../../../base/index.ts";
import { bytes, millicores } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import { workPerRequest } from "../capacity/conditions.ts";
import type { LoadMemory } from "../capacity/forecast.ts";
import { mostLately } from "../capacity/forecast.ts";
import { GRAIN, loadIn, MINUTE } from "../capacity/minutes.ts";
import type { CapacityMemory, CapacityPlan, CapacityPlanner } from "../capacity/planner.ts";
import type { PodBounds } from "../limits.ts";

/** Plain data: it is saved. */
export interface Prior {
  /** Pods at least, and millicores of each at least. */
  readonly pods: number;
  readonly size: number;
  /** CPU that requests use, over what there is. */
  readonly utilisation: number;
  /** Millicores of each that requests leave over. */
  readonly spare: number;
  /** Minutes whose highest load counts. */
  readonly lookBack: LookBack;
  /** Whether the same minutes of the day before count, too; silence then is relied on. */
  readonly yesterday: boolean;
}

export const lookBacks = [1, 2, 5, 15, 60, 180] as const;
export type LookBack = (typeof lookBacks)[number];

const DAY_MINUTES = 1_440;
/** Minutes of yesterday that count: the one before, this one and the next two, for nothing comes to the minute. */
export const AROUND = { before: 1, after: 2 } as const;
/** Where silence is relied on. */
export const IDLE = 0.25;
/** Closer than this is no change: a resize is not free. */
export const NEAR = 0.04;

/** The most around this minute a day ago, in requests per second; undefined where nobody looked. */
export function loadYesterday({ minutes }: LoadMemory, now: Ms): number | undefined {
  const minute = Math.floor(now / MINUTE) - DAY_MINUTES;
  let most: number | undefined;
  for (let at = minute - AROUND.before; at <= minute + AROUND.after; at++) {
    const load = loadIn(minutes, at);
    if (load >= 0) most = Math.max(most ?? 0, load / GRAIN);
  }
  return most;
}

/** The millicores of a pod and how many pods, for so much CPU that requests use. */
export function sizeOf(prior: Prior, used: number, most: number): { readonly pods: number; readonly size: number } {
  const { utilisation, spare } = prior;
  // A pod that is as large as may be leaves so much for requests.
  const pods = Math.max(prior.pods, Math.ceil(used / utilisation / Math.max(most - spare, 1) - 1e-9));
  return { pods, size: Math.max(prior.size, used / utilisation / pods + spare) };
}

interface Asked {
  readonly memory: CapacityMemory;
  readonly reading: WorkloadReading;
  readonly now: Ms;
  readonly bounds: PodBounds;
  /** Says what comes of it. */
  readonly planner: Pick<CapacityPlanner, "outlook">;
  /** What the planner would do: its memory per pod is the prior's, too. */
  readonly plan: CapacityPlan;
}

export function priorPlan(prior: Prior, { memory, reading, now, bounds, planner, plan }: Asked): CapacityPlan {
  const lately = Math.max(reading.offered ?? 0, mostLately(memory.loads, now, prior.lookBack));
  const before = prior.yesterday ? loadYesterday(memory.loads, now) : undefined;
  const load = Math.max(lately, before ?? 0);
  const isIdle = load === 0 && before !== undefined;
  const { pods, size } = sizeOf(prior, load * workPerRequest(memory.conditions), bounds.cpu.max);
  const wanted = Math.min(Math.max(isIdle ? IDLE * size : size, bounds.cpu.min), bounds.cpu.max);
  const have = reading.spec.cpu;
  const rounded = Math.round(wanted / 10) * 10;
  const setting: Allocation = {
    replicas: Math.min(Math.max(pods, bounds.replicas.min), bounds.replicas.max),
    cpu: millicores(Math.abs(rounded - have) <= NEAR * have ? have : rounded),
    memory: bytes(plan.setting.memory),
  };
  const { strain, risk } = planner.outlook(memory, { replicas: setting.replicas, cpu: setting.cpu, load });
  const by = before === undefined ? `the last ${prior.lookBack} min` : `the last ${prior.lookBack} min and yesterday`;
  return { setting, rule: isIdle ? "idle" : "need", load, forecast: by, strain, risk };
}
