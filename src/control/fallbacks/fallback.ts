/**
 * What every fallback of a workload looks like to a lifecycle, a loop and a study: readings in, a wish out.
 * Owns: the interface. Not here: the controllers (hpa-vpa-controller.ts, kpa-controller.ts), the guard their wishes pass.
 */
import type { Allocation } from "../../act/index.ts";
import type { Failure, Ms } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
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

export interface FallbackStep<S> {
  /** What is left out stays as it is. */
  readonly want: Partial<Allocation>;
  /** Which running pods take the new size now; absent: all of them. Pods that start later always have it. */
  readonly pods?: readonly string[];
  readonly reasons: readonly FallbackReason[];
  /** Why a part of it could not decide; its part of the wish is then what is there. */
  readonly failure?: Failure;
  /** Assumes that the wish was carried out. */
  readonly state: S;
}

export interface FallbackStart {
  /** Usage before the first reading, for controllers that remember. A VPA without it is not a fair opponent. */
  readonly history?: WarmHistory;
}

/** Pure: state is plain data, so it survives JSON; equal arguments give equal answers. */
export interface Fallback<S> {
  readonly name: string;
  start(options?: FallbackStart): S;
  step(state: S, reading: WorkloadReading, now: Ms): FallbackStep<S>;
}
