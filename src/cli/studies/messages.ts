/** What the runner and its worker threads tell each other. A job is a name: functions can not cross threads. */

import type { Failure } from "../../base/index.ts";
import type { KernelChoice } from "../kernels.ts";

export interface JobName {
  readonly studyId: string;
  readonly seed: number;
  readonly unit: string;
  readonly config: unknown;
}

export interface WorkerSetup {
  /** Files that export further studies. */
  readonly modules: readonly string[];
  readonly kernels: KernelChoice;
}

export type ToWorker = { readonly kind: "run"; readonly job: JobName } | { readonly kind: "stop" };

export type FromWorker =
  | { readonly kind: "progress"; readonly fraction: number }
  | { readonly kind: "done"; readonly result: unknown; readonly seconds: number }
  | { readonly kind: "failed"; readonly failure: Omit<Failure, "cause"> };
