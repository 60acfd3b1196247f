/** What the thread that teaches says to the one that starts it: plain data. */
import type { Failure } from "../../../base/index.ts";

export interface SchoolSettings {
  /** The application that lessons are about. */
  readonly application: string;
  readonly seed: number;
  /** Where the time of its lessons begins; before all that is seen afterwards. */
  readonly start: number;
  /** Whether somebody is to act, too; else only the localizer learns. */
  readonly wantsAgent: boolean;
}

export type FromSchool =
  /** A localizer as `encodeLocalizer` has it. */
  | { readonly kind: "localizer"; readonly bytes: Uint8Array }
  /** Policies as `openMitigationAgent` takes them. */
  | { readonly kind: "agent"; readonly checkpoints: Readonly<Record<string, Uint8Array>> }
  | { readonly kind: "failed"; readonly failure: Failure };
