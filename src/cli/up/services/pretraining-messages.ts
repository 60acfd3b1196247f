/** What the pre-training thread says to the one that starts it: plain data. */
import type { Failure } from "../../../base/index.ts";

export interface PretrainingSettings {
  /** The application that it is trained on. */
  readonly application: string;
  readonly seed: number;
  /** Where the time of its world begins; before all that is seen afterwards. */
  readonly start: number;
  /** Whether somebody is to act, too; else only the localizer learns. */
  readonly wantsPolicy: boolean;
}

export type FromPretraining =
  /** A localizer as `encodeLocalizer` has it. */
  | { readonly kind: "localizer"; readonly bytes: Uint8Array }
  /** A checkpoint that `mitigationLearner` begins with. */
  | { readonly kind: "policy"; readonly policy: Uint8Array }
  | { readonly kind: "failed"; readonly failure: Failure };
