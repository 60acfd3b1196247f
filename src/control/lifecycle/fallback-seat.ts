/**
 * The fallback of an agent, asked in every tick, whoever acts: it is never cold when it has to take over.
 * Owns: its state, and what there would be by now if it had been alone.
 * Not here: its rules (control/fallbacks), what pods that are not there would read (as-if-alone.ts), when it acts (health.ts).
 */
import type { Allocation } from "../../act/index.ts";
import type { Ms } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Fallback, FallbackStart, FallbackStep } from "../fallbacks/index.ts";
import { aloneAfter, readingAsIf, sizesThereAre } from "./as-if-alone.ts";

/** Plain data: it is saved with the agent. */
export interface FallbackSave {
  readonly name: string;
  readonly state: unknown;
  /** null before it was first asked. */
  readonly alone: Allocation | null;
}

interface Asked {
  readonly reading: WorkloadReading;
  /** null where nobody knows: then it looks, and nothing follows from it. */
  readonly have: Allocation | null;
  readonly now: Ms;
  /** The pods that are there may be the learner's. */
  readonly isTakeover: boolean;
}

export interface Answer {
  readonly fallback: Pick<FallbackStep<unknown>, "want" | "pods">;
  /** What there would be if it had been alone, with its newest wish. */
  readonly alone: Allocation;
}

export class FallbackSeat<S> {
  readonly #fallback: Fallback<S>;
  #state: S;
  #alone: Allocation | null = null;

  constructor(fallback: Fallback<S>, start?: FallbackStart) {
    this.#fallback = fallback;
    this.#state = fallback.start(start);
  }

  get name(): string {
    return this.#fallback.name;
  }

  ask({ reading, have, now, isTakeover }: Asked): Answer | undefined {
    const imagined = isTakeover ? this.#alone : null;
    const fallback = this.#fallback.step(this.#state, imagined ? readingAsIf(imagined, reading) : reading, now);
    this.#state = fallback.state;
    if (!have) return undefined;
    const alone = aloneAfter(imagined ?? sizesThereAre(reading, have), fallback);
    this.#alone = alone;
    return { fallback, alone };
  }

  save(): FallbackSave {
    return { name: this.#fallback.name, state: this.#state, alone: this.#alone };
  }

  /** What `save` of a fallback of this name gave. */
  restore({ state, alone }: FallbackSave): void {
    this.#state = state as S;
    this.#alone = alone;
  }
}
