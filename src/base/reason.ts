/** Why something was decided, as data: whoever shows it finds the words, and nobody takes words apart again. */
export interface Reason {
  /** Who says so: "lifecycle", "canary", "shield", "guard", "domain-match", or the name of a fallback. */
  readonly by: string;
  readonly rule: string;
  /** What it is about, where it is about one knob. */
  readonly knob?: string;
}
