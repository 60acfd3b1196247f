/** The order in which a recurrent kernel walks a sequence. */

export interface SequenceStep {
  readonly now: number;
  /** The step whose output is this one's state, or −1 for the initial state. */
  readonly before: number;
}

export function stepOrder(steps: number, reverse: number): SequenceStep[] {
  return Array.from({ length: steps }, (_, i) =>
    reverse ? { now: steps - 1 - i, before: i === 0 ? -1 : steps - i } : { now: i, before: i - 1 },
  );
}
