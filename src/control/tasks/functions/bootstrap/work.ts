/** A bootstrap as a job for whoever does it beside the loop. */
import type { Ms, WorkloadId } from "../../../../base/index.ts";
import type { FunctionBounds } from "../action.ts";
import type { RewardForm } from "../reward.ts";
import type { FunctionRecords } from "./records.ts";

/** Plain data: it crosses threads. */
export interface BootstrapWork {
  readonly records: FunctionRecords;
  readonly workload: WorkloadId;
  readonly slo: Ms;
  readonly step: Ms;
  readonly bounds: FunctionBounds;
  readonly seed: number;
  readonly reward: RewardForm;
  readonly episodes: number;
  /** What acts now; at first the base model of its kind of function. */
  readonly policy: Uint8Array;
}
