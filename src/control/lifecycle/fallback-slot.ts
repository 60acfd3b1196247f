/**
 * The fallback of an agent, asked in every tick, whoever acts: it is never cold when it has to take over.
 * Owns: its state, and what there would be by now if it had been alone.
 * Not here: its rules (control/fallbacks), what it would have read then (the task's `alone`), when it acts (health.ts).
 */
import type { Setting } from "../../act/index.ts";
import type { Ms } from "../../base/index.ts";
import type { AsIfAlone, Fallback, FallbackWish, TaskReading } from "../index.ts";

/** Plain data: it is saved with the agent. */
export interface FallbackSave<S extends Setting = Setting> {
  readonly name: string;
  readonly state: unknown;
  /** null before it was first asked. */
  readonly alone: S | null;
}

interface Asked<R, S> {
  readonly reading: R;
  /** null where nobody knows: then it looks, and nothing follows from it. */
  readonly have: S | null;
  readonly now: Ms;
  /** What is there may be the learner's. */
  readonly isTakeover: boolean;
  readonly asIf: AsIfAlone<R, S & Setting> | undefined;
}

export interface Answer<S extends Setting> {
  readonly fallback: FallbackWish<S>;
  /** What there would be if it had been alone, with its newest wish. */
  readonly alone: S;
}

export class FallbackSlot<R extends TaskReading, S extends Setting, F> {
  readonly #fallback: Fallback<F, R, S>;
  #state: F;
  #alone: S | null = null;

  constructor(fallback: Fallback<F, R, S>) {
    this.#fallback = fallback;
    this.#state = fallback.start();
  }

  get name(): string {
    return this.#fallback.name;
  }

  ask({ reading, have, now, isTakeover, asIf }: Asked<R, S>): Answer<S> | undefined {
    const imagined = isTakeover ? this.#alone : null;
    const shown = imagined && asIf ? asIf.reading(imagined, reading) : reading;
    const fallback = this.#fallback.step(this.#state, shown, now);
    this.#state = fallback.state;
    if (!have) return undefined;
    const before = imagined ?? (asIf ? asIf.found(reading, have) : have);
    const alone = asIf ? asIf.after(before, fallback) : { ...before, ...fallback.want };
    this.#alone = alone;
    return { fallback, alone };
  }

  save(): FallbackSave<S> {
    return { name: this.#fallback.name, state: this.#state, alone: this.#alone };
  }

  /** What `save` of a fallback of this name gave. */
  restore({ state, alone }: FallbackSave<S>): void {
    this.#state = state as F;
    this.#alone = alone;
  }
}
