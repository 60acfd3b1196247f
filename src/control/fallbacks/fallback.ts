/**
 * The fallbacks of workloads that run as pods.
 * Owns: what they read and say. Not here: the contract of every fallback (control/fallback.ts), the controllers
 * (hpa-vpa-controller.ts, kpa-controller.ts).
 */
import type { Allocation } from "../../act/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Fallback, FallbackStep } from "../index.ts";
import type { HpaReason } from "./hpa/hpa.ts";
import type { KpaReason } from "./kpa/kpa.ts";
import type { LeftAlone } from "./vpa/update-order.ts";
import type { WarmHistory } from "./vpa/warm.ts";

export type FallbackReason =
  | { readonly by: "hpa"; readonly reason: HpaReason }
  | {
      readonly by: "vpa";
      readonly follow: readonly string[];
      readonly left: Readonly<Partial<Record<LeftAlone, number>>>;
    }
  | { readonly by: "kpa"; readonly reason: KpaReason };

export interface PodFallbackStep<F> extends FallbackStep<F, Allocation> {
  readonly reasons: readonly FallbackReason[];
}

export interface FallbackStart {
  /** Usage before the first reading, for controllers that remember. A VPA without it is not a fair opponent. */
  readonly history?: WarmHistory;
}

export interface PodFallback<F> extends Fallback<F, WorkloadReading, Allocation> {
  start(options?: FallbackStart): F;
  step(...args: Parameters<Fallback<F, WorkloadReading, Allocation>["step"]>): PodFallbackStep<F>;
}

/** One that begins with what was used before, whenever it begins. */
export const startingWith = <F>(fallback: PodFallback<F>, start: FallbackStart): PodFallback<F> => ({
  name: fallback.name,
  start: () => fallback.start(start),
  step: (state, reading, now) => fallback.step(state, reading, now),
});
