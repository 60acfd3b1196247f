/**
 * Choices that may not be made now, as the last numbers of an observation say: one for each choice, 1 or 0.
 * Owns: ruling them out of a policy's logits. A logit of −∞ has no probability and takes no gradient (tensor's categorical
 * head), so a mask that an observation was acted on with is applied again when it is learned from.
 */
import { CodedError, type Failure, failure } from "../../base/index.ts";
import type { Ptr } from "../tensor/index.ts";
import type { LearnerShape } from "./learner.ts";

export interface MaskedRows {
  /** [rows, choices]. */
  readonly logits: Ptr;
  readonly choices: number;
  /** [rows, width], as they were seen: a normaliser would move what they say. */
  readonly obs: ArrayLike<number>;
  readonly width: number;
  readonly rows: number;
}

/** How many choices are left in the row that has the fewest. */
export function maskLogits(f32: Float32Array, { logits, choices, obs, width, rows }: MaskedRows): number {
  let fewest = choices;
  for (let row = 0; row < rows; row++) {
    const mask = (row + 1) * width - choices;
    const at = (logits >> 2) + row * choices;
    let left = 0;
    for (let k = 0; k < choices; k++) {
      if (obs[mask + k]! > 0.5) left++;
      else f32[at + k] = Number.NEGATIVE_INFINITY;
    }
    fewest = Math.min(fewest, left);
  }
  return fewest;
}

export function checkMasked({ action, obs }: LearnerShape): void {
  if (action.kind === "discrete" && obs >= action.n) return;
  throw new CodedError(
    failure("rl.shape", "maskedChoices needs one choice, and observations that end with a number for each option"),
  );
}

export const noChoice = (): Failure =>
  failure("rl.no-choice", "the observation rules out every choice; let the fallback act and check what makes the mask");
