/**
 * The shape of a study: one experiment of a paper, cut into jobs that need nothing from one another.
 * Owns: the types that studies, the runner and the reports share.
 * Not here: what a row is (contract/study.ts), how it is judged (claim.ts); running jobs, keeping their results, printing (cli/studies); the statistics (statistics/).
 */

import type { Figure } from "../adapters/plot/index.ts";
import type {
  MeasuredInterval as Estimate,
  PublishedRange as PaperFigure,
  StudyResult,
  StudyResultRow as StudyRow,
} from "../contract/index.ts";
import type { Kernels } from "../learn/tensor/index.ts";
import type { SharedTraining } from "../pretraining/index.ts";

export type { Estimate, PaperFigure, StudyRow };

/** What stands behind the numbers, on the ladder of worlds; "none" is a classic control problem. */
export type World = "none" | "fluid" | "event" | "live" | "kubernetes" | "recorded";

export interface StudyJob<C = unknown> {
  readonly seed: number;
  /** One of the study's units: what is run under this seed. */
  readonly unit: string;
  readonly config: C;
  /** A fresh instance of its own; nobody else computes on its memory. */
  readonly kernels: Kernels;
  /** The bytes of one of the study's models. */
  model(name: string): Uint8Array;
  /** How much of the job is done, 0 to 1; call it as often as convenient. */
  progress(fraction: number): void;
  /** Aborted when the run stops; a long job looks at it between steps. */
  readonly signal: AbortSignal;
}

export interface UnitResult<R = unknown> {
  readonly seed: number;
  readonly unit: string;
  readonly result: R;
}

/**
 * `R` and `C` travel between threads and onto the disk, so both are plain JSON: no typed arrays, no undefined,
 * no NaN. A unit's result depends on its seed, its config and nothing else.
 */
export interface Study<R = unknown, C = unknown> {
  readonly id: string;
  readonly title: string;
  /** One or two sentences: what is measured and against what. */
  readonly about: string;
  readonly world: World;
  /**
   * How many seeds a run takes, and the first of them (1 where absent). A study whose settings were chosen, or failed,
   * on some seeds starts behind those, so that its default run is on seeds that nothing was chosen on.
   */
  readonly seeds: { readonly quick: number; readonly full: number; readonly first?: number };
  /** Everything that shapes the outcome, recorded with it. */
  config(options: { readonly quick: boolean }): C;
  /** Pre-trained models that jobs begin with, by name; part of the config, so that results depend on nothing else. */
  models?(config: C): Readonly<Record<string, SharedTraining>>;
  /** Independent jobs per seed, such as one per algorithm. */
  units(config: C): readonly string[];
  runUnit(job: StudyJob<C>): R | Promise<R>;
  rows(results: readonly UnitResult<R>[], config: C): readonly StudyRow[];
  figures(results: readonly UnitResult<R>[], config: C): readonly Figure[];
}

/** The outcome of a whole study, as `--json` prints it and `docs/results` keeps it. */
export interface StudyReport extends StudyResult {
  readonly world: World;
  readonly config: unknown;
  readonly commit: string;
  readonly node: string;
  readonly cpu: string;
  readonly kernels: string;
}
