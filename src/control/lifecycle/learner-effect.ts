/**
 * What a learner leaves behind when it has acted, and for how long.
 * Owns: counters in steps. Not here: what follows (agent.ts): the fallback sets members that are not its own, and a missed
 * step is laid to whoever gave too little.
 */
import type { Actor } from "../../base/index.ts";
import type { Shortfall } from "../index.ts";

/** Two minutes at a pace of 15 s: time for the guard's largest steps. */
const TAKEOVER_STEPS = 8;
/** For how long too little is felt: a backlog has to be worked off, and the window of the objective has to pass. */
const EFFECT_STEPS = 12;

/** Plain data: it is saved with the agent. Steps since, each no further than its effect lasts. */
export interface LearnerEffectState {
  readonly learner: number;
  readonly felt: number;
  readonly latent: number;
  /** Since a latent shortfall did harm that the fallback would not have done. */
  readonly harm: number;
}

const OVER = EFFECT_STEPS + 1;

export class LearnerEffect {
  #since: LearnerEffectState = { learner: TAKEOVER_STEPS, felt: OVER, latent: OVER, harm: OVER };

  /** The members that are there may still be the learner's: the fallback has to set all of them. */
  get isTakeover(): boolean {
    return this.#since.learner < TAKEOVER_STEPS;
  }

  /** The learner gave less than the fallback would, so lately that what goes wrong now may come of it. */
  get isFelt(): boolean {
    return this.#since.felt <= EFFECT_STEPS || this.#since.harm <= EFFECT_STEPS;
  }

  /** After a step of somebody's; `isHarmed`: what a latent shortfall brings about was seen in it. */
  after(who: Actor, { less, isHarmed }: { readonly less: Shortfall; readonly isHarmed: boolean }): void {
    const { learner, felt, latent, harm } = this.#since;
    const isOwn = who === "learner";
    const since = (isNow: boolean, before: number) => (isNow ? 0 : Math.min(before + 1, OVER));
    const latentNow = since(isOwn && less.latent, latent);
    this.#since = {
      // Where nobody acts, nothing changes.
      learner: isOwn ? 0 : who === "fallback" ? Math.min(learner + 1, TAKEOVER_STEPS) : learner,
      felt: since(isOwn && less.felt, felt),
      latent: latentNow,
      harm: since(isHarmed && latentNow <= EFFECT_STEPS, harm),
    };
  }

  state(): LearnerEffectState {
    return this.#since;
  }

  restore(state: LearnerEffectState): void {
    this.#since = state;
  }
}
