/**
 * A world with all that is managed in it, under a name: how a module brings tasks of its own to a plane.
 * Owns: the types. Not here: finding one by its name and loading modules (cli).
 */
import type { Setting } from "../act/index.ts";
import type { Ms, WorkloadId } from "../base/index.ts";
import type { Kernels } from "../learn/tensor/index.ts";
import type { Target } from "./target.ts";
import type { World } from "./world.ts";

export interface WorldEntry {
  /** The setting `world` names it. */
  readonly name: string;
  open(options: OpenWorldOptions): OpenedWorld | Promise<OpenedWorld>;
}

export interface OpenWorldOptions {
  readonly seed: number;
  /** World time at which it begins, or goes on after a restart. A world on the wall's clock need not look. */
  readonly start: Ms;
  /** For learners; one set for all of them. */
  readonly kernels: Kernels;
  /** What a workload had when the plane was saved last; null where nobody knows. */
  had(workload: WorkloadId): Setting | null;
}

export interface OpenedWorld {
  readonly world: World;
  /** Made with `taskTarget`; the agent of a workload is called `<workload>-agent`. */
  readonly targets: readonly Target[];
  /** One for all: every agent has one turn in it. */
  readonly controlStep: Ms;
}
