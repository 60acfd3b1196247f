/** What the plane's thread and the main thread say to each other: plain data, so that it can be cloned. */
import type { Failure, Result } from "../../base/index.ts";
import type { Command, ManagedWorld, PlaneUpdate, Readiness } from "../../contract/index.ts";
import type { CommandAnswer, TrajectoryPage, TrajectoryQuery } from "../../plane/index.ts";
import type { WrittenTarget } from "../config/index.ts";
import type { KernelChoice } from "../kernels.ts";
import type { StoreChoice } from "../store/open-store.ts";
import type { TwinKind } from "./pod-rules.ts";
import type { DemoName } from "./wiring.ts";

/** How the plane is to be run. */
export interface PlaneSettings {
  readonly seed: number;
  /** null: as many as there were before, or the usual four. */
  readonly workloads: number | null;
  /** Of a user's settings file; without any the demonstration's own workloads. */
  readonly targets: readonly WrittenTarget[];
  /** Absent: pods. */
  readonly demo?: DemoName | undefined;
  /** Of functions: policies go on learning beside the loop. */
  readonly bootstrap?: boolean;
  /** Of a user's module; empty: the simulated cluster. */
  readonly world: string;
  /** null: as before, or the tuned rules. */
  readonly twin?: TwinKind | null;
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
  readonly store: StoreChoice;
  /** The user's own, by their absolute paths; each thread loads them. */
  readonly modules: readonly string[];
}

export type ToPlane =
  | { readonly kind: "command"; readonly id: number; readonly command: Command; readonly revision: number | null }
  | { readonly kind: "trajectories"; readonly id: number; readonly query: TrajectoryQuery }
  | { readonly kind: "stop" };

export type FromPlane =
  /** `past`: what was told before a restart, oldest first, as much of it as can be shown. */
  | {
      readonly kind: "ready";
      readonly world: Omit<ManagedWorld, "speed">;
      readonly past: readonly PlaneUpdate[];
    }
  | { readonly kind: "updates"; readonly updates: readonly PlaneUpdate[]; readonly speed: number }
  /** Whenever it is another than before; the first one comes before `ready`. */
  | { readonly kind: "readiness"; readonly readiness: Readiness }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Result<CommandAnswer | TrajectoryPage> }
  /** It could not begin, could not be saved, or broke; nothing follows. */
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "stopped"; readonly saved: Result<void> };
