/**
 * What is known of a function beside its readings: the records of it, and what a simulator fitted to them said.
 * Owns: the types. Not here: how it comes about (train.ts), what follows from it (advisor.ts).
 */
import type { FunctionRecords } from "./records.ts";

/** On the steps that it was not fitted to. */
export interface FitError {
  /** Median over steps of how far its 99th percentile is off, as a part; and of how far use of CPU and memory are, in parts of what is granted. */
  readonly latency: number;
  readonly cpu: number;
  readonly memory: number;
  /** Share of steps that miss the SLO: as recorded, and as it says. */
  readonly missed: number;
  readonly said: number;
}

/** What it would have earned and missed in the newest part of the records, by the fitted simulator; means over steps. */
export interface BootstrapEstimate {
  readonly reward: number;
  readonly missed: number;
  /** Of what was asked for, as the task counts it. */
  readonly cost: number;
}

export type BootstrapSeat = "candidate" | "policy" | "rules";

/** Plain data. */
export interface BootstrapAdvice {
  /** Seconds: the newest step that it rests on. */
  readonly at: number;
  /** Who is to act. `policy`: who acted before, as nothing better was found, or no simulator is believed. */
  readonly seat: BootstrapSeat;
  readonly error: FitError | null;
  readonly estimates: Readonly<Record<BootstrapSeat, BootstrapEstimate>> | null;
  /** The code of the failure that left no simulator. */
  readonly refused: string | null;
}

export interface Bootstrapped {
  readonly advice: BootstrapAdvice;
  /** The candidate, where it is to act. */
  readonly policy: Uint8Array | null;
}

/** Plain data: it is saved. */
export interface BootstrapMemory {
  readonly records: FunctionRecords;
  /** null until there was one. */
  readonly advice: BootstrapAdvice | null;
}
