/**
 * A wish on its way through the guard's rules, with every correction written down.
 * Owns: the values as they are so far, the followers that are left, the record of changes. Not here: the rules (guard.ts,
 * constraints/).
 */
import type { Setting } from "./knob.ts";

/** One rule's correction of one value: from what it was (the wish, or what an earlier rule left of it). */
export interface GuardChange {
  readonly knob: string;
  readonly from: number;
  readonly to: number;
  readonly rule: string;
}

export class Draft {
  readonly setting: Record<string, number> = {};
  readonly changed: GuardChange[] = [];
  followers: readonly string[] | undefined;
  heldBack: readonly string[] = [];

  constructor(have: Setting, want: Partial<Setting>, followers: readonly string[] | undefined) {
    // A name twice is one member.
    this.followers = followers === undefined || followers.length < 2 ? followers : [...new Set(followers)];
    // Adding zero turns -0, which a network may well say, into 0.
    for (const name in have) this.setting[name] = (want[name] ?? (have[name] as number)) + 0;
  }

  get(knob: string): number {
    return this.setting[knob] as number;
  }

  /** Answers what it is from now on. */
  set(knob: string, to: number, rule: string): number {
    const from = this.setting[knob] as number;
    if (to === from) return from;
    this.setting[knob] = to;
    this.changed.push({ knob, from, to, rule });
    return to;
  }

  /** Only so many of the followers go on, the most urgent ones. */
  holdBack(keep: number): void {
    if (this.followers === undefined || this.followers.length <= keep) return;
    this.heldBack = [...this.followers.slice(keep), ...this.heldBack];
    this.followers = this.followers.slice(0, keep);
  }

  /** Whether one of these values is another than what is there. */
  differs(have: Setting, knobs: readonly string[]): boolean {
    for (const knob of knobs) if (this.setting[knob] !== have[knob]) return true;
    return false;
  }
}
