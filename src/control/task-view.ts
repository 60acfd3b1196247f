/**
 * What people are shown of a task: its knobs by name, what a step came to, and why an objective is missed.
 * Owns: the types. Not here: the tasks' own words (tasks/, one folder each), documents and sentences around them (plane).
 */
import type { Setting } from "../act/index.ts";
import type { Ms } from "../base/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";

export interface KnobTitle {
  readonly name: string;
  /** For people: "CPU". */
  readonly title: string;
  readonly unit: string;
}

/** One control step of one managed workload; null where nobody measured. */
export interface Measured {
  /** Requests per second. */
  readonly load: number | null;
  /** Milliseconds, at the SLO's quantile. */
  readonly latency: number | null;
  /** 1 is an SLO that was met. */
  readonly preservation: number | null;
  /** Members that can work. */
  readonly ready: number;
  /** By knob, in its unit, over all members. */
  readonly use: Readonly<Record<string, number | null>>;
  readonly reward: number | null;
  /** Dollars; 0 where nobody has a price list. */
  readonly cost: number;
  /** What adds up over steps, under the names that accounts have for it. */
  readonly sums: Readonly<Record<string, number>>;
  /** How often harm was done that the objective does not show, such as a member that was killed. */
  readonly harmed: number;
}

export interface MeasuredStep<S extends Setting = Setting> {
  readonly slo: Slo;
  readonly have: S;
  /** The step's length. */
  readonly passed: Ms;
}

export interface Symptom<S extends Setting = Setting> {
  readonly measured: Measured;
  readonly have: S;
  /** Lately, in all steps that are looked back on. */
  readonly harmed: number;
  /** Something is known to be the cause, so that nobody has to guess. */
  readonly isExplained: boolean;
}

export interface TaskView<R, S extends Setting = Setting> {
  /** What documents call the task: "pods". A model's name for it says more, and changes with its settings. */
  readonly name: string;
  /** What preservation is about where a workload has no SLO of its own: "the SLOs of requests through it". */
  readonly judgedBy?: string;
  /** In the order in which they are shown. */
  readonly knobs: readonly KnobTitle[];
  /** Names of what adds up over steps. */
  readonly sums: readonly string[];
  /** What the newest reading says of a step; null where there was none yet. */
  measure(reading: R | null, step: MeasuredStep<S>): Measured;
  /** Which of its knobs is short, as part of a sentence: "CPU is short, 95 % of it is used". */
  symptom(symptom: Symptom<S>): string;
  /** What one setting has more or less of than another, each for a person; empty where it is nothing notable. */
  changes(had: S, have: S): readonly string[];
  /** What there is, in short: "2 pods". */
  standing(have: S): string;
}

/** Views of tasks of any kind, for those who only hand readings and settings on. */
// biome-ignore lint/suspicious/noExplicitAny: a view is contravariant in what it reads, so nothing narrower takes all of them
export type AnyTaskView = TaskView<any, any>;
