/**
 * A policy that was learned elsewhere and stays as it is: it acts as it was trained, by drawing from its own chances, and learns
 * nothing from what comes of it. For policies of on-policy learners in a seat where others act now and then: what a fallback did
 * would teach them something that is not so.
 * Owns: the Learner contract over another learner. Not here: learning (the algorithms).
 */
import type { Result, Rng } from "../../base/index.ts";
import { seededRng } from "../../base/index.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition } from "./learner.ts";
import { checkTransition } from "./learner.ts";

export class Frozen implements Learner {
  readonly learnsFrom = "nothing";
  readonly #policy: Learner;
  readonly #explorer: { readonly rng: Rng };
  #steps = 0;

  constructor(policy: Learner, { seed }: { readonly seed: number }) {
    this.#policy = policy;
    this.#explorer = { rng: seededRng(seed).fork("frozen policy") };
  }

  /** As it is saved: whoever opens the bytes has the policy itself. */
  get kind(): string {
    return this.#policy.kind;
  }

  get shape(): LearnerShape {
    return this.#policy.shape;
  }

  get steps(): number {
    return this.#steps;
  }

  act(obs: ArrayLike<number>, { actorContext }: ActOptions): Result<Decision> {
    const explorer = this.#explorer;
    return this.#policy.act(obs, { explore: true, explorer, ...(actorContext ? { actorContext } : {}) });
  }

  observe(transition: Transition): Result<void> {
    const checked = checkTransition(this.shape, transition);
    if (checked.ok) this.#steps += 1;
    return checked;
  }

  update(): undefined {
    return undefined;
  }

  setProgress(): void {
    // Nothing changes as training goes on.
  }

  save(options?: SaveOptions): Uint8Array {
    return this.#policy.save(options);
  }

  load(bytes: Uint8Array): Result<void> {
    return this.#policy.load(bytes);
  }

  dispose(): void {
    this.#policy.dispose();
  }
}
