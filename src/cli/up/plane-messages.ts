/** What the plane's thread and the main thread say to each other: plain data, so that it can be cloned. */
import type { Failure, Result } from "../../base/index.ts";
import type { Command, PlaneUpdate } from "../../server/index.ts";
import type { KernelChoice } from "../kernels.ts";
import type { CommandAnswer } from "./commands.ts";
import type { TrajectoryPage, TrajectoryQuery } from "./trajectories.ts";

/** How the plane is to be run. */
export interface PlaneSettings {
  readonly seed: number;
  /** null: as many as there were before, or the usual four. */
  readonly workloads: number | null;
  /** null: nothing is kept between runs. */
  readonly folder: string | null;
  /** How many times faster than the wall the world is to run, if the machine can. */
  readonly speed: number;
  /** World time at which a world without a past begins. */
  readonly start: number;
  readonly kernels: KernelChoice;
  readonly trainingThreads: number;
  /** The shared model that agents begin with, or the folder it lies in; null: they begin with nothing. */
  readonly sharedModel: string | null;
}

export type ToPlane =
  | { readonly kind: "command"; readonly id: number; readonly command: Command; readonly revision: number | null }
  | { readonly kind: "trajectories"; readonly id: number; readonly query: TrajectoryQuery }
  | { readonly kind: "stop" };

export type FromPlane =
  /** `past`: what was told before a restart, oldest first, as much of it as can be shown. */
  | { readonly kind: "ready"; readonly startedAt: number; readonly past: readonly PlaneUpdate[] }
  | { readonly kind: "updates"; readonly updates: readonly PlaneUpdate[]; readonly speed: number }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Result<CommandAnswer | TrajectoryPage> }
  /** It could not begin, could not be saved, or broke; nothing follows. */
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "stopped"; readonly saved: Result<void> };
