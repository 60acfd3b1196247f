/**
 * What really happened to one workload, between two looks.
 * Owns: differences of totals. For scoring only; no controller sees it.
 */
import { milliseconds } from "../../../base/index.ts";
import { latencyAllowed, sloQuantile } from "../../../observe/telemetry/index.ts";
import { costOf } from "../pricing.ts";
import type { WorkloadTruth } from "../world.ts";
import type { Deployment } from "./deployment.ts";

interface Totals {
  readonly at: number;
  readonly arrived: number;
  readonly completed: number;
  readonly timedOut: number;
  readonly dropped: number;
  readonly lost: number;
  /** Core-seconds and byte-seconds. */
  readonly cpuUsed: number;
  readonly cpuLimit: number;
  readonly memoryUsed: number;
  readonly memoryLimit: number;
  readonly oomKills: number;
  readonly podsStarted: number;
  readonly podsStopped: number;
  readonly disruptions: number;
}

function totalsOf(deployment: Deployment, now: number): Totals {
  for (const pod of deployment.pods) pod.cpu.advance(now);
  deployment.settleHeld(now);
  deployment.settleUsed(now);
  const { arrived, completed, timedOut, dropped, lost, oomKills, podsStarted, podsStopped, disruptions } = deployment;
  return {
    at: now,
    arrived,
    completed,
    timedOut,
    dropped,
    lost,
    oomKills,
    podsStarted,
    podsStopped,
    disruptions,
    cpuUsed: deployment.cpuUsed() / 1_000,
    cpuLimit: deployment.millicoreMs / 1_000_000,
    memoryUsed: deployment.usedByteMs / 1_000,
    memoryLimit: deployment.byteMs / 1_000,
  };
}

export class TruthKeeper {
  readonly #deployment: Deployment;
  readonly #start: number;
  #last: Totals;

  constructor(deployment: Deployment, start: number) {
    this.#deployment = deployment;
    this.#start = start;
    this.#last = totalsOf(deployment, 0);
  }

  sinceLast(now: number, inFlight: number): WorkloadTruth {
    const { outcomes, spec } = this.#deployment;
    const before = this.#last;
    const after = totalsOf(this.#deployment, now);
    this.#last = after;
    // Sums over pods round differently once one of them is gone; totals never shrink.
    const grown = (what: Exclude<keyof Totals, "at">): number => Math.max(0, after[what] - before[what]);
    const latency = outcomes.latencyOfAnswered(now, sloQuantile(spec.slo));
    return {
      from: milliseconds(this.#start + before.at),
      to: milliseconds(this.#start + now),
      arrived: grown("arrived"),
      completed: grown("completed"),
      timedOut: grown("timedOut"),
      dropped: grown("dropped"),
      lost: grown("lost"),
      inFlight,
      latency: latency === null ? null : milliseconds(latency),
      withinSlo: outcomes.shareWithin(now, latencyAllowed(spec.slo)),
      cpuUsed: grown("cpuUsed"),
      cpuLimit: grown("cpuLimit"),
      memoryUsed: grown("memoryUsed"),
      memoryLimit: grown("memoryLimit"),
      oomKills: grown("oomKills"),
      podsStarted: grown("podsStarted"),
      podsStopped: grown("podsStopped"),
      cost: costOf({
        coreSeconds: grown("cpuLimit"),
        byteSeconds: grown("memoryLimit"),
        disruptions: grown("disruptions"),
      }),
    };
  }
}
