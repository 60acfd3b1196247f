/**
 * What happened to a function between two looks, as its callers lived it.
 * Owns: the difference between two looks. Not here: the counts (ledger.ts, containers.ts).
 */
import type { Ms } from "../../base/index.ts";
import { milliseconds } from "../../base/index.ts";
import { quantileOf } from "../cluster/metrics/select.ts";
import type { HostedFunction } from "./hosted.ts";
import type { FunctionTruth } from "./world.ts";

const counted = ["arrived", "completed", "killed", "dropped", "refused", "late", "cold"] as const;
const integrated = ["cpuUsed", "cpuGranted", "memoryUsed", "memoryGranted", "containerTime"] as const;
type Totals = { readonly [K in (typeof counted)[number] | (typeof integrated)[number]]: number };

/** What the next look starts from. */
export interface Looked extends Totals {
  readonly at: number;
}

export function truthOf(
  { ledger, owner, waiting, running }: HostedFunction,
  { now, start }: { readonly now: number; readonly start: number },
  last?: Looked,
): { readonly looked: Looked; readonly truth: FunctionTruth } {
  const totals = Object.fromEntries([
    ...counted.map((name) => [name, ledger[name]]),
    ...integrated.map((name) => [name, owner[name]]),
  ]) as Totals;
  const since = (name: keyof Totals): number => totals[name] - (last?.[name] ?? 0);
  const latencies = ledger.takeLatencies();
  const scratch = latencies.slice();
  const at = (quantile: number): Ms | null => {
    const found = quantileOf(scratch, scratch.length, quantile);
    return found === null ? null : milliseconds(found);
  };
  const sum = latencies.reduce((total, latency) => total + latency, 0);
  return {
    looked: { at: now, ...totals },
    truth: {
      from: milliseconds(start + (last?.at ?? 0)),
      to: milliseconds(start + now),
      arrived: since("arrived"),
      completed: since("completed"),
      killed: since("killed"),
      dropped: since("dropped"),
      refused: since("refused"),
      inFlight: waiting + running,
      p50: at(0.5),
      p99: at(0.99),
      mean: latencies.length > 0 ? milliseconds(sum / latencies.length) : null,
      latencies,
      late: since("late"),
      coldStarts: since("cold"),
      cpuUsed: since("cpuUsed") / 1_000,
      cpuGranted: since("cpuGranted") / 1_000,
      memoryUsed: since("memoryUsed") / 1_000,
      memoryGranted: since("memoryGranted") / 1_000,
      containerSeconds: since("containerTime") / 1_000,
    },
  };
}
