/**
 * What a learner leaves behind when it has acted, and for how long.
 * Owns: counters in steps. Not here: what follows (agent.ts): the fallback sizes pods that are not its own, and a
 * violation is laid to whoever gave too little.
 */

/** Two minutes at the usual pace: time for the guard's largest steps. */
const TAKEOVER_STEPS = 8;
/** For how long too little is felt: a backlog has to be worked off, and the SLO's window has to pass. */
const EFFECT_STEPS = 12;

/** What a plan gives less of than the fallback would. */
export interface Less {
  readonly cpu: boolean;
  readonly memory: boolean;
}

/** Plain data: it is saved with the agent. Steps since, each no further than its effect lasts. */
export interface FootprintState {
  readonly learner: number;
  readonly lessCpu: number;
  readonly lessMemory: number;
  /** Since a pod was killed for memory that the fallback would have given. */
  readonly kill: number;
}

const OVER = EFFECT_STEPS + 1;

export class Footprint {
  #since: FootprintState = { learner: TAKEOVER_STEPS, lessCpu: OVER, lessMemory: OVER, kill: OVER };

  /** The pods that are there may still be the learner's: the fallback has to size all of them. */
  get isTakeover(): boolean {
    return this.#since.learner < TAKEOVER_STEPS;
  }

  /**
   * The learner gave less than the fallback would, so lately that what goes wrong now may come of it. Less memory does
   * nothing until a pod is killed for it.
   */
  get isFelt(): boolean {
    return this.#since.lessCpu <= EFFECT_STEPS || this.#since.kill <= EFFECT_STEPS;
  }

  /** After a step of somebody's, in which so many pods were found killed for want of memory. */
  after(
    who: "learner" | "fallback" | "nobody",
    { less, kills }: { readonly less: Less; readonly kills: number },
  ): void {
    const { learner, lessCpu, lessMemory, kill } = this.#since;
    const isOwn = who === "learner";
    const since = (isNow: boolean, before: number) => (isNow ? 0 : Math.min(before + 1, OVER));
    const memory = since(isOwn && less.memory, lessMemory);
    this.#since = {
      // Where nobody acts, nothing changes.
      learner: isOwn ? 0 : who === "fallback" ? Math.min(learner + 1, TAKEOVER_STEPS) : learner,
      lessCpu: since(isOwn && less.cpu, lessCpu),
      lessMemory: memory,
      kill: since(kills > 0 && memory <= EFFECT_STEPS, kill),
    };
  }

  state(): FootprintState {
    return this.#since;
  }

  restore(state: FootprintState): void {
    this.#since = state;
  }
}
