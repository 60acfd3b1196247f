/**
 * What a learner leaves behind when it has acted, and for how long.
 * Owns: two counters in steps. Not here: what follows (agent.ts): the fallback sizes pods that are not its own, and a
 * violation is laid to whoever gave too little.
 */

/** Two minutes at the usual pace: time for the guard's largest steps. */
const TAKEOVER_STEPS = 8;
/** For how long too little is felt: a backlog has to be worked off, and the SLO's window has to pass. */
const EFFECT_STEPS = 12;

export class Footprint {
  #takeover = 0;
  #sinceLess = EFFECT_STEPS + 1;

  /** The pods that the fallback finds are still the learner's: it has to size all of them. */
  get isTakeover(): boolean {
    return this.#takeover > 0;
  }

  /** The learner gave less than the fallback would, so lately that what goes wrong now may come of it. */
  get gaveLess(): boolean {
    return this.#sinceLess <= EFFECT_STEPS;
  }

  after(who: "learner" | "fallback" | "nobody", { isLess }: { readonly isLess: boolean }): void {
    this.#sinceLess = who === "learner" && isLess ? 0 : this.#sinceLess + 1;
    if (who === "learner") this.#takeover = TAKEOVER_STEPS;
    else if (who === "fallback") this.#takeover = Math.max(0, this.#takeover - 1);
  }
}
