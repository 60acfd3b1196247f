/**
 * Who may be to blame: the shapes that the localizer and those who act on it share.
 * Owns: a suspect, a label to learn from, a promise of milliseconds and what became of it.
 * Not here: how suspects are found (localizer.ts).
 */
import type { Ms, Ratio, Resource } from "../../base/index.ts";

/** An instance that may be why a type of request is slow (Algorithm 3.2). */
export interface Suspect {
  readonly instance: string;
  readonly service: string;
  /** The type of request it harms most: the name that telemetry has for it, else the root's `service/operation`. */
  readonly request: string;
  /** Nobody waited for it in these requests; it may still take from those that somebody waits for. */
  readonly isBackground: boolean;
  /** What it most likely lacks. */
  readonly resource: Resource;
  /** From 0 to 1. Of a trained localizer: how often one with such features was the culprit. Else only an order. */
  readonly score: Ratio;
  /** At or above the localizer's threshold. */
  readonly isCulprit: boolean;
  /** Pearson's correlation of its time on the critical path with the path's whole time. */
  readonly relativeImportance: number;
  /** Its 99th percentile over its median. */
  readonly congestionIntensity: number;
  /** Mean time per request of that type that it takes beyond its normal; 0 where nothing is known of its past. */
  readonly expectedSaving: Ms;
  /** One sentence for people. */
  readonly reason: string;
}

/** Ground truth on the present window. */
export interface LocalizerLabel {
  /** Instances that are to blame; every other one seen in the window is not. */
  readonly culprits: readonly string[];
}

/** What became of an expected saving. */
export interface SavingCheck {
  readonly instance: string;
  readonly request: string;
  readonly promisedAt: Ms;
  readonly checkedAt: Ms;
  readonly expected: Ms;
  /** Mean time of such a request when it was promised, less the mean of a whole window after. */
  readonly measured: Ms;
  /** Measured less expected: below 0 where less came of it. */
  readonly error: Ms;
}
