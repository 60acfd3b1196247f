/**
 * The control loop's own condition. For its operators: it is in /metrics, no route shows it as a document.
 * Owns: shapes only. Not here: measuring (adapters/observability).
 */

/** The control loop's own condition: sums since it started, and what is waiting now. For its operators; no route shows it. */
export interface LoopDocument {
  readonly turns: number;
  /** Turns that were due while an earlier one was not over, or while the process slept. */
  readonly skipped: number;
  readonly crashes: number;
  /** Calls to ports that were given up and have not returned. */
  readonly abandoned: number;
  readonly ports: {
    /** How often a port began to fail, or failed differently. */
    readonly failures: { readonly [port: string]: number };
    /** Agents for which it is failing now. */
    readonly failing: { readonly [port: string]: number };
  };
  readonly recorder: {
    readonly durable: number;
    readonly lost: number;
    readonly refused: number;
    readonly waiting: number;
    readonly reopened: number;
  };
  readonly events: {
    readonly delivered: number;
    readonly dropped: number;
    readonly lost: number;
    readonly waiting: number;
  };
  readonly training: {
    readonly underWay: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly turnedAway: number;
  } | null;
  /** Wall time of the decisions alone, and of whole turns. */
  readonly ticks: TimingsDocument;
  readonly wholeTurns: TimingsDocument;
  /** By how many seconds the loop's thread was late since the last of these, at worst. */
  readonly lag: number;
}

/** How many took at most so many seconds: one count per bound, each for itself, and one more for what took longer. */
export interface TimingsDocument {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}
