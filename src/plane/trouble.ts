/**
 * Which workload is in trouble, since when, and why as far as the measurements say.
 * Owns: when missed steps are trouble and when they are over, and what is said about it.
 * Not here: the measurements, how a shortfall is said (contract/slo.ts), and the words for what is short (control's
 * TaskView, a task's own).
 */
import type { Setting } from "../act/index.ts";
import { type Actor, type SloDocument, sloShortfall, type Trouble } from "../contract/index.ts";
import type { AnyTaskView, Measured } from "../control/index.ts";

export interface TroubleView {
  readonly at: number;
  readonly measured: Measured;
  readonly have: Setting;
  readonly slo: SloDocument;
  readonly acting: Actor;
  /** In words: faults that were injected, a release that needs more. */
  readonly causes: readonly string[];
}

export interface TroubleWatchOptions {
  /** It is in trouble since then; null: it is not. */
  readonly since?: number | null;
  readonly view: Pick<AnyTaskView, "symptom" | "changes" | "standing" | "judgedBy">;
  /** Who acts where the learner does not, for people. */
  readonly fallback: string;
}

/** Steps that are looked back on, how many of them missed are trouble, and how few are its end. */
const LOOK_BACK = 12;
const MANY = 6;
const FEW = 1;

export class TroubleWatch {
  #missed: boolean[] = [];
  #since: number | null;
  #firstMiss = 0;
  /** What it had when it first missed; unknown after a restart. */
  #had: Setting | undefined;
  #harmed: number[] = [];
  readonly #options: TroubleWatchOptions;

  constructor(options: TroubleWatchOptions) {
    this.#since = options.since ?? null;
    this.#options = options;
  }

  get since(): number | null {
    return this.#since;
  }

  /** It went, and with it whatever was wrong: nobody waits for it any more. */
  forget(): void {
    this.#missed = [];
    this.#harmed = [];
    this.#since = null;
    this.#had = undefined;
  }

  see(view: TroubleView): Trouble | null {
    const { at, measured, have } = view;
    const isMissed = measured.preservation !== null && measured.preservation < 1;
    if (isMissed && !this.#missed.includes(true) && this.#since === null) {
      this.#firstMiss = at;
      this.#had = have;
    }
    this.#missed = [...this.#missed, isMissed].slice(-LOOK_BACK);
    this.#harmed = [...this.#harmed, measured.harmed].slice(-LOOK_BACK);
    const count = this.#missed.filter(Boolean).length;
    if (this.#since === null && count >= MANY) this.#since = this.#firstMiss;
    if (this.#since !== null && count <= FEW && this.#missed.length === LOOK_BACK) this.#since = null;
    if (this.#since === null) return null;
    const harmed = this.#harmed.reduce((sum, times) => sum + times, 0);
    this.#had ??= have;
    const found = { since: this.#since, had: this.#had, harmed, count, of: this.#missed.length };
    const objective = objectiveOf(this.#options.view);
    return { since: this.#since, what: missed(view, found, objective), why: whyOf(view, found, this.#options) };
  }
}

interface Found {
  readonly since: number;
  readonly had: Setting;
  readonly harmed: number;
  /** Steps that missed it, of those that are looked back on. */
  readonly count: number;
  readonly of: number;
}

/** What is to be kept, as part of a sentence. */
export const objectiveOf = ({ judgedBy }: Pick<AnyTaskView, "judgedBy">): string => judgedBy ?? "its SLO";

function whyOf(view: TroubleView, found: Found, options: TroubleWatchOptions): string {
  const { measured, have, causes } = view;
  const symptom = options.view.symptom({ measured, have, harmed: found.harmed, isExplained: causes.length > 0 });
  return [...causes, symptom, done(view, found.had, options)].join("; ");
}

/** In words that hold for the newest step too, which may have kept the promise that others missed. */
function missed({ at, measured, slo }: TroubleView, { since, count, of }: Found, objective: string): string {
  const { preservation } = measured;
  const begun = `since ${clock(since, at)}`;
  if (preservation !== null && preservation < 1)
    return `Misses ${objective} ${begun} (${sloShortfall(slo, { latency: measured.latency, preservation })})`;
  const newest = preservation === null ? "the newest could not be measured" : "the newest kept it";
  return `Misses ${objective} ${begun}, in ${count} of the last ${of} steps (${newest})`;
}

const DAY = 86_400_000;

/** Of the cluster's time, as the dashboard shows it; with the day where it is another one. */
function clock(since: number, now: number): string {
  const text = new Date(since).toISOString();
  return now - since < DAY ? text.slice(11, 16) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

/** What was done about it since it began. */
function done({ acting, have }: TroubleView, had: Setting, { view, fallback }: TroubleWatchOptions): string {
  if (acting === "nobody") return "nobody acts";
  const gave = view.changes(had, have);
  const who = acting === "learner" ? "the agent" : fallback;
  if (gave.length > 0) return `${who} gave ${list(gave)}`;
  // In the past tense, which fits a fallback that is one and one that is two.
  return `${who} kept ${view.standing(have)}`;
}

const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
