/**
 * A policy that always says the same: the yardstick of every learner, and the seat's holder where a task's own model decides
 * and nothing has been found that does better around it.
 * Owns: the Learner contract over one action. It learns nothing and says so.
 */
import type { Result } from "../../base/index.ts";
import { CodedError, failure, ok } from "../../base/index.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition } from "./learner.ts";
import { actionSize, checkInputs, checkTransition } from "./learner.ts";
import type { StateHeader } from "./saved-state.ts";
import { loadState, numbersPart, saveState } from "./saved-state.ts";

export interface ConstantConfig {
  /** One number per component of an action. */
  readonly action: readonly number[];
}

export class Constant implements Learner {
  readonly kind = "constant";
  readonly learnsFrom = "nothing";
  readonly shape: LearnerShape;
  readonly config: ConstantConfig;
  #steps = 0;

  constructor({ shape, config }: { readonly shape: LearnerShape; readonly config: ConstantConfig }) {
    const size = actionSize(shape.action);
    if (config.action.length !== size || !config.action.every(Number.isFinite))
      throw new CodedError(
        failure(
          "rl.shape",
          `a constant action needs ${size} finite numbers and was given [${config.action.join(", ")}]`,
        ),
      );
    this.shape = shape;
    this.config = config;
  }

  get steps(): number {
    return this.#steps;
  }

  act(obs: ArrayLike<number>, { actorContext }: ActOptions): Result<Decision> {
    const checked = checkInputs(this.shape, obs, actorContext);
    return checked.ok ? ok({ action: Float32Array.from(this.config.action), logProb: 0 }) : checked;
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

  save(_options?: SaveOptions): Uint8Array {
    return saveState(this.#header(), [this.#count()], { resumable: false });
  }

  load(bytes: Uint8Array): Result<void> {
    return loadState(bytes, this.#header(), [this.#count()]);
  }

  dispose(): void {
    // Holds no network.
  }

  #header(): StateHeader {
    const { kind, shape, config } = this;
    return { kind, meta: { shape, hidden: [], config } };
  }

  #count() {
    return numbersPart("steps", {
      read: () => Float64Array.of(this.#steps),
      write: (values) => {
        this.#steps = values[0] ?? 0;
      },
    });
  }
}
